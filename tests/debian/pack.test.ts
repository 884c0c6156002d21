/**
 * The package from `npm pack`, installed in an empty project: the library from JavaScript and TypeScript, and the
 * command.
 */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DnsLab, zone } from '../lab/dns.ts';
import { cloneTo, freshMachine, type Machine, ROOT } from './machine.ts';

/** Runs in the consumer's project. */
const EXPECT_ERROR = ['@ts', 'expect', 'error'].join('-');

let machine: Machine;
let dns: DnsLab;
let project: string;

beforeAll(async () => {
  machine = freshMachine();
  dns = await zone({ 'good.com': { MX: [[5, 'mx.good.com']] }, 'mx.good.com': { A: ['142.250.102.27'] } });
  const clone = join(machine.dir, 'clone');
  cloneTo(clone);
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  project = join(machine.dir, 'project');
  mkdirSync(project);
  // For npm versions that ask before running install scripts.
  const consumer = { name: 'consumer', private: true, allowScripts: { node: true } };
  writeFileSync(join(project, 'package.json'), JSON.stringify(consumer));
  const pack = await machine.run(clone, 'npm', ['pack', '--pack-destination', machine.dir]);
  expect(pack, pack.stderr).toMatchObject({ code: 0 });
  const tarball = join(machine.dir, pack.stdout.trim().split('\n').at(-1)!);
  const install = await machine.run(project, 'npm', ['install', '--prefer-offline', tarball]);
  expect(install, install.stderr).toMatchObject({ code: 0 });
});
afterAll(async () => {
  machine.remove();
  await dns.close();
});

describe('the library', () => {
  const program = (load: string) => `${load}
    const verifier = createVerifier({ dnsServers: ['${dns.address}:${dns.port}'], dnsControlNames: [] });
    Promise.all(['bad@@x', 'jane@good.com', 'jane@mailinator.com'].map((email) => verifier.verify(email))).then((results) => {
      console.log(JSON.stringify(results.map(({ status, reason }) => [status, reason])));
      verifier.close();
    });`;
  const verdicts = [
    ['bad', 'invalid_format'],
    ['good', null],
    ['bad', 'disposable_domain'],
  ];

  it.each([
    ['import', 'a.mjs', "import { createVerifier } from 'mailvet';"],
    ['require', 'a.cjs', "const { createVerifier } = require('mailvet');"],
  ])('works from JavaScript by %s', async (_, file, load) => {
    writeFileSync(join(project, file), program(load));
    const run = await machine.run(project, machine.node, [file]);
    expect(run, run.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(run.stdout)).toEqual(verdicts);
  });

  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('has types for module %s, resolution %s, with library checks on', async (module, moduleResolution) => {
    const source = `
      import { createVerifier, type Report } from 'mailvet';
      const verifier = createVerifier({ dnsTimeoutMs: 500 });
      const report: Report = await verifier.verify('jane@example.com', { level: 'mx', timeoutMs: 1000 });
      export const status: 'good' | 'bad' = report.status;
      // ${EXPECT_ERROR}: there is no such level
      void verifier.verify('jane@example.com', { level: 'dns' });
      verifier.close();`;
    writeFileSync(join(project, 'consumer.mts'), source);
    const options = { strict: true, noEmit: true, target: 'es2022', types: [], module, moduleResolution };
    const config = { compilerOptions: options, files: ['consumer.mts'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const path = { PATH: `${join(ROOT, 'node_modules/.bin')}:/usr/bin:/bin` };
    const run = await machine.run(project, tsc, ['-p', '.'], path);
    expect(run, run.stdout).toMatchObject({ code: 0 });
  });
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
