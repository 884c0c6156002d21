/**
 * @mailvet/engine and @mailvet/client from their tarballs, in empty projects: every module format, manager and tool.
 */
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DnsLab, zone } from '../lab/dns.ts';
import { type Persona, type SmtpLab, startSmtp } from '../lab/smtp.ts';
import { BUN, emptyProject, NODES, run, tarball, tool } from './packed.ts';

const NAMES = ['@mailvet/engine', '@mailvet/client'] as const;
/** Runs in the consumer's project. */
const EXPECT_ERROR = ['@ts', 'expect', 'error'].join('-');

let dns: DnsLab;
let npm: string;
let pnpm: string;
let yarn: string;
let bun: string;
let elsewhere: string;
beforeAll(async () => {
  dns = await zone({ 'good.com': { MX: [[5, 'mx.good.com']] }, 'mx.good.com': { A: ['142.250.102.27'] } });
  elsewhere = await mkdtemp(join(tmpdir(), 'mailvet-bundles-'));
  npm = emptyProject('npm');
  expect(await run(npm, 'npm', ['install', '--offline', ...NAMES.map(tarball)])).toMatchObject({ code: 0 });
  pnpm = emptyProject('pnpm');
  const dependencies = Object.fromEntries(NAMES.map((name) => [name, `file:${tarball(name)}`]));
  writeFileSync(join(pnpm, 'package.json'), JSON.stringify({ name: 'pnpm', private: true, dependencies }));
  const args = ['install', '--offline', '--ignore-workspace', '--store-dir', join(elsewhere, 'store')];
  const installed = await run(pnpm, tool('pnpm'), args);
  expect(installed, installed.stdout + installed.stderr).toMatchObject({ code: 0 });
  yarn = emptyProject('yarn');
  const byYarn = await run(yarn, tool('yarn'), [
    'add',
    '--no-progress',
    ...NAMES.map((name) => `file:${tarball(name)}`),
  ]);
  expect(byYarn, byYarn.stdout + byYarn.stderr).toMatchObject({ code: 0 });
  bun = emptyProject('bun');
  const byBun = await run(bun, BUN, ['add', ...NAMES.map(tarball)]);
  expect(byBun, byBun.stdout + byBun.stderr).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await dns.close();
  await rm(elsewhere, { recursive: true });
});

const LOAD = {
  mjs: [
    "import { createVerifier } from '@mailvet/engine';",
    "import { createMailvet, guard, MailvetError } from '@mailvet/client';",
    "import { emailGuard } from '@mailvet/client/express';",
  ].join('\n'),
  cjs: [
    "const { createVerifier } = require('@mailvet/engine');",
    "const { createMailvet, guard, MailvetError } = require('@mailvet/client');",
    "const { emailGuard } = require('@mailvet/client/express');",
  ].join('\n'),
} as const;

const program = (format: keyof typeof LOAD) => `${LOAD[format]}
  async function main() {
    const verifier = createVerifier({ dnsServers: ['${dns.address}:${dns.port}'], dnsControlNames: [] });
    const verdicts = [];
    for (const email of ['bad@@x', 'jane@good.com', 'jane@mailinator.com', 'jane@gmial.com']) {
      const { status, reason, did_you_mean } = await verifier.verify(email);
      verdicts.push([status, reason, did_you_mean]);
    }
    // Reads the files for replies of mail servers.
    createVerifier({ smtp: { helo: 'a.example.net' } }).close();
    verifier.close();
    const at = { url: 'http://127.0.0.1:9', key: 'mv_test_x' };
    const failed = await createMailvet(at).usage().catch((error) => error instanceof MailvetError && error.code);
    const { code } = await guard({ ...at, onError() {} })('jane@good.com');
    console.log(JSON.stringify({ verdicts, failed, code, adapter: typeof emailGuard(at) }));
  }
  main();`;

