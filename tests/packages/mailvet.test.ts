/** The package `mailvet` from its tarball, installed as docs/install.md has it: the command and the service. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshMachine, type Machine, requestOf } from '../debian/machine.ts';
import { samplesOf } from '../lab/samples.ts';
import { tarball } from './packed.ts';

let machine: Machine;
let project: string;

function sample(start: string): string {
  const found = samplesOf('docs/install.md').find(({ code }) => code.startsWith(start));
  if (found === undefined) throw new Error(`docs/install.md has no sample that begins with ${start}`);
  return found.code;
}

beforeAll(async () => {
  machine = freshMachine();
  // Where the page's reader is after `npm pack`, which tests/packages/setup.ts has run.
  const clone = join(machine.dir, 'mailvet');
  mkdirSync(clone);
  copyFileSync(tarball('mailvet'), join(clone, basename(tarball('mailvet'))));
  project = join(machine.dir, 'service');
  const commands = sample('npm ci')
    .replace('npm ci && npm pack\n', '')
    .replace('mkdir ../service && ', '')
    .replace(/^node_modules.*$/m, '');
  // This machine has no mkdir.
  mkdirSync(project);
  const env = { npm_config_prefer_offline: 'true' };
  const install = await machine.run(clone, 'sh', ['-ec', commands], env);
  expect(install, install.stderr).toMatchObject({ code: 0 });
});
afterAll(() => machine.remove());

it.each([
  ['import', "await import('mailvet')"],
  ['require', "require('mailvet')"],
])('says where the library is, by %s', async (_, load) => {
  const run = await machine.run(project, machine.node, ['-e', `(async () => { ${load}; })()`]);
  expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining('The library is @mailvet/engine') });
});

describe('the command', () => {
  it('prints help', async () => {
    const run = await machine.run(project, 'npx', ['mailvet', '--help']);
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('serve') });
  });

  it('verifies an address', async () => {
    const run = await machine.run(project, 'npx', ['mailvet', 'verify', 'bad@@x', '--json']);
    expect(run).toMatchObject({ code: 0 });
    expect(JSON.parse(run.stdout)).toMatchObject({ status: 'bad', reason: 'invalid_format' });
  });

  it('starts the service, whose first verdict is that of the printed request', async () => {
    const data = join(machine.dir, 'first');
    mkdirSync(data);
    const env = { MAILVET_PORT: '0', MAILVET_DATABASE_URL: `sqlite:${join(data, 'first.db')}` };
    const up = machine.start(project, 'npx', ['mailvet', 'serve', '--first-account'], env);
    const [, curl] = await up.printed(/^(curl [\s\S]*?-d '[^']*')$/m, 60_000);
    const { url, init } = requestOf(curl!);
    expect(await (await fetch(url, init)).json()).toMatchObject({ status: 'good', deliverability: 'deliverable' });
    up.signal('SIGINT', 'group');
    await up.ended;
  });

  it('exits with 2 on a usage error, also through the older Node', async () => {
    const bin = join(project, 'node_modules/mailvet/bin/mailvet.mjs');
    expect(await machine.run(project, machine.node, [bin, 'verify', '--nonsense'])).toMatchObject({ code: 2 });
  });

  it('is one package beside Node, without native addons', () => {
    const names = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(names).toEqual(['mailvet', `node-linux-${process.arch}`]);
  });

  it('makes the first user, with an account, and their key', async () => {
    const serve = machine.start(project, 'sh', ['-c', 'exec node_modules/.bin/mailvet serve --port 0']);
    const [, listening] = await serve.printed(/^(\{.*"msg":"listening"\})$/m, 30_000);
    const { address } = JSON.parse(listening!);
    const [, hint] = await serve.printed(/^(\{.*"nobody can sign in yet.*)$/m, 30_000);
    const [user = '', key = ''] = sample('node_modules/.bin/mailvet user').trim().split('\n');
    expect(JSON.parse(hint!).command).toBe(user);
    const session = async () => (await fetch(`${address}/dashboard/session`)).json();
    expect(await session()).toMatchObject({ setup_command: user });
    const made = await machine.run(project, 'sh', ['-c', `${user} --json`]);
    const { account, role } = JSON.parse(made.stdout);
    expect([role, await session()]).toEqual(['owner', expect.objectContaining({ setup_command: null })]);
    const created = await machine.run(project, 'sh', ['-c', `${key.replace('acc_…', account)} --json`]);
    const headers = { authorization: `Bearer ${JSON.parse(created.stdout).key}` };
    expect(await (await fetch(`${address}/v1/usage`, { headers })).json()).toMatchObject({ plan: 'unlimited' });
    serve.signal('SIGTERM', 'group');
    await serve.ended;
  });

  it('can hash passwords', async () => {
    expect(await machine.run(project, 'npx', ['mailvet', 'migrate'])).toMatchObject({ code: 0 });
    const account = await machine.run(project, 'npx', ['mailvet', 'account', 'create', '--name', 'Shop', '--json']);
    const { id } = JSON.parse(account.stdout);
    const create = `echo 'correct horse battery' | npx mailvet user create --email jane@good.com --account ${id} --password-stdin`;
    expect(await machine.run(project, 'sh', ['-c', create])).toMatchObject({ code: 0 });
    const bin = join(project, 'node_modules/mailvet/bin/mailvet.mjs');
    const serve = machine.start(project, machine.node, [bin, 'serve', '--port', '0']);
    const [url] = await serve.printed(/http:\/\/127\.0\.0\.1:\d+/, 30_000);
    const body = JSON.stringify({ email: 'jane@good.com', password: 'correct horse battery' });
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${url}/dashboard/sign-in`, { method: 'POST', headers, body });
    expect([reply.status, await reply.json()]).toEqual([200, { second_factor: false }]);
    serve.signal('SIGTERM', 'process');
    expect(await serve.ended).toMatchObject({ code: 0 });
  });

  it('forwards SIGTERM to the service, and returns its exit code', async () => {
    const bin = join(project, 'node_modules/mailvet/bin/mailvet.mjs');
    const serve = machine.start(project, machine.node, [bin, 'serve', '--port', '0']);
    const [url] = await serve.printed(/http:\/\/127\.0\.0\.1:\d+/, 30_000);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const page = await fetch(`${url}/docs`);
    const script = /src="([^"]+\.js)"/.exec(await page.text())?.[1];
    expect((await fetch(new URL(script!, `${url}/docs`))).status).toBe(200);
    serve.signal('SIGTERM', 'process');
    expect(await serve.ended).toMatchObject({ code: 0 });
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it.each([
    ['is missing', () => undefined],
    ['is for another processor', ofAnotherProcessor],
  ])('says what to do if the package with Node 24 %s', async (_, replacement) => {
    const binary = join(project, `node_modules/node-linux-${process.arch}/bin/node`);
    renameSync(binary, `${binary}.away`);
    replacement(`${binary}.away`, binary);
    try {
      const bin = join(project, 'node_modules/mailvet/bin/mailvet.mjs');
      const run = await machine.run(project, machine.node, [bin, '--help']);
      const version = await machine.run(project, machine.node, ['--version']);
      // A machine with a newer Node does not need it.
      if (Number.parseInt(version.stdout.slice(1), 10) >= 24) expect(run.code).toBe(0);
      else expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining('npm install --include=optional') });
    } finally {
      rmSync(binary, { force: true });
      renameSync(`${binary}.away`, binary);
    }
  });
});

/** A program that the system refuses: its header names another processor (ELF, `e_machine`). */
function ofAnotherProcessor(from: string, to: string): void {
  const header = readFileSync(from).subarray(0, 4096);
  header.writeUInt16LE(process.arch === 'x64' ? 0xb7 : 0x3e, 18);
  writeFileSync(to, header, { mode: 0o755 });
}
