/** The form of docs/quickstart.md, as it stands there. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Lab, type Member, startLab } from '../lab/service.ts';

const ROOT = join(import.meta.dirname, '../..');

let lab: Lab;
let test: Member;
let folder: string;
type Checked = { readonly email: string } | { readonly message: string };
let checked: (typed: unknown, clientIp?: string) => Promise<Checked>;
/** Null where there is an address to store. */
const problemWith = async (typed: unknown, clientIp?: string) => {
  const outcome = await checked(typed, clientIp);
  return 'message' in outcome ? outcome.message : null;
};
beforeAll(async () => {
  lab = await startLab();
  test = await lab.testMember(await lab.member());
  folder = await mkdtemp(join(tmpdir(), 'mailvet-sample-'));
  const page = readFileSync(join(ROOT, 'docs/quickstart.md'), 'utf8');
  // With the client's sources in place of the installed package.
  const sample = (/^```js \[TypeScript\]\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '')
    .replace("'@mailvet/client'", JSON.stringify(join(ROOT, 'sdk/src/index.ts')))
    .replace('process.env.MAILVET_TEST_KEY', JSON.stringify(test.key))
    .replace('http://127.0.0.1:8025', lab.url);
  await writeFile(join(folder, 'form.mjs'), sample);
  ({ checked } = await import(pathToFileURL(join(folder, 'form.mjs')).href));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await lab.close();
});

it('lets in who can be reached', async () => {
  expect(await checked(' Ada@ＥＸＡＭＰＬＥ.com\u200b', '203.0.113.7')).toEqual({ email: 'Ada@example.com' });
  expect(await problemWith('dns_failure@example.com')).toBe(null);
});

it.each([
  ['undeliverable@example.com', /cannot receive mail/],
  ['disposable_domain@example.com', /permanent/],
  ['invalid_format@example.com', /./],
])('rejects %s', async (email, message) => {
  expect(await problemWith(email)).toMatch(message);
});

it.each([
  [''],
  [' '],
  ['x'.repeat(2000)],
  ['x'.repeat(100_000)],
  [undefined],
  [['ada@example.com']],
])('rejects what is not an address (%#)', async (email) => expect(await problemWith(email)).toMatch(/./));

it.each([
  '203.0.113.7, 10.0.0.1',
  '203.0.113.7:4711',
  'unknown',
  '',
  'x'.repeat(9000),
])('still rejects where the client IP address is %j', async (clientIp) =>
  expect(await problemWith('undeliverable@example.com', clientIp)).toMatch(/./));

it('suggests once', async () => {
  expect(await problemWith('typo@example.com')).toMatch(/typo@gmail\.com/);
  expect(await problemWith('typo@example.com')).toMatch(/cannot receive mail/);
});

it('lets in while the service has no verdict', async () => {
  expect(await problemWith('insufficient_credits@example.com')).toBe(null);
});