const PRINTED = {
  verdicts: [
    ['bad', 'invalid_format', null],
    ['good', null, null],
    ['bad', 'disposable_domain', null],
    ['bad', 'disposable_domain', 'jane@gmail.com'],
  ],
  failed: 'unreachable',
  code: 'unverified',
  adapter: 'function',
};

describe('an installed library', () => {
  it('brings nothing along, least of all a Node, and is small', () => {
    const folder = join(npm, 'node_modules');
    expect(readdirSync(folder).sort()).toEqual(['.package-lock.json', '@mailvet']);
    expect(readdirSync(join(folder, '@mailvet')).sort()).toEqual(['client', 'engine']);
    expect(existsSync(join(folder, '.bin'))).toBe(false);
    const sizes = NAMES.map((name) =>
      readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' })
        .map((file) => statSync(join(folder, name, file)).size)
        .reduce((sum, size) => sum + size, 0),
    );
    expect(sizes[0]).toBeLessThan(12 * 1024 * 1024);
    expect(sizes[1]).toBeLessThan(2 * 1024 * 1024);
  });

  const managers = { npm: () => npm, pnpm: () => pnpm, yarn: () => yarn, bun: () => bun } as const;
  const runs = (['npm', 'pnpm', 'yarn', 'bun'] as const).flatMap((manager) =>
    (['20.19', '22', '24'] as const).flatMap((node) =>
      (['mjs', 'cjs'] as const).map((format) => [manager, node, format] as const),
    ),
  );
  it.each(runs)('by %s works on Node %s as .%s', async (manager, node, format) => {
    const folder = managers[manager]();
    writeFileSync(join(folder, `program.${format}`), program(format));
    const version = await run(folder, NODES[node], ['--version']);
    expect(version.stdout).toMatch(new RegExp(`^v${node}\\.`));
    const ran = await run(folder, NODES[node], [`program.${format}`]);
    expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toEqual(PRINTED);
  });

  it('has readable stack traces', async () => {
    writeFileSync(join(npm, 'wrong.cjs'), "require('@mailvet/engine').createVerifier({ dnsServer: [] });");
    const plain = await run(npm, NODES['20.19'], ['wrong.cjs']);
    expect(plain.stderr).toMatch(/TypeError: createVerifier has no option dnsServer.*\n\s+at checkOptions /);
    const mapped = await run(npm, NODES['20.19'], ['--enable-source-maps', 'wrong.cjs']);
    expect(mapped.stderr).toMatch(/src\/index\.ts:\d+:\d+/);
  });
});

