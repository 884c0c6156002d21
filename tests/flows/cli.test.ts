import { spawnSync } from 'node:child_process';
import { existsSync, openSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { openStore } from '../../src/store/open.ts';
import { type DnsLab, zone } from '../lab/dns.ts';
import { type Running, runCli, startProcess } from '../lab/process.ts';
import { NET, request } from '../lab/service.ts';
import { freshDatabase } from '../lab/stores.ts';

let dns: DnsLab;
let dir: string;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let environment: Record<string, string>;
let service: Running;

beforeAll(async () => {
  dns = await zone(NET);
  dir = await mkdtemp(join(tmpdir(), 'mailvet-cli-'));
  database = await freshDatabase();
  environment = {
    MAILVET_DATABASE_URL: database.url,
    MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILVET_DNS_CONTROL_NAMES: 'none',
    MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    MAILVET_LISTS_DIR: join(dir, 'lists'),
  };
  service = await startProcess(environment);
});
afterAll(async () => {
  await service.end('SIGTERM');
  await dns.close();
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

it('serve warns about variables that are no options, and does not read those of a client', async () => {
  const other = await startProcess({
    MAILVET_DATABASE_URL: 'sqlite::memory:',
    MAILVET_SMTP_HELLO: 'mail.example.com',
    MAILVET_KEY: 'not a key',
    MAILVET_URL: 'nonsense',
    MAILVET_LOG_LEVEL: 'warn',
  });
  await expect
    .poll(() => other.printed.join('\n'), { timeout: 30_000 })
    .toMatch(/MAILVET_SMTP_HELLO is not an option; did you mean MAILVET_SMTP_HELO\?/);
  expect(other.printed.join('\n')).not.toContain('mail.example.com');
  await other.end('SIGTERM');
});

it('names the option that an unknown one was probably meant to be', async () => {
  const { code, err } = await runCli(['serve', '--prot', '1'], environment);
  expect(code).toBe(2);
  expect(err).toMatch(/unknown option '--prot'[\s\S]*Did you mean --port\?/);
});

it.each([
  ['account', 'list'],
  ['audit', '--json'],
])('%s %s names an SQLite store that is missing, and does not create it', async (...args) => {
  const file = join(dir, 'mistyped.db');
  const { code, err } = await runCli(args, { ...environment, MAILVET_DATABASE_URL: `sqlite:${file}` });
  expect(code).toBe(1);
  expect(err).toContain(`there is no store at ${file}: set MAILVET_DATABASE_URL`);
  expect(existsSync(file)).toBe(false);
});

const cli = (...args: string[]) => runCli(args, environment);
const json = async (...args: string[]) => {
  const { code, out, err } = await cli(...args, '--json');
  expect(err).toBe('');
  expect(code).toBe(0);
  return JSON.parse(out);
};
const usage = (key: string) => request(service.url, 'GET', '/v1/usage', undefined, { authorization: `Bearer ${key}` });

describe('account and key, while the service runs', () => {
  it('take effect: account, key, request, grant, plan, revocation', async () => {
    const { id } = await json('account', 'create', '--name', 'Shop', '--plan', 'premium', '--credits', '500');
    const { id: keyId, key } = await json(
      'key',
      'create',
      '--account',
      id,
      '--name',
      'site',
      '--allow-ip',
      '127.0.0.0/8',
      '::1',
    );
    expect(key).toMatch(/^mv_live_[0-9A-Za-z]{32}$/);
    expect((await usage(key)).json).toMatchObject({ plan: 'premium', credits: { remaining: 500 } });
    await json('account', 'grant', id, '250', '--note', 'invoice 7');
    expect((await usage(key)).json.credits.remaining).toBe(750);
    await json('account', 'set', id, '--plan', 'starter');
    expect((await usage(key)).json).toMatchObject({ plan: 'starter', rate_limit: { limit: 60 } });
    await json('account', 'set', id, '--rate-limit', '7');
    expect((await usage(key)).json.rate_limit.limit).toBe(7);
    await json('account', 'set', id, '--rate-limit', 'plan');
    expect((await usage(key)).json.rate_limit.limit).toBe(60);
    expect(await json('account', 'set', id, '--low-balance', '100')).toMatchObject({ low_balance: 100 });
    expect(await json('account', 'set', id, '--low-balance', 'none')).toMatchObject({ low_balance: null });
    expect(await json('account', 'set', id, '--require-second-factor')).toMatchObject({ second_factor_required: true });
    const listed = await json('key', 'list', '--account', id);
    expect(listed).toMatchObject([{ id: keyId, name: 'site', allow_ips: ['127.0.0.0/8', '::1'], revoked_at: null }]);
    expect(JSON.stringify(listed)).not.toContain(key);
    const test = await json('key', 'create', '--account', id, '--name', 'ci', '--test');
    expect(test.key).toMatch(/^mv_test_[0-9A-Za-z]{32}$/);
    expect((await usage(test.key)).headers.get('x-mailvet-mode')).toBe('test');
    expect(await json('key', 'list', '--account', id)).toMatchObject([
      { id: keyId, account_id: id, mode: 'live', key: expect.stringMatching(/^mv_live_…/) },
      { id: test.id, account_id: id, mode: 'test', key: expect.stringMatching(/^mv_test_…/) },
    ]);
    expect(await json('account', 'list')).toHaveLength(1);
    await json('key', 'revoke', test.id);
    expect((await usage(test.key)).json.code).toBe('revoked_api_key');
    await json('key', 'set', keyId, '--name', 'office', '--allow-ip', '192.0.2.0/24');
    expect((await usage(key)).json.code).toBe('ip_not_allowed');
    expect(await json('key', 'set', keyId, '--allow-any')).toMatchObject({ name: 'office', allow_ips: [] });
    expect((await usage(key)).status).toBe(200);
    const limits = ['--expires', '2999-01-01', '--scope', 'verify,lists', '--monthly-credits', '50'];
    expect(await json('key', 'set', keyId, ...limits)).toMatchObject({
      expires_at: '2999-01-01T00:00:00.000Z',
      scopes: ['verify', 'lists'],
      monthly_credits: 50,
    });
    expect((await usage(key)).json).toMatchObject({ code: 'scope_missing', scope: 'usage' });
    const without = ['--expires', 'never', '--scope', 'all', '--monthly-credits', 'unlimited'];
    expect(await json('key', 'set', keyId, ...without)).toMatchObject({ expires_at: null, monthly_credits: null });
    expect((await usage(key)).status).toBe(200);
    await json('key', 'revoke', keyId);
    expect((await usage(key)).json.code).toBe('revoked_api_key');
    expect((await json('key', 'list'))[0].revoked_at).not.toBe(null);
    const store = await openStore({ url: database.url, clock: systemClock });
    const entries = await store.auditLog.list(id, { before: null, limit: 20 });
    await store.close();
    expect(entries.map(({ action }) => action).reverse()).toEqual([
      'account.created',
      'key.created',
      'credits.granted',
      'account.plan_set',
      'account.rate_limit_set',
      'account.rate_limit_set',
      'account.low_balance_set',
      'account.low_balance_set',
      'account.second_factor_required',
      'key.changed',
      'key.changed',
      'key.changed',
      'key.changed',
      'key.revoked',
    ]);
    for (const { actor } of entries)
      expect(actor).toEqual({ kind: 'command', id: null, name: userInfo().username, ip: null });
    expect((await json('account', 'list')).find((a: { id: string }) => a.id === id)).toMatchObject({ balance: 750 });
  });

  it.each([
    [['account', 'create'], /--name/],
    [['account', 'create', '--name', 'Visit evil.com'], /name must not contain a web or email address/],
    [['account', 'create', '--name', 'x', '--plan', 'gold'], /--plan must be one of starter, premium, enterprise/],
    [['account', 'create', '--name', 'x', '--credits', '-1'], /--credits must be a whole number/],
    [['account', 'set', 'acc_none', '--low-balance', '0'], /--low-balance must be a whole number/],
    [['account', 'set', 'acc_none'], /give at least one of/],
    [['verify'], /one or more addresses/],
    [['verify', 'a@b.com', '--nonsense'], /unknown option/],
    [['nonsense'], /unknown command/],
    [['serve', '--port', 'x'], /MAILVET_PORT|--port/],
  ])('%j is a usage error: exit 2 with a message', async (args, message) => {
    const { code, err } = await cli(...args);
    expect(err).toMatch(message);
    expect(code).toBe(2);
  });

  it('reports usage errors as JSON with --json', async () => {
    for (const args of [
      ['account', 'create'],
      ['serve', '--bogus'],
      ['account', 'grant', 'nope', '5'],
    ]) {
      const { code, err } = await cli(...args, '--json');
      expect([code, JSON.parse(err)]).toEqual([2, { error: expect.any(String) }]);
    }
  });

  it('exits with 1 if the account or key does not exist', async () => {
    for (const args of [
      ['key', 'revoke', 'key_none'],
      ['account', 'grant', 'acc_none', '5', '--note', 'x'],
      ['key', 'create', '--account', 'acc_none', '--name', 'x'],
    ]) {
      const { code, err } = await cli(...args);
      expect(err).toMatch(/there is no/);
      expect(code).toBe(1);
    }
  });

  it('reports all invalid options at once', async () => {
    const { code, err } = await runCli(['serve'], {
      ...environment,
      MAILVET_PORT: 'x',
      MAILVET_DNS_TIMEOUT_MS: '-1',
      MAILVET_SMTP_HELO: 'a b',
    });
    expect(code).toBe(2);
    expect(err).toMatch(/MAILVET_PORT[\s\S]*MAILVET_DNS_TIMEOUT_MS[\s\S]*MAILVET_SMTP_HELO/);
  });

  it('exits with 1 and names the option if the port is in use', async () => {
    const { code, err } = await runCli(['serve'], { ...environment, MAILVET_PORT: new URL(service.url).port });
    expect(err).toMatch(/in use.*MAILVET_PORT/);
    expect(code).toBe(1);
  });

  it('every command has --help', async () => {
    for (const args of [
      [],
      ['serve'],
      ['verify'],
      ['account'],
      ['account', 'create'],
      ['key', 'revoke'],
      ['disposable', 'update'],
      ['migrate'],
    ]) {
      const { code, out } = await cli(...args, '--help');
      expect([args, code, out.includes('Usage: mailvet')]).toEqual([args, 0, true]);
    }
  });

  it.each([
    ['account list', true],
    ['mcp', true],
    ['usage', false],
    ['lists status', false],
    ['health', false],
  ])('%s has the options of a store: %s', async (words, has) => {
    const { out } = await cli(...words.split(' '), '--help');
    for (const flag of ['--database-url', '--plans-file', '--lists-dir']) expect(out.includes(flag)).toBe(has);
  });
});

describe('disposable and migrate', () => {
  it('disposable show explains whether a domain is listed', async () => {
    expect((await cli('disposable', 'show', 'mailinator.com')).out).toMatch(/disposable/);
    expect((await cli('disposable', 'show', 'gmail.com')).code).toBe(0);
  });

  it.each([
    ['update', '--lists-dir', 'x'],
    ['show', 'mailinator.com'],
  ])('the former name lists %s answers with the new one and exit 2', async (name, ...rest) => {
    const err = `mailvet: this command is now mailvet disposable ${name}.\n`;
    expect(await cli('lists', name, ...rest)).toEqual({ code: 2, out: '', err });
  });

  it('migrate prints the version of the store', async () => {
    const { from, to } = await json('migrate');
    expect(from).toBe(to);
  });

  it('migrate --check exits with 1 where something is pending, and changes nothing', async () => {
    const current = await json('migrate', '--check');
    expect(current).toMatchObject({ schema_version: current.known_version, pending: [], old_nodes_keep_working: true });
    const empty = await freshDatabase({ empty: true });
    if (empty.url.startsWith('sqlite:')) writeFileSync(empty.url.slice('sqlite:'.length), '');
    for (let i = 0; i < 2; i++) {
      const { code, out } = await runCli(['migrate', '--check', '--json'], { MAILVET_DATABASE_URL: empty.url });
      expect(code).toBe(1);
      expect(JSON.parse(out)).toMatchObject({ schema_version: 0, known_version: current.known_version });
      expect(JSON.parse(out).pending).toHaveLength(current.known_version);
    }
    const audit = await runCli(['audit'], { MAILVET_DATABASE_URL: empty.url });
    expect([audit.code, audit.err]).toEqual([
      1,
      'mailvet: The store is at schema version 0: run mailvet migrate first.\n',
    ]);
    await empty.drop();
  });

  it('migrate --check creates no store', async () => {
    const missing = join(tmpdir(), `mailvet-none-${process.pid}`, 'mailvet.db');
    const { code, out, err } = await runCli(['migrate', '--check'], { MAILVET_DATABASE_URL: `sqlite:${missing}` });
    expect([code, out, existsSync(dirname(missing))]).toEqual([1, '', false]);
    expect(err).toMatch(`there is no store at ${missing}`);
  });
});

it.runIf(process.platform === 'linux')('says in a sentence that its output cannot be written', () => {
  const cli = join(import.meta.dirname, '../../src/cli/main.ts');
  const { status, stderr } = spawnSync(process.execPath, [cli, 'verify', 'a@@b', '--json'], {
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    encoding: 'utf8',
  });
  expect([status, JSON.parse(stderr)]).toEqual([1, { error: expect.stringMatching(/^cannot write .*ENOSPC/) }]);
});
