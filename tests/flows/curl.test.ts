import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { curl } from '../../web/src/parts/curl.ts';

it.each([
  'ada@example.com',
  "o'hara@example.com",
  '"a b$(id)`id`"@example.com',
  'größe@exämple.de',
])('a shell passes %s unchanged', (email) => {
  const shell = `curl() { printf '%s\\n' "$@"; }\n${curl({ method: 'POST', url: 'https://verify.example.net/v1/verify', key: 'mv_live_x', body: { email } })}`;
  expect(execFileSync('/bin/sh', ['-c', shell], { encoding: 'utf8' }).trimEnd().split('\n')).toEqual([
    '-sS',
    'https://verify.example.net/v1/verify',
    '-H',
    'Authorization: Bearer mv_live_x',
    '-H',
    'Content-Type: application/json',
    '-d',
    JSON.stringify({ email }),
  ]);
});
