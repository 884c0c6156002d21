import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
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

const cli = (...args: string[]) => runCli(args, environment);
const json = async (...args: string[]) => {
  const { code, out, err } = await cli(...args, '--json');
  expect(err).toBe('');
  expect(code).toBe(0);
  return JSON.parse(out);
};
const usage = (key: string) => request(service.url, 'GET', '/v1/usage', undefined, { authorization: `Bearer ${key}` });

describe('account and key, while the service runs', () => {
  it('take effect: account, key, request, grant, plan, revocation', { timeout: 60_000 }, async () => {
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
    expect(await json('account', 'set', id, '--require-second-factor')).toMatchObject({ second_factor_required: true });
    const listed = await json('key', 'list', '--account', id);
    expect(listed).toMatchObject([{ id: keyId, name: 'site', allow_ips: ['127.0.0.0/8', '::1'], revoked_at: null }]);
    expect(JSON.stringify(listed)).not.toContain(key);
    await json('key', 'set', keyId, '--name', 'office', '--allow-ip', '192.0.2.0/24');
    expect((await usage(key)).json.code).toBe('ip_not_allowed');
    expect(await json('key', 'set', keyId, '--allow-any')).toMatchObject({ name: 'office', allow_ips: [] });
    expect((await usage(key)).status).toBe(200);
    const limits = ['--expires', '2999-01-01', '--scope', 'verify,lists', '--monthly-credits', '50'];
    expect(await json('key', 'set', keyId, ...limits)).toMatchObject({
      ...{ expires_at: '2999-01-01T00:00:00.000Z', scopes: ['verify', 'lists'], monthly_credits: 50 },
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
    [['account', 'create', '--name', 'x', '--plan', 'gold'], /--plan must be one of starter, premium, enterprise/],
    [['account', 'create', '--name', 'x', '--credits', '-1'], /--credits must be a whole number/],
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
      ['lists', 'update'],
      ['migrate'],
    ]) {
      const { code, out } = await cli(...args, '--help');
      expect([args, code, out.includes('Usage: mailvet')]).toEqual([args, 0, true]);
    }
  });
});

describe('verify', () => {
  it('prints a table by default', async () => {
    const { code, out } = await cli('verify', 'a@good.com', 'someone@mailinator.com', 'a..b@good.com');
    expect(code).toBe(0);
    expect(out).toMatch(/ADDRESS +STATUS/);
    expect(out).toMatch(/a@good\.com +good/);
    expect(out).toMatch(/disposable_domain/);
    expect(out).toMatch(/double_dot/);
  });

  it('prints JSON lines with --json, in order, without a charge', async () => {
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

  it('still reports verdicts that need no DNS when no resolver answers', async () => {
    const down = { ...environment, MAILVET_DNS_SERVERS: '127.0.0.1:1', MAILVET_DNS_TIMEOUT_MS: '50' };
    const { code, out } = await runCli(['verify', '--json', 'a..b@x.com', 'a@good.com', 'x@mailinator.com'], down);
    const reasons = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).reason);
    expect([code, reasons]).toEqual([1, ['invalid_format', 'verification_unavailable', 'disposable_domain']]);
  });

  it('escapes control characters in addresses', async () => {
    const { out } = await cli('verify', 'a\u001b[2Jb@good.com');
    expect(out).not.toContain('\u001b');
  });

  it('reads a CSV file and writes one with the result columns appended', async () => {
    const [input, output] = [join(dir, 'in.csv'), join(dir, 'out.csv')];
    await writeFile(input, '\uFEFFName,E-Mail\n"Doe, Jane",jane@good.com\nSpam,x@mailinator.com\n\nEmpty,\n');
    expect(await cli('verify', '--file', input, '--out', output)).toMatchObject({ code: 0, err: '' });
    const lines = (await readFile(output, 'utf8')).trim().split('\n');
    expect(lines[0]).toMatch(/^Name,E-Mail,status,deliverability,reason/);
    expect(lines[1]).toMatch(/^"Doe, Jane",jane@good\.com,good,unknown,,mx,false/);
    expect(lines[2]).toMatch(/^Spam,x@mailinator\.com,bad,risky,disposable_domain/);
    expect(lines[3]).toMatch(/^Empty,,bad,undeliverable,invalid_format/);
    expect(lines).toHaveLength(4);
  });

  it('writes CSV in which no cell is a formula to a spreadsheet', async () => {
    const [input, output] = [join(dir, 'formulas.csv'), join(dir, 'formulas-out.csv')];
    await writeFile(input, 'email,=x,+x,-x,@x,"\tx","\rx"\n=a@good.com,1,2,3,4,5,6\n');
    await cli('verify', '--file', input, '--out', output);
    const [names = [], row = []] = parse(await readFile(output, 'utf8'));
    expect([...names.slice(1, 7), row[0]].join()).toBe("'=x,'+x,'-x,'@x,'\tx,'\rx,'=a@good.com");
  });

  it('reports unusable input files', async () => {
    const input = join(dir, 'names.csv');
    await writeFile(input, 'first,last\nJane,Doe\n');
    expect(await cli('verify', '--file', input)).toMatchObject({ code: 2, err: expect.stringMatching(/--column/) });
    expect(await cli('verify', '--file', join(dir, 'none.csv'))).toMatchObject({
      code: 2,
      err: expect.stringMatching(/ENOENT/),
    });
  });

  it('writes a complete file when no resolver answers, with a reason for each row without a verdict', {
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
  it('lists show explains whether a domain is listed', async () => {
    expect((await cli('lists', 'show', 'mailinator.com')).out).toMatch(/disposable/);
    expect((await cli('lists', 'show', 'gmail.com')).code).toBe(0);
  });

  it('migrate prints the version of the store', async () => {
    const { from, to } = await json('migrate');
    expect(from).toBe(to);
  });
});
