import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { type Client, signedIn } from './client.ts';

let lab: Lab;
let operator: Client;
let member: Member;
let source: Server;
let list = '';
beforeAll(async () => {
  source = createServer((_request, reply) => {
    if (list === '') reply.writeHead(500).end();
    else reply.end(list);
  });
  await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/list`;
  lab = await startLab({
    MAILVET_LISTS_DISPOSABLE_URL: url,
    MAILVET_LISTS_FAKEFILTER_URL: url,
    MAILVET_LISTS_MAILCHECKER_URL: 'none',
    MAILVET_LISTS_TOMPEC_URL: 'none',
    MAILVET_LISTS_IVOLO_URL: 'none',
  });
  operator = await signedIn(lab, { operator: true });
  member = await lab.member({ credits: 100 });
});
afterAll(async () => {
  await lab.close();
  source.close();
});

const call = (method: string, path: string, body?: unknown) =>
  operator.call(method, `/dashboard/operator${path}`, body);
const own = (path = '') => `/accounts/${member.account.id}${path}`;

/** Current contents of the two fetched lists, by their letters in the packaged file. */
const listedNow = (): string[] =>
  readFileSync(new URL('../../../data/disposable.txt', import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([, letters]) => /[ab]/.test(letters ?? ''))
    .map(([name]) => name!);

describe('the first owner of an account', () => {
  it('is invited by an operator as long as the account has no members', async () => {
    const { json: account } = await call('POST', '/accounts', { name: 'Contoso', plan: 'starter' });
    const invite = (body: unknown) => call('POST', `/accounts/${account.id}/owner`, body);
    expect((await invite({ email: 'nobody' })).json.field).toBe('email');
    const invited = await invite({ email: 'owner@good.com' });
    expect([invited.status, invited.json.mailed]).toEqual([201, false]);
    expect(invited.json.link).toContain('/invitation#token=');
    expect(await lab.store.members.invitations(account.id)).toMatchObject([{ email: 'owner@good.com', role: 'owner' }]);
    const owned = await lab.member();
    await signedIn(lab, { account: owned.account, role: 'owner' });
    const refused = await call('POST', `/accounts/${owned.account.id}/owner`, { email: 'other@good.com' });
    expect([refused.status, refused.json.code]).toEqual([422, 'account_has_members']);
    expect((await call('POST', '/accounts/acc_missing/owner', { email: 'other@good.com' })).status).toBe(404);
  });
});

describe('accounts, for operators', () => {
  it('can be created, found and changed', async () => {
    const made = await call('POST', '/accounts', {
      name: 'Northwind',
      plan: 'enterprise',
      credits: 7,
      rate_limit: 9000,
    });
    expect([made.status, made.json]).toMatchObject([
      201,
      {
        name: 'Northwind',
        plan: 'enterprise',
        rate_limit: 9000,
        rate_limit_set: true,
        balance: 7,
        members: 0,
        keys: 0,
      },
    ]);
    const found = await call('GET', '/accounts?query=NORTHw');
    expect(found.json).toEqual({ accounts: [made.json], total_count: 1, per_page: 50 });
    expect((await call('GET', `/accounts?query=${made.json.id}`)).json.total_count).toBe(1);
    expect((await call('GET', `/accounts/${made.json.id}`)).json).toEqual(made.json);
    const changed = await call('PATCH', `/accounts/${made.json.id}`, { plan: 'starter', rate_limit: null, name: 'N' });
    expect(changed.json).toMatchObject({ name: 'N', plan: 'starter', rate_limit: 60, rate_limit_set: false });
    const plain = await call('POST', '/accounts', { name: 'Plain', plan: 'starter' });
    expect(plain.json).toMatchObject({ balance: 0, rate_limit: 60, rate_limit_set: false });
    expect((await call('GET', own())).json).toMatchObject({ keys: 1, members: 0, balance: 100 });
  });

  it('are looked up by id, whatever other accounts are called', async () => {
    const { id } = (await call('POST', '/accounts', { name: 'Hidden', plan: 'starter' })).json;
    for (let i = 0; i < 10; i++) await call('POST', '/accounts', { name: `copy ${i} of ${id}`, plan: 'starter' });
    expect((await call('GET', `/accounts/${id}`)).json).toMatchObject({ id, name: 'Hidden' });
    const suspended = await call('PATCH', `/accounts/${id}`, { status: 'suspended' });
    expect([suspended.status, suspended.json]).toMatchObject([200, { id, status: 'suspended' }]);
    const granted = await call('POST', `/accounts/${id}/grants`, { credits: 5, note: 'Gift' });
    expect([granted.status, granted.json]).toMatchObject([200, { id, balance: 5 }]);
  });

  it('suspending and resuming applies to the next request', async () => {
    expect((await call('PATCH', own(), { status: 'suspended' })).json.status).toBe('suspended');
    expect((await member.verify('a@good.com')).json.code).toBe('invalid_api_key');
    await call('PATCH', own(), { status: 'active' });
    expect((await member.verify('a@good.com')).status).toBe(200);
  });

  it('credits are granted with a note, and deducted down to zero', async () => {
    const { balance } = (await call('GET', own())).json;
    const grant = (credits: unknown, note: unknown = 'invoice 7') => call('POST', own('/grants'), { credits, note });
    expect((await grant(50)).json.balance).toBe(balance + 50);
    expect((await grant(-50, ' a mistake ')).json.balance).toBe(balance);
    const below = await grant(-balance - 1);
    expect([below.status, below.json.code]).toEqual([409, 'balance_too_small']);
    for (const [credits, note, field] of [
      [0, 'x', 'credits'],
      [1.5, 'x', 'credits'],
      [1_000_000_001, 'x', 'credits'],
      [1, ' ', 'note'],
      [1, 'a\u0000', 'note'],
      [1, 'x'.repeat(501), 'note'],
    ]) {
      const { status, json } = await grant(credits, note);
      expect([status, json.field]).toEqual([400, field]);
    }
    const { grants } = (await call('GET', own('/ledger/days'))).json;
    const made = grants.map(({ credits, note }: { credits: number; note: string }) => [credits, note]);
    expect(made).toEqual(
      expect.arrayContaining([
        [-50, 'a mistake'],
        [50, 'invoice 7'],
      ]),
    );
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it("their actions are in the account's audit log, with their address, as operator", async () => {
    const auditLog = await lab.store.auditLog.list(member.account.id, { before: null, limit: 100 });
    expect(new Set(auditLog.map(({ actor }) => `${actor.kind} ${actor.name}`))).toEqual(
      new Set([`operator ${operator.person.email}`]),
    );
    const actions = auditLog.map(({ action }) => action);
    for (const action of ['account.suspended', 'account.resumed', 'credits.granted']) expect(actions).toContain(action);
  });

  it.each([
    ['GET', '/accounts/acc_nothing', undefined, 404],
    ['PATCH', '/accounts/acc_nothing', { name: 'x' }, 404],
    ['POST', '/accounts/acc_nothing/grants', { credits: 1, note: 'x' }, 404],
    ['GET', '/accounts/acc_nothing/ledger/days', undefined, 404],
    ['GET', '/accounts/acc_nothing/usage', undefined, 404],
    ['GET', '/accounts/acc_nothing/members', undefined, 404],
    ['GET', '/accounts?page=0', undefined, 400],
    ['GET', `/accounts?query=${'x'.repeat(201)}`, undefined, 400],
    ['POST', '/accounts', { name: 'x', plan: 'gold' }, 400],
    ['POST', '/accounts', { name: 'x', plan: 'starter', credits: -1 }, 400],
    ['POST', '/accounts', { name: 'x', plan: 'starter', rate_limit: 0 }, 400],
    ['POST', '/accounts', { name: '\u0007', plan: 'starter' }, 400],
  ])('%s %s %j is %i', async (method, path, body, status) => {
    expect((await call(method, path, body)).status).toBe(status);
  });

  it('an empty change is an error', async () => {
    expect((await call('PATCH', own(), {})).json.code).toBe('missing_parameter');
  });

  it('usage and members of an account are shown, and its log is not', async () => {
    await member.verify('a@good.com');
    const { totals } = (await call('GET', own('/usage'))).json;
    expect(totals.requests).toBeGreaterThan(0);
    const { members } = (await call('GET', own('/members'))).json;
    expect(members.every(({ is_you }: { is_you: boolean }) => !is_you)).toBe(true);
    expect((await call('GET', own('/log'))).status).toBe(404);
  });

  it('an operator is not a member and cannot see account data', async () => {
    expect((await operator.call('GET', `/dashboard/accounts/${member.account.id}/log`)).status).toBe(404);
  });
});

describe('the service, for operators', () => {
  it('the doctor reports the same findings as the command', async () => {
    expect((await call('GET', '/doctor')).json).toEqual({ last: null });
    const { json } = await call('POST', '/doctor', undefined);
    const checks = json.checks.map(({ check }: { check: string }) => check);
    for (const check of ['resolver', 'port', 'helo', 'lists', 'store', 'clock']) expect(checks).toContain(check);
    const store = json.checks.find(({ check }: { check: string }) => check === 'store');
    expect(store).toMatchObject({ result: 'pass', fix: null });
    expect(store.found).toMatch(/It accepts writes \((SQLite|PostgreSQL), version \d+\)/);
    expect(json.took_ms).toBeGreaterThan(0);
    // It is kept for whoever looks next.
    expect((await call('GET', '/doctor')).json).toEqual({ last: json });
  });

  it('the lists have an age; a failed update changes nothing and reports why', { timeout: 180_000 }, async () => {
    const before = (await call('GET', '/lists')).json;
    expect(before).toMatchObject({ problem: null, disposable_domains: expect.any(Number) });
    const failed = await call('POST', '/lists/update');
    expect([failed.status, failed.json.code]).toEqual([503, 'lists_not_updated']);
    expect(failed.json.error).toContain('returned 500');
    list = 'mailinator.com\n';
    expect((await call('POST', '/lists/update')).json.error).toContain('more than a fifth is gone');
    const { attempted_at, failed: why, ...after } = (await call('GET', '/lists')).json;
    expect({ ...after, attempted_at: null, failed: null }).toEqual(before);
    expect([attempted_at, why]).toEqual([expect.any(String), expect.stringContaining('more than a fifth is gone')]);
  });

  it('an update of the lists applies immediately', { timeout: 180_000 }, async () => {
    list = `${listedNow().join('\n')}\nthrowaway-7.com\n`;
    expect((await member.verify('a@throwaway-7.com')).json.is_disposable).toBe(false);
    const { status, json } = await call('POST', '/lists/update');
    expect(status).toBe(200);
    expect(json.message).toMatch(/ 1 added, 0 removed\.$/);
    expect((await member.verify('a@throwaway-7.com')).json.is_disposable).toBe(true);
  });
});
