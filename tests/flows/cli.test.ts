import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
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

const cli = (...args: string[]) => runCli(args, environment);
const json = async (...args: string[]) => {
  const { code, out, err } = await cli(...args, '--json');
  expect(err).toBe('');
  expect(code).toBe(0);
  return JSON.parse(out);
};
const usage = (key: string) => request(service.url, 'GET', '/v1/usage', undefined, { authorization: `Bearer ${key}` });

describe('account and key, while the service runs', () => {
  it('work: account, key, request, grant, plan, revocation', { timeout: 60_000 }, async () => {
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
    const listed = await json('key', 'list', '--account', id);
    expect(listed).toMatchObject([{ id: keyId, name: 'site', allow_ips: ['127.0.0.0/8', '::1'], revoked_at: null }]);
    expect(JSON.stringify(listed)).not.toContain(key);
    await json('key', 'set', keyId, '--name', 'office', '--allow-ip', '192.0.2.0/24');
    expect((await usage(key)).json.code).toBe('ip_not_allowed');
    expect(await json('key', 'set', keyId, '--allow-any')).toMatchObject({ name: 'office', allow_ips: [] });
    expect((await usage(key)).status).toBe(200);
    await json('key', 'revoke', keyId);
    expect((await usage(key)).json.code).toBe('revoked_api_key');
    expect((await json('key', 'list'))[0].revoked_at).not.toBe(null);
    const store = await openStore({ url: database.url, clock: systemClock });
    const trail = await store.trail.list(id, { before: null, limit: 20 });
    await store.close();
    expect(trail.map(({ action }) => action).reverse()).toEqual([
      'account.created',
      'key.created',
      'credits.granted',
      'account.plan_set',
      'account.rate_limit_set',
      'key.changed',
      'key.changed',
      'key.revoked',
    ]);
    for (const { actor } of trail)
      expect(actor).toEqual({ kind: 'command', id: null, name: userInfo().username, ip: null });
    expect((await json('account', 'list')).find((a: { id: string }) => a.id === id)).toMatchObject({ balance: 750 });
  });

  it.each([
    [['account', 'create'], /--name/],
    [['account', 'create', '--name', 'x', '--plan', 'gold'], /--plan must be one of starter, premium, enterprise/],
    [['account', 'create', '--name', 'x', '--credits', '-1'], /--credits must be a whole number/],
    [['account', 'set', 'acc_none'], /name what to change/],
    [['verify'], /one or more addresses/],
    [['verify', 'a@b.com', '--nonsense'], /unknown option/],
    [['nonsense'], /unknown command/],
    [['serve', '--port', 'x'], /MAILVET_PORT|--port/],
  ])('%j is wrong use: exit 2 and a sentence', async (args, sentence) => {
    const { code, err } = await cli(...args);
    expect(err).toMatch(sentence);
    expect(code).toBe(2);
  });

  it('tells programs of wrong use in JSON too', async () => {
    for (const args of [
      ['account', 'create'],
      ['serve', '--bogus'],
      ['account', 'grant', 'nope', '5'],
    ]) {
      const { code, err } = await cli(...args, '--json');
      expect([code, JSON.parse(err)]).toEqual([2, { error: expect.any(String) }]);
    }
  });

  it('what is not there is exit 1', async () => {
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

  it('names every bad option at once', async () => {
    const { code, err } = await runCli(['serve'], {
      ...environment,
      MAILVET_PORT: 'x',
      MAILVET_DNS_TIMEOUT_MS: '-1',
      MAILVET_SMTP_HELO: 'a b',
    });
    expect(code).toBe(2);
    expect(err).toMatch(/MAILVET_PORT[\s\S]*MAILVET_DNS_TIMEOUT_MS[\s\S]*MAILVET_SMTP_HELO/);
  });

  it('a port in use is exit 1 with the option to set', async () => {
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
      ['lists', 'update'],
      ['migrate'],
    ]) {
      const { code, out } = await cli(...args, '--help');
      expect([args, code, out.includes('Usage: mailvet')]).toEqual([args, 0, true]);
    }
  });
});