describe('an installed library asks mail servers', () => {
  const greylists: Persona['on'] = ({ verb }) =>
    verb === 'RCPT' ? '450 4.7.1 Greylisted, try again later' : undefined;
  /** By domain: who serves it, and what is said of `good@` there. */
  const SERVERS: Readonly<Record<string, readonly [persona: Persona, said: readonly unknown[]]>> = {
    'accepts.com': [{}, ['deliverable', null, false]],
    'rejects.com': [{ mailboxes: [] }, ['undeliverable', 'mailbox_not_found', null]],
    'catchall.com': [{ mailboxes: ['*'] }, ['risky', 'catch_all', true]],
    'greylists.com': [{ on: greylists }, ['unknown', 'greylisted', null]],
    'secure.com': [{ tls: 'works', demandsTls: true }, ['deliverable', null, false]],
    'breaks.com': [{ tls: 'broken', demandsTls: true }, ['unknown', expect.any(String), null]],
    'hangs.com': [{ banner: 'silence' }, ['unknown', 'smtp_timeout', null]],
    'drops.com': [{ banner: 'drop' }, ['unknown', expect.any(String), null]],
  };
  const domains = Object.keys(SERVERS);
  const servers: SmtpLab[] = [];
  let mailDns: DnsLab;
  beforeAll(async () => {
    const addresses = domains.map((_, i) => `127.0.8.${i + 1}`);
    for (const [i, [persona]] of Object.values(SERVERS).entries())
      servers.push(await startSmtp(persona, { address: addresses[i]!, port: servers[0]?.port ?? 0 }));
    mailDns = await zone({
      ...Object.fromEntries(domains.map((domain) => [domain, { MX: [[5, `mx.${domain}`]] }])),
      ...Object.fromEntries(domains.map((domain, i) => [`mx.${domain}`, { A: [addresses[i]!] }])),
    });
  });
  afterAll(async () => {
    for (const server of servers) await server.close();
    await mailDns.close();
  });

  const RUNS = (['20.19', '22', '24'] as const).flatMap((node) =>
    (['mjs', 'cjs'] as const).map((format) => [node, format] as const),
  );
  it.each(RUNS)('on Node %s as .%s', async (node, format) => {
    const options = {
      dnsServers: [`${mailDns.address}:${mailDns.port}`],
      dnsControlNames: [],
      allowPrivateNetworks: true,
      smtp: { helo: 'verify.example.net', port: servers[0]?.port, ratePerOperator: 0 },
    };
    const asks = `${LOAD[format]}
      async function main() {
        const verifier = createVerifier(${JSON.stringify(options)});
        const said = async (email) => {
          const report = await verifier.verify(email, { level: 'smtp', timeoutMs: 4000 });
          return [report.deliverability, report.reason, report.is_catch_all];
        };
        const all = await Promise.all(${JSON.stringify(domains)}.map((domain) => said('good@' + domain)));
        // In shared sessions, with one random recipient for all.
        const many = await Promise.all(Array.from({ length: 40 }, (_, i) => said('user' + i + '@rejects.com')));
        const ended = verifier.verify('late@hangs.com', { level: 'smtp', signal: AbortSignal.timeout(50) });
        const aborted = await ended.then(({ reason }) => reason, (error) => error.name);
        verifier.close();
        console.log(JSON.stringify({ all, many: new Set(many.map(([deliverability]) => deliverability)).size, aborted }));
      }
      main();`;
    writeFileSync(join(npm, `asks.${format}`), asks);
    const ran = await run(npm, NODES[node], [`asks.${format}`]);
    expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toEqual({
      all: Object.values(SERVERS).map(([, said]) => said),
      many: 1,
      aborted: expect.any(String),
    });
  });
});

describe('types', () => {
  const source = `
    import { createVerifier, VerifierClosedError, type Report, type VerifierOptions } from '@mailvet/engine';
    import { createMailvet, guard, MailvetError, type GuardOutcome, type Verification } from '@mailvet/client';
    import { emailGuard } from '@mailvet/client/express';
    const options: VerifierOptions = { dnsTimeoutMs: 500 };
    export async function main(): Promise<'good' | 'bad'> {
      const report: Report = await createVerifier(options).verify('a@example.com', { level: 'mx', timeoutMs: 1000 });
      // ${EXPECT_ERROR}: there is no such level
      void createVerifier().verify('a@example.com', { level: 'dns' });
      const outcome: GuardOutcome = await guard({ url: process.env.URL, key: 'k' })(report.email);
      const result: Verification | null = outcome.result;
      // ${EXPECT_ERROR}: there is no such policy
      guard({ url: 'u', key: 'k', role: 'deny' });
      emailGuard({ url: 'u', key: 'k', field: 'mail', clientIp: (request) => request.ip });
      void createMailvet({ url: 'u', key: 'k' }).usage().catch((error) => error instanceof MailvetError);
      return result?.status ?? (report instanceof VerifierClosedError ? 'bad' : report.status);
    }
    declare const process: { env: Record<string, string | undefined> };`;

  it.each([
    ['node16', 'node16', 'consumer.mts'],
    ['node16', 'node16', 'consumer.cts'],
    ['nodenext', 'nodenext', 'consumer.mts'],
    ['nodenext', 'nodenext', 'consumer.cts'],
    ['esnext', 'bundler', 'consumer.ts'],
    ['commonjs', 'node10', 'consumer.ts'],
  ])('for module %s, resolution %s, %s, with library checks on', async (module, moduleResolution, file) => {
    writeFileSync(join(npm, file), source);
    const compilerOptions = {
      module,
      moduleResolution,
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      types: [],
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
    };
    const config = `tsconfig.${moduleResolution}.${file}.json`;
    writeFileSync(join(npm, config), JSON.stringify({ compilerOptions, files: [file] }));
    const ran = await run(npm, tool('tsc'), ['-p', config]);
    expect(ran, ran.stdout).toMatchObject({ code: 0 });
  });
});

