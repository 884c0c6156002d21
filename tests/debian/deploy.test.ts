/** The files under deploy/, by the programs that read them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { UNPACKED } from '../../scripts/debian-packages.mjs';
import { ROOT } from './machine.ts';

const DEPLOY = join(ROOT, 'deploy');
const dir = mkdtempSync(join(tmpdir(), 'mailvet-deploy-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function run(command: string, args: readonly string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, ...env } });
  return { status, output: `${stdout}${stderr}` };
}

const PAGE = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8').replaceAll(/\s+/g, ' ');
const exposureOf = (name: string) =>
  run('systemd-analyze', ['security', '--offline=true', '--threshold=20', join(DEPLOY, `systemd/${name}.service`)]);

describe('alerts', () => {
  const promtool = join(UNPACKED, 'prometheus/usr/bin/promtool');

  it('are valid', () => {
    const check = run(promtool, ['check', 'rules', join(DEPLOY, 'prometheus/alerts.yaml')]);
    expect(check, check.output).toMatchObject({ status: 0 });
  });

  it('are silent while all is well, and each fires when it should', () => {
    const test = run(promtool, ['test', 'rules', join(DEPLOY, 'prometheus/alerts.test.yaml')]);
    expect(test, test.output).toMatchObject({ status: 0 });
  });
});

it.each(['mailvet', 'mailvet-relay'])('the unit %s is valid and exposes little', (name) => {
  const security = exposureOf(name);
  expect(security, security.output).toMatchObject({ status: 0 });
});

it('docs/operating.md says how much the unit exposes', () => {
  const [, rated] = /systemd-analyze security mailvet` rates it (\d\.\d)/.exec(PAGE) ?? [];
  expect(exposureOf('mailvet').output).toContain(`exposure level for mailvet.service: ${rated} `);
});

it('Caddy accepts its file', () => {
  const file = join(DEPLOY, 'caddy/Caddyfile');
  const env = { MAILVET_SITE: 'verify.example.net', MAILVET_NODES: 'node-1:8025 node-2:8025', HOME: dir };
  const check = run(
    join(UNPACKED, 'caddy/usr/bin/caddy'),
    ['validate', '--config', file, '--adapter', 'caddyfile'],
    env,
  );
  expect(check, check.output).toMatchObject({ status: 0 });
  const adapted = run(
    join(UNPACKED, 'caddy/usr/bin/caddy'),
    ['adapt', '--config', file, '--adapter', 'caddyfile'],
    env,
  );
  for (const dial of ['node-1:8025', 'node-2:8025']) expect(adapted.output).toContain(`"dial":"${dial}"`);
});

/** The published validators of Kubernetes let unknown fields pass; the types do not. */
it('Kubernetes manifests have no unknown fields', () => {
  const documents = parseAllDocuments(readFileSync(join(DEPLOY, 'kubernetes/mailvet.yaml'), 'utf8'));
  const lines = documents.map((document, i) => {
    const { apiVersion, kind } = document.toJS();
    return `import type { I${kind} as T${i} } from 'kubernetes-models/${apiVersion}/${kind}';
      export const d${i}: T${i} = ${JSON.stringify(document.toJS())};`;
  });
  const compile = (source: string) => {
    const file = join(ROOT, `.cache/manifests-${process.pid}.ts`);
    writeFileSync(file, source);
    try {
      const options = [
        '--noEmit',
        '--strict',
        '--skipLibCheck',
        '--types',
        '',
        '--module',
        'nodenext',
        '--ignoreConfig',
      ];
      return run(join(ROOT, 'node_modules/.bin/tsc'), [...options, file]);
    } finally {
      rmSync(file);
    }
  };
  const good = compile(lines.join('\n'));
  expect(good, good.output).toMatchObject({ status: 0 });
  expect(compile(lines.join('\n').replace('"replicas"', '"replica"')).output).toContain('replica');
});
