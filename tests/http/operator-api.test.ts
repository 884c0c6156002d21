import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createMailvet } from '../../sdk/src/index.ts';
import type { OperatorScope } from '../../src/kernel/facts/scopes.ts';
import { OPERATOR_SCOPES } from '../../src/kernel/facts/scopes.ts';
import { createOperatorKey } from '../../src/service/operator-keys.ts';
import { type Lab, type Reply, request, startLab } from '../lab/service.ts';
import { describeStores, runSql } from '../lab/stores.ts';

const BY = { kind: 'command', id: null, name: 'test', ip: null } as const;
const LOOPBACK = ['127.0.0.1'];
const DAY = 86_400_000;

let lab: Lab;
/** A second node on the same store. */
let other: Lab;
let key: string;

const operatorKey = (limits: { allowIps?: string[]; scopes?: readonly OperatorScope[]; expiresAt?: number } = {}) =>
  createOperatorKey(
    lab.store,
    { name: 'billing', allowIps: LOOPBACK, scopes: OPERATOR_SCOPES, expiresAt: Date.now() + DAY, ...limits },
    BY,
  );

const by =
  (value: string, url = lab.url) =>
  (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
    request(url, method, `/v1/operator/accounts${path}`, body, { authorization: `Bearer ${value}`, ...headers });
const call = (...input: Parameters<ReturnType<typeof by>>) => by(key)(...input);
const codeOf = ({ status, json }: Reply) => [status, json.code];

describeStores('the operator API', () => {
  beforeAll(async () => {
    lab = await startLab();
    other = await startLab({ MAILVET_DATABASE_URL: lab.databaseUrl });
    key = (await operatorKey()).value;
  }, 60_000);
  afterAll(async () => {
    await other.close();
    await lab.close();
  });

  it('refuses an operator key at everything of an account with 403 and the reason', async () => {
    const at = (method: string, path: string, body?: unknown) =>
      request(lab.url, method, path, body, { authorization: `Bearer ${key}` });
    for (const reply of [
      await at('POST', '/v1/verify', { email: 'a@good.com' }),
      await at('GET', '/v1/usage'),
      await at('GET', '/v1/filters'),
      await at('GET', '/compat/kickbox/v2/verify?email=a@good.com'),
    ])
      expect(reply.status, reply.text).toBe(403);
    const { json } = await at('POST', '/v1/verify', { email: 'a@good.com' });
    expect(json).toMatchObject({ code: 'api_key_required', error: expect.stringContaining('operator key') });
  });

  it('refuses keys that are unknown, revoked, expired, used from elsewhere, or without the scope', async () => {
    const usage = (value: string) => by(value)('GET', '/acc_none/usage');
    expect(codeOf(await usage(`mv_op_${'x'.repeat(32)}`))).toEqual([401, 'invalid_api_key']);
    expect(codeOf(await usage(`mv_live_${'x'.repeat(32)}`))).toEqual([403, 'operator_key_required']);
    const elsewhere = await operatorKey({ allowIps: ['192.0.2.0/24'] });
    expect(codeOf(await usage(elsewhere.value))).toEqual([403, 'ip_not_allowed']);
    const narrow = await operatorKey({ scopes: ['credits'] });
    const refused = await usage(narrow.value);
    expect([...codeOf(refused), refused.json.scope]).toEqual([403, 'scope_missing', 'usage']);
    const revoked = await operatorKey();
    await lab.store.operatorKeys.revoke(revoked.key.id, BY);
    expect(codeOf(await usage(revoked.value))).toEqual([401, 'revoked_api_key']);
    const old = await operatorKey();
    await runSql(lab.databaseUrl, `UPDATE operator_keys SET expires_at = 1 WHERE id = '${old.key.id}'`);
    expect(codeOf(await usage(old.value))).toEqual([401, 'expired_api_key']);
  });

  it.each([
    [[]],
    [['0.0.0.0/0']],
    [['127.0.0.1', '::/0']],
    [['nowhere']],
  ])('makes no key for the allowlist %j', async (allowIps) => {
    await expect(operatorKey({ allowIps })).rejects.toMatchObject({ details: { field: 'allow_ips' } });
  });

  it.each([-DAY, 800 * DAY])('makes no key that expires in %d ms', async (ms) => {
    const expiresAt = Date.now() + ms;
    await expect(operatorKey({ expiresAt })).rejects.toMatchObject({ details: { field: 'expires_at' } });
  });

  it('creates an account with an owner to invite, and finds it by what the caller calls it', async () => {
    const externalId = `customer-${randomUUID()}`;
    const body = { name: 'Contoso', plan: 'premium', credits: 40, external_id: externalId, owner: 'owner@good.com' };
    const made = await call('POST', '', body);
    expect(made.status, made.text).toBe(201);
    const { id } = made.json;
    expect(made.headers.get('location')).toBe(`/v1/operator/accounts/${id}`);
    expect(made.json).toMatchObject({ balance: 40, plan: 'premium', external_id: externalId, status: 'active' });
    expect(made.json.invitation.link).toContain('/invitation#token=');
    expect(await lab.store.members.invitations(id)).toMatchObject([{ email: 'owner@good.com', role: 'owner' }]);
    const { json: found } = await call('GET', `?query=${externalId}&per_page=5`);
    expect(found.accounts.map((account: { id: string }) => account.id)).toEqual([id]);
    expect(found.pagination).toMatchObject({ total_count: 1, per_page: 5 });
    expect((await call('GET', `/${id}`)).json).toMatchObject({ id, name: 'Contoso', low_balance: null });
    const again = await call('POST', '', body);
    expect([...codeOf(again), again.json.account]).toEqual([422, 'external_id_taken', id]);
    const log = await lab.store.auditLog.list(id, { before: null, limit: 10 });
    expect(log.map(({ action, actor }) => [action, actor.kind, actor.name])).toEqual([
      ['member.invited', 'operator_key', 'billing'],
      ['account.created', 'operator_key', 'billing'],
    ]);
  });

  it('creates one account where two nodes are asked for the same external_id at once', async () => {
    const body = { name: 'Race', external_id: randomUUID() };
    const made = await Promise.all(
      Array.from({ length: 16 }, (_, n) => by(key, n % 2 === 0 ? lab.url : other.url)('POST', '', body)),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(made.filter(({ json }) => json.code === 'external_id_taken')).toHaveLength(15);
  });

  it('grants once for each external_id, however often and wherever it is asked', async () => {
    const { account } = await lab.member({ credits: 10 });
    const grant = { credits: 5000, external_id: `pay_${randomUUID()}`, note: 'Invoice 7' };
    const replies = await Promise.all(
      Array.from({ length: 64 }, (_, n) =>
        by(key, n % 2 === 0 ? lab.url : other.url)('POST', `/${account.id}/grants`, grant),
      ),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
    expect(replies.filter(({ json }) => json.repeated === false)).toHaveLength(1);
    expect((await lab.store.accounts.get(account.id))?.balance).toBe(5010);
    const { json: ledger } = await call('GET', `/${account.id}/ledger`);
    expect(ledger.rows.filter(({ note }: { note: string }) => note === 'Invoice 7')).toHaveLength(1);
    // Also under another name: the credits and the account are what counts.
    const other7 = await call('POST', `/${account.id}/grants`, { ...grant, note: 'Other' });
    expect(other7.json).toMatchObject({ repeated: true, note: 'Invoice 7', balance: 5010 });
    const more = await call('POST', `/${account.id}/grants`, { ...grant, credits: 5001 });
    expect(codeOf(more)).toEqual([409, 'grant_conflict']);
    const { account: second } = await lab.member();
    expect(codeOf(await call('POST', `/${second.id}/grants`, grant))).toEqual([409, 'grant_conflict']);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it('does not grant again when the account is gone', async () => {
    const grant = { credits: 7, external_id: randomUUID() };
    const { json: first } = await call('POST', '', { name: 'First', external_id: 'reborn' });
    expect((await call('POST', `/${first.id}/grants`, grant)).status).toBe(201);
    expect((await call('DELETE', `/${first.id}`)).status).toBe(200);
    expect((await call('GET', `/${first.id}`)).status).toBe(404);
    expect((await call('POST', `/${first.id}/grants`, grant)).status).toBe(404);
    // The id of the account is free again; that of the grant is not.
    const { json: second } = await call('POST', '', { name: 'Second', external_id: 'reborn' });
    expect(codeOf(await call('POST', `/${second.id}/grants`, grant))).toEqual([409, 'grant_conflict']);
    const [deleted] = await lab.store.auditLog.list('all', { before: null, limit: 1, about: 'user' });
    expect(deleted).toMatchObject({ action: 'account.deleted', target: 'First', actor: { kind: 'operator_key' } });
  });

  it('takes credits back down to 0, and no further', async () => {
    const { account } = await lab.member({ credits: 30 });
    const take = (credits: number) =>
      call(
        'POST',
        `/${account.id}/grants`,
        { credits, external_id: randomUUID() },
        { 'idempotency-key': randomUUID() },
      );
    expect(codeOf(await take(-31))).toEqual([409, 'balance_too_small']);
    expect((await take(-30)).json.balance).toBe(0);
    expect(codeOf(await take(0))).toEqual([400, 'invalid_parameter']);
    // What was refused had no effect, so that its external_id is free.
    const refused = { credits: -1, external_id: randomUUID() };
    expect((await call('POST', `/${account.id}/grants`, refused)).status).toBe(409);
    await lab.store.accounts.grant(account.id, 1, 'more');
    expect((await call('POST', `/${account.id}/grants`, refused)).json).toMatchObject({ repeated: false, balance: 0 });
  });

  it('replays replies for an Idempotency-Key, without what is shown once', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = { name: 'Once', owner: 'once@good.com' };
    const first = await call('POST', '', body, headers);
    const second = await call('POST', '', body, headers);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.json).toEqual({ ...first.json, invitation: { mailed: false, link: null } });
    expect(codeOf(await call('POST', '', { ...body, name: 'Other' }, headers))).toEqual([
      422,
      'idempotency_key_reused',
    ]);
    // Another operator key has Idempotency-Keys of its own.
    expect((await by((await operatorKey()).value)('POST', '', body, headers)).json.id).not.toBe(first.json.id);
    const keyHeaders = { 'idempotency-key': randomUUID() };
    const made = await call('POST', `/${first.json.id}/keys`, { name: 'site' }, keyHeaders);
    expect(made.json.value).toMatch(/^mv_live_[0-9A-Za-z]{32}$/);
    const repeated = await call('POST', `/${first.json.id}/keys`, { name: 'site' }, keyHeaders);
    expect(repeated.json).toEqual({ ...made.json, value: null });
    expect(await lab.store.keys.list(first.json.id)).toHaveLength(1);
    const stored = JSON.stringify(await runSql(lab.databaseUrl, 'SELECT body FROM idempotency'));
    expect(stored).not.toContain(made.json.value);
    expect(stored).not.toContain(first.json.invitation.link);
  });

  it('answers one of many equal requests with an Idempotency-Key, and has the others wait', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        by(key, n % 2 === 0 ? lab.url : other.url)('POST', '', { name: 'Twelve' }, headers),
      ),
    );
    const ids = new Set(made.flatMap(({ status, json }) => (status === 201 ? [json.id] : [])));
    expect(ids.size).toBe(1);
    for (const reply of made.filter(({ status }) => status !== 201))
      expect(codeOf(reply)).toEqual([409, 'idempotency_in_progress']);
  });

  it('makes API keys with limits, which work, and revokes those of the account alone', async () => {
    const { account } = await lab.member({ credits: 100 });
    const settings = { name: 'site', scopes: ['verify'], monthly_credits: 1 };
    const { json: made } = await call('POST', `/${account.id}/keys`, settings);
    const verify = () =>
      request(lab.url, 'POST', '/v1/verify', { email: 'a@good.com' }, { authorization: `Bearer ${made.value}` });
    expect((await verify()).status).toBe(200);
    expect(codeOf(await verify())).toEqual([402, 'key_budget_spent']);
    const { json: test } = await call('POST', `/${account.id}/keys`, { name: 'test', test: true });
    expect(test.value).toMatch(/^mv_test_/);
    const stranger = await lab.member();
    expect((await call('DELETE', `/${stranger.account.id}/keys/${made.id}`)).status).toBe(404);
    for (const { id } of [made, test])
      expect((await call('DELETE', `/${account.id}/keys/${id}`)).json.revoked_at).not.toBeNull();
    expect(codeOf(await verify())).toEqual([401, 'revoked_api_key']);
  });

  it('changes, suspends and resumes accounts, and shows what they see', async () => {
    const member = await lab.member({ credits: 100, plan: 'starter' });
    const { id } = member.account;
    await member.verify('a@good.com');
    const { json: own } = await member.call('GET', '/v1/usage');
    const { json: seen } = await call('GET', `/${id}/usage`);
    expect(seen).toEqual({ ...own, rate_limit: { ...own.rate_limit, remaining: expect.any(Number) } });
    const { json: changed } = await call('PATCH', `/${id}`, { plan: 'premium', low_balance: 20, rate_limit: 77 });
    expect(changed).toMatchObject({ plan: 'premium', low_balance: 20, rate_limit: 77, rate_limit_set: true });
    expect((await call('PATCH', `/${id}`, {})).status).toBe(400);
    expect((await call('POST', `/${id}/suspend`)).json.status).toBe('suspended');
    expect((await member.verify('a@good.com')).status).toBe(401);
    expect((await call('POST', `/${id}/resume`)).json.status).toBe('active');
    expect((await member.verify('a@good.com')).status).toBe(200);
  });

  it('knows nothing of test accounts and of accounts that are not there', async () => {
    const { account } = await lab.member();
    const test = await lab.store.accounts.testAccount(account.id);
    for (const id of [test.id, 'acc_missing'])
      for (const [method, path, body] of [
        ['GET', ''],
        ['PATCH', '', { name: 'x' }],
        ['DELETE', ''],
        ['POST', '/grants', { credits: 1, external_id: randomUUID() }],
        ['POST', '/keys', { name: 'x' }],
        ['GET', '/usage'],
        ['GET', '/ledger'],
      ] as const)
        expect([method, path, (await call(method, `/${id}${path}`, body)).status]).toEqual([method, path, 404]);
    const { json } = await call('GET', '?per_page=100');
    expect(json.accounts.some(({ id }: { id: string }) => id === test.id)).toBe(false);
  });

  it('is there in the client', async () => {
    const { operator } = createMailvet({ url: lab.url, key });
    const made = await operator.accounts.create({ name: 'Client' }, { idempotencyKey: randomUUID() });
    const { id } = made;
    await operator.accounts.grant(id, { credits: 3, external_id: randomUUID() });
    expect((await operator.accounts.get(id)).balance).toBe(3);
    expect((await operator.accounts.list({ query: id })).accounts).toHaveLength(1);
    expect((await operator.accounts.change(id, { name: 'Renamed' })).name).toBe('Renamed');
    const apiKey = await operator.accounts.createKey(id, { name: 'site' });
    expect((await operator.accounts.revokeKey(id, apiKey.id)).revoked_at).not.toBeNull();
    expect((await operator.accounts.usage(id)).credits.remaining).toBe(3);
    expect((await operator.accounts.ledger(id, { limit: 1 })).rows).toHaveLength(1);
    expect((await operator.accounts.suspend(id)).status).toBe('suspended');
    expect((await operator.accounts.resume(id)).status).toBe('active');
    await operator.accounts.remove(id);
    await expect(operator.accounts.get(id)).rejects.toMatchObject({ status: 404 });
  });
});