describe('tools', () => {
  it.each(NAMES)('publint finds nothing wrong with %s', async (name) => {
    const ran = await run(npm, tool('publint'), [tarball(name), '--strict']);
    expect(ran, ran.stdout + ran.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('All good!') });
  });

  it.each(NAMES)('attw finds nothing wrong with %s', async (name) => {
    const ran = await run(npm, tool('attw'), [tarball(name), '--format', 'ascii', '--no-color', '--no-emoji']);
    expect(ran, ran.stdout + ran.stderr).toMatchObject({ code: 0 });
    expect(ran.stdout).toContain('No problems found');
  });

  const check = `
    const { status, reason } = await createVerifier().verify('jane@mailinator.com');
    expect([status, reason]).toEqual(['bad', 'disposable_domain']);
    expect((await guard({ url: 'http://127.0.0.1:9', key: 'k' })('')).code).toBe('invalid_address');`;

  it('Jest runs it', async () => {
    writeFileSync(join(npm, 'smoke.test.js'), `${LOAD.cjs}\ntest('works', async () => {${check}});`);
    const ran = await run(npm, tool('jest'), ['--rootDir', npm, '--watchman=false', '--ci']);
    expect(ran, ran.stdout + ran.stderr).toMatchObject({ code: 0, stderr: expect.stringContaining('1 passed') });
  });

  it('Vitest runs it', async () => {
    const test = `import { expect, test } from 'vitest';\n${LOAD.mjs}\ntest('works', async () => {${check}});`;
    writeFileSync(join(npm, 'smoke.spec.mjs'), test);
    const ran = await run(npm, tool('vitest'), ['run', '--root', npm, 'smoke.spec.mjs']);
    expect(ran, ran.stdout + ran.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('1 passed') });
  });

  /** Away from node_modules: what was not bundled is missing. */
  async function bundleWorks(file: string): Promise<void> {
    const ran = await run(elsewhere, NODES['20.19'], [join(elsewhere, file)]);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(ran.stdout)).toEqual(PRINTED);
  }

  it.each([
    ['esm', 'esbuild.mjs'],
    ['cjs', 'esbuild.cjs'],
  ])('esbuild bundles it as %s', async (format, file) => {
    writeFileSync(join(npm, 'program.mjs'), program('mjs'));
    const flags = ['--bundle', '--platform=node', `--format=${format}`, `--outfile=${join(elsewhere, file)}`];
    const ran = await run(npm, tool('esbuild'), ['program.mjs', ...flags, '--log-level=warning']);
    expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' });
    await bundleWorks(file);
  });

  it('webpack bundles it', async () => {
    writeFileSync(join(npm, 'program.mjs'), program('mjs'));
    const options = {
      mode: 'none',
      target: 'node',
      context: npm,
      entry: './program.mjs',
      output: { path: elsewhere, filename: 'webpack.cjs' },
    };
    const source = `require('webpack')(${JSON.stringify(options)}, (error, stats) => {
      console.log(error ?? stats.toString({ all: false, errors: true, warnings: true }));
      process.exitCode = error || stats.hasErrors() || stats.hasWarnings() ? 1 : 0;
    });`;
    writeFileSync(join(npm, 'webpack.cjs'), source);
    const ran = await run(npm, NODES['20.19'], ['webpack.cjs']);
    expect(ran, ran.stdout + ran.stderr).toMatchObject({ code: 0 });
    await bundleWorks('webpack.cjs');
  });
});
