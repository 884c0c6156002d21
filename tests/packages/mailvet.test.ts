/** The package `mailvet` from its tarball, installed in an empty project: the command and the service. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshMachine, type Machine, requestOf } from '../debian/machine.ts';
import { tarball } from './packed.ts';

let machine: Machine;
let project: string;

beforeAll(async () => {
  machine = freshMachine();
  project = join(machine.dir, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true }));
  const install = await machine.run(project, 'npm', ['install', '--prefer-offline', tarball('mailvet')]);
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

  it('can hash passwords, which needs an addon', async () => {
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

  it('says what to do if the package with Node 24 is missing', async () => {
    const binary = join(project, `node_modules/node-linux-${process.arch}/bin/node`);
    renameSync(binary, `${binary}.away`);
    try {
      const bin = join(project, 'node_modules/mailvet/bin/mailvet.mjs');
      const run = await machine.run(project, machine.node, [bin, '--help']);
      const version = await machine.run(project, machine.node, ['--version']);
      // A machine with a newer Node does not need it.
      if (Number.parseInt(version.stdout.slice(1), 10) >= 24) expect(run.code).toBe(0);
      else expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining('npm install --include=optional') });
    } finally {
      renameSync(`${binary}.away`, binary);
    }
  });
});
