/** The samples of docs/auth-hooks.md against the service. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../../scripts/fresh.mjs';
import { HOOK_FACTS, HOOK_KINDS, type HookKind } from '../../src/kernel/facts/hooks.ts';
import { HOOKS_MAX } from '../../src/kernel/facts/limits.ts';
import { SAMPLE_BODIES, SIGNED } from '../lab/hook-callers.ts';
import { samplesOf } from '../lab/samples.ts';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';

const PAGE = 'docs/auth-hooks.md';
const run = promisify(execFile);
const samples = samplesOf(PAGE);
const BY = { kind: 'command', id: null, name: 'test', ip: null } as const;

let lab: Lab;
let member: Member;
let dir: string;
beforeAll(async () => {
  lab = await startLab({}, { net: { 'gmail.com': { MX: [[5, 'mx.good.com']] } } });
  member = await lab.member();
  dir = mkdtempSync(join(tmpdir(), 'mailvet-hooks-'));
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await lab.close();
});

async function hookOf(kind: HookKind, secret: string) {
  const settings = {
    name: kind,
    policy: 'signup',
    scope: null,
    timeoutMs: HOOK_FACTS[kind].timeoutMs,
    rateLimit: null,
  };
  const { id } = await lab.store.hooks.create(member.account.id, { ...settings, kind, secret }, BY);
  return { path: `/hooks/${id}/${kind}`, secret };
}

it.each([
  ['supabase', '{ "error"'],
  ['workos', '{\n  "object"'],
  ['kratos', '{\n  "messages"'],
  ['zitadel', '{ "forwarded'],
] as const)('%s is answered as the page shows', async (kind, start) => {
  const shown = JSON.parse(samples.find(({ code }) => code.startsWith(start))?.code ?? 'null');
  const { path, secret } = await hookOf(kind, `whsec_${'A'.repeat(43)}=`);
  const body = JSON.stringify(SAMPLE_BODIES[kind]('jane@mailinator.com'));
  const headers = SIGNED[kind]({ secret, body, id: 'msg_1', at: Date.now() });
  const { json } = await request(lab.url, 'POST', path, body, headers);
  // Time and signature are others.
  const comparable = kind === 'workos' ? { ...json, signature: shown.signature } : json;
  if (kind === 'workos') comparable.payload = { ...json.payload, timestamp: shown.payload.timestamp };
  expect(comparable).toEqual(shown);
});

it('a program of one’s own is answered', async () => {
  const sample = samples.find(({ language }) => language === 'js')?.code ?? '';
  const { path, secret } = await hookOf('generic', `whsec_${'B'.repeat(43)}=`);
  const library = import.meta.resolve('standardwebhooks');
  const code = sample.replace("'standardwebhooks'", JSON.stringify(library));
  const file = join(dir, 'sample.mjs');
  writeFileSync(file, `${code}\nconsole.log(JSON.stringify({ action, message }));`);
  const env = { ...process.env, MAILVET_HOOK_URL: lab.url + path, MAILVET_HOOK_SECRET: secret };
  const { stdout } = await run(process.execPath, [file], { cwd: ROOT, env });
  expect(JSON.parse(stdout)).toEqual({ action: 'accept', message: null });
});

it('the page has the kinds, names and limits that there are', () => {
  const page = readFileSync(join(ROOT, PAGE), 'utf8');
  for (const kind of HOOK_KINDS) {
    const { secretOf } = HOOK_FACTS[kind];
    expect(page).toMatch(
      new RegExp(`\\| \`${kind}\` \\|.*\\| ${secretOf === 'us' ? 'Mailvet' : HOOK_FACTS[kind].name} \\|`),
    );
  }
  expect(page).toContain(`An account can have ${HOOKS_MAX} hooks`);
});