describe('verify', () => {
  it('prints a table for people', async () => {
    const { code, out } = await cli('verify', 'a@good.com', 'someone@mailinator.com', 'a..b@good.com');
    expect(code).toBe(0);
    expect(out).toMatch(/ADDRESS +STATUS/);
    expect(out).toMatch(/a@good\.com +good/);
    expect(out).toMatch(/disposable_domain/);
    expect(out).toMatch(/double_dot/);
  });

  it('prints JSON lines for programs, in order, and charges nobody', async () => {
    const { out } = await cli('verify', '--json', 'b@null-mx.com', 'a@good.com');
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((r) => [r.email, r.status, r.credits_used])).toEqual([
      ['b@null-mx.com', 'bad', 0],
      ['a@good.com', 'good', 0],
    ]);
  });

  it('still tells what needs no DNS when no resolver answers', async () => {
    const down = { ...environment, MAILVET_DNS_SERVERS: '127.0.0.1:1', MAILVET_DNS_TIMEOUT_MS: '50' };
    const { code, out } = await runCli(['verify', '--json', 'a..b@x.com', 'a@good.com', 'x@mailinator.com'], down);
    const reasons = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).reason);
    expect([code, reasons]).toEqual([1, ['invalid_format', 'verification_unavailable', 'disposable_domain']]);
  });

  it('does not let an address drive the terminal', async () => {
    const { out } = await cli('verify', 'a\u001b[2Jb@good.com');
    expect(out).not.toContain('\u001b');
  });

  it('takes a CSV file and writes one with the results behind the columns', async () => {
    const [input, output] = [join(dir, 'in.csv'), join(dir, 'out.csv')];
    await writeFile(input, '\uFEFFName,E-Mail\n"Doe, Jane",jane@good.com\nSpam,x@mailinator.com\n\nEmpty,\n');
    const { code, err } = await cli('verify', '--file', input, '--out', output);
    expect([code, err]).toEqual([0, '']);
    const lines = (await readFile(output, 'utf8')).trim().split('\n');
    expect(lines[0]).toMatch(/^Name,E-Mail,status,deliverability,reason/);
    expect(lines[1]).toMatch(/^"Doe, Jane",jane@good\.com,good,unknown,,mx,false/);
    expect(lines[2]).toMatch(/^Spam,x@mailinator\.com,bad,risky,disposable_domain/);
    expect(lines[3]).toMatch(/^Empty,,bad,undeliverable,invalid_format/);
    expect(lines).toHaveLength(4);
  });

  it('says what is wrong with a file', async () => {
    const input = join(dir, 'names.csv');
    await writeFile(input, 'first,last\nJane,Doe\n');
    expect(await cli('verify', '--file', input)).toMatchObject({ code: 2, err: expect.stringMatching(/--column/) });
    expect(await cli('verify', '--file', join(dir, 'none.csv'))).toMatchObject({
      code: 2,
      err: expect.stringMatching(/ENOENT/),
    });
  });

  it('loses no row when no resolver answers: the file is whole, and says which rows to ask again', {
    timeout: 60_000,
  }, async () => {
    const [input, output] = [join(dir, 'down.csv'), join(dir, 'down-out.csv')];
    await writeFile(input, 'email\na@good.com\na..b@good.com\n');
    const down = { ...environment, MAILVET_DNS_SERVERS: '127.0.0.1:1', MAILVET_DNS_TIMEOUT_MS: '50' };
    const { code, err } = await runCli(['verify', '--file', input, '--out', output], down);
    expect(err).toMatch(/1 of 2 rows have no verdict/);
    expect(code).toBe(1);
    const lines = (await readFile(output, 'utf8')).trim().split('\n');
    expect(lines[1]).toMatch(/^a@good\.com,,,verification_unavailable,/);
    expect(lines[2]).toMatch(/^a\.\.b@good\.com,bad,/);
  });

  it('fails with exit 1 when no resolver answers', async () => {
    const { code, err } = await runCli(['verify', 'a@good.com'], {
      ...environment,
      MAILVET_DNS_SERVERS: '127.0.0.1:1',
      MAILVET_DNS_TIMEOUT_MS: '50',
    });
    expect(err).toMatch(/MAILVET_DNS_SERVERS/);
    expect(code).toBe(1);
  });
});

describe('lists and migrate', () => {
  it('lists show says why a domain is, or is not, on the lists', async () => {
    expect((await cli('lists', 'show', 'mailinator.com')).out).toMatch(/disposable/);
    expect((await cli('lists', 'show', 'gmail.com')).code).toBe(0);
  });

  it('migrate says where the store is', async () => {
    const { from, to } = await json('migrate');
    expect(from).toBe(to);
  });
});
