import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyModeOf } from '../../../src/kernel/ids.ts';
import { type Lab, type Member, request, startLab } from '../../lab/service.ts';
import { runSql } from '../../lab/stores.ts';
import { type Client, of, signedIn } from './client.ts';

const DAY = 86_400_000;
let lab: Lab;
let member: Member;
let admin: Client;
let stranger: Client;
beforeAll(async () => {
  lab = await startLab();
  member = await lab.member();
  admin = await signedIn(lab, { account: member.account, role: 'admin' });
  stranger = await signedIn(lab, { account: (await lab.member()).account });
});
afterAll(() => lab.close());

const keys = () => of(member.account, '/keys');
const make = async (name: string, allow_ips: string[] = []) =>
  (await admin.call('POST', keys(), { name, allow_ips })).json as { key: { id: string; name: string }; value: string };
const usage = (key: string) => request(lab.url, 'GET', '/v1/usage', undefined, { authorization: `Bearer ${key}` });
/** As if it had been made eight days earlier. */
const age = (id: string) =>
  runSql(lab.databaseUrl, `UPDATE keys SET created_at = ${Date.now() - 8 * DAY} WHERE id = '${id}'`);
const listed = async (id: string) =>
  (await admin.call('GET', keys())).json.keys.find((key: { id: string }) => key.id === id);

describe('keys in the dashboard', () => {
  it('tell by day what they were used for, and who used them', async () => {
    const own = await lab.member({ credits: 100 });
    const who = await signedIn(lab, { account: own.account, role: 'member' });
    const unused = await who.call('GET', of(own.account, '/key-usage'));
    expect(unused.json).toMatchObject({ keys: [] });
    for (const email of ['a@good.com', 'b@good.com']) await own.verify(email);
    const rejection = {
      account: own.account.id,
      keyId: own.keyId,
      clientIp: '192.0.2.7',
      status: 400,
      code: 'missing_parameter',
    };
    const at = Date.now();
    await lab.store.rejectedRequests.add(
      [{ ...rejection, at, requestId: 'req_1', route: 'POST /v1/verify', via: null }],
      [],
    );
    const { json } = await who.call('GET', of(own.account, '/key-usage'));
    expect(json.days).toHaveLength(30);
    const requests = [...Array.from({ length: 29 }, () => 0), 2];
    expect(json.keys).toEqual([{ key_id: own.keyId, requests, rejected: 1 }]);
    const one = await who.call('GET', of(own.account, `/keys/${own.keyId}`));
    expect(one.json).toMatchObject({
      key: { id: own.keyId, name: 'test' },
      clients: [{ ip: '127.0.0.1', requests: 2, last_at: expect.stringMatching(/Z$/) }],
    });
    expect((await who.call('GET', of(own.account, `/keys/${member.keyId}`))).status).toBe(404);
    expect((await stranger.call('GET', of(own.account, `/keys/${own.keyId}`))).status).toBe(404);
  });

  it('can be created, are shown once, work, and are listed without their value', async () => {
    const made = await admin.call('POST', keys(), { name: ' Shop ', allow_ips: ['127.0.0.1', '2001:DB8::/32'] });
    expect(made.status).toBe(201);
    const { key, value } = made.json;
    expect(keyModeOf(value)).toBe('live');
    expect(key).toMatchObject({
      name: 'Shop',
      key: `mv_live_…${value.slice(-4)}`,
      allow_ips: ['127.0.0.1', '2001:db8::/32'],
      state: 'active',
      last_used_at: null,
      notices: [],
    });
    expect((await usage(value)).status).toBe(200);
    const all = await admin.call('GET', keys());
    expect(all.json.keys[0]).toMatchObject({ id: key.id, notices: [], last_used_ip: '127.0.0.1' });
    expect(all.text).not.toContain(value);
  });

  it.each(['0.0.0.0/0', '::/0'])('count as unrestricted with %s in the allowlist', async (block) => {
    const { key } = await make('wide', ['192.0.2.1', block]);
    await age(key.id);
    expect((await listed(key.id)).notices).toEqual(['never_used', 'open_to_all']);
  });

  it('have notices, but not in their first week: never used, idle, unrestricted', async () => {
    const { key, value } = await make('idle');
    expect((await listed(key.id)).notices).toEqual([]);
    await age(key.id);
    expect((await listed(key.id)).notices).toEqual(['never_used', 'open_to_all']);
    await usage(value);
    expect((await listed(key.id)).notices).toEqual(['open_to_all']);
    await runSql(lab.databaseUrl, `UPDATE keys SET last_used_at = ${Date.now() - 91 * DAY} WHERE id = '${key.id}'`);
    expect((await listed(key.id)).notices).toEqual(['idle', 'open_to_all']);
  });

  it.each([
    [{ name: '   ' }, 'name'],
    [{ name: 'a\u0000b' }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: 'x', allow_ips: ['300.1.1.1'] }, 'allow_ips'],
    [{ name: 'x', allow_ips: ['example.com'] }, 'allow_ips'],
    [{ name: 'x', allow_ips: '127.0.0.1' }, 'allow_ips'],
    [{ name: 'x', allow_ips: Array(201).fill('127.0.0.1') }, 'allow_ips'],
    [{ allow_ips: [] }, 'name'],
    [{ name: 'x', expires_at: '2020-01-01' }, 'expires_at'],
    [{ name: 'x', expires_at: 'soon' }, 'expires_at'],
    [{ name: 'x', scopes: [] }, 'scopes'],
    [{ name: 'x', scopes: ['admin'] }, 'scopes'],
    [{ name: 'x', monthly_credits: 0 }, 'monthly_credits'],
    [{ name: 'x', monthly_credits: 1.5 }, 'monthly_credits'],
  ])('%j is refused by the field that is wrong', async (body, field) => {
    const { status, json } = await admin.call('POST', keys(), body);
    expect([status, json.field]).toEqual([400, field]);
  });

  it('name and allowlist change immediately; an empty change is an error', async () => {
    const { key, value } = await make('old name');
    const path = `${keys()}/${key.id}`;
    const { json } = await admin.call('PATCH', path, { name: 'new name', allow_ips: ['192.0.2.0/24'] });
    expect(json).toMatchObject({ name: 'new name', allow_ips: ['192.0.2.0/24'] });
    expect((await usage(value)).json.code).toBe('ip_not_allowed');
    expect((await admin.call('PATCH', path, { allow_ips: [] })).json.name).toBe('new name');
    expect((await usage(value)).status).toBe(200);
    expect((await admin.call('PATCH', path, {})).json.code).toBe('missing_parameter');
  });

  it('revoking requires the name, applies to the next request and is final', async () => {
    const { key, value } = await make('to be revoked');
    const path = `${keys()}/${key.id}/revoke`;
    const wrong = await admin.call('POST', path, { name: 'To be revoked' });
    expect([wrong.status, wrong.json.code, wrong.json.field]).toEqual([422, 'confirmation_mismatch', 'name']);
    expect((await usage(value)).status).toBe(200);
    const revoked = await admin.call('POST', path, { name: 'to be revoked' });
    expect(revoked.json).toMatchObject({ state: 'revoked', notices: [] });
    expect((await usage(value)).json.code).toBe('revoked_api_key');
    // It stays listed, after the active ones.
    const { json } = await admin.call('GET', keys());
    expect(json.keys.at(-1)).toMatchObject({ id: key.id, state: 'revoked' });
    const edited = await admin.call('PATCH', `${keys()}/${key.id}`, { name: 'again' });
    expect([edited.status, edited.json.code]).toEqual([422, 'key_revoked']);
    const first = (await listed(key.id)).revoked_at;
    expect((await admin.call('POST', path, { name: 'to be revoked' })).json.revoked_at).toBe(first);
  });

  it('is limited by expiry, scopes and budget, which can be changed and taken back', async () => {
    const limits = { expires_at: '2999-01-01', scopes: ['verify', 'usage'], monthly_credits: 3 };
    const { json } = await admin.call('POST', keys(), { name: 'limited', ...limits });
    expect(json.key).toMatchObject({
      state: 'active',
      expires_at: '2999-01-01T00:00:00.000Z',
      scopes: ['verify', 'usage'],
      budget: { monthly_credits: 3, used: 0, resets_at: expect.stringMatching(/-01T00:00:00\.000Z$/) },
    });
    const path = `${keys()}/${json.key.id}`;
    const authorization = `Bearer ${json.value}`;
    await request(lab.url, 'POST', '/v1/verify', { email: 'a@good.com' }, { authorization });
    const changed = await admin.call('PATCH', path, { monthly_credits: 1, scopes: ['verify'] });
    expect(changed.json).toMatchObject({ name: 'limited', budget: { monthly_credits: 1, used: 1 } });
    expect(changed.json.notices).toContain('budget_spent');
    expect((await usage(json.value)).json.code).toBe('scope_missing');
    const rolled = await admin.call('POST', `${path}/roll`, { grace_seconds: 0 });
    expect(rolled.json.key).toMatchObject({ scopes: ['verify'], budget: { monthly_credits: 1, used: 1 } });
    const free = await admin.call('PATCH', `${keys()}/${rolled.json.key.id}`, {
      expires_at: null,
      monthly_credits: null,
      scopes: ['usage', 'webhooks', 'filters', 'lists', 'verify'],
    });
    expect(free.json).toMatchObject({ expires_at: null, budget: null });
    expect((await usage(rolled.json.value)).status).toBe(200);
  });

  it('that has expired is listed so, cannot be rolled, and can be given a later expiry', async () => {
    const expires_at = new Date(Date.now() + 1_500).toISOString();
    const { json } = await admin.call('POST', keys(), { name: 'short-lived', expires_at });
    await expect.poll(async () => (await listed(json.key.id)).state, { timeout: 5_000 }).toBe('expired');
    const path = `${keys()}/${json.key.id}`;
    const rolled = await admin.call('POST', `${path}/roll`, { grace_seconds: 0 });
    expect([rolled.status, rolled.json.code]).toEqual([422, 'key_expired']);
    expect((await admin.call('PATCH', path, { expires_at, name: 'kept' })).json.state).toBe('expired');
    expect((await admin.call('PATCH', path, { expires_at: '2999-01-01' })).json.state).toBe('active');
    expect((await usage(json.value)).status).toBe(200);
  });

  it('revoking during traffic rejects every later request', async () => {
    const { key, value } = await make('busy');
    let revoked = false;
    const begunAfter: number[] = [];
    const calling = Array.from({ length: 4 }, async () => {
      for (let i = 0; i < 200; i += 1) {
        const after = revoked;
        const { status } = await usage(value);
        if (after) {
          begunAfter.push(status);
          return;
        }
      }
    });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect((await admin.call('POST', `${keys()}/${key.id}/revoke`, { name: 'busy' })).status).toBe(200);
    revoked = true;
    await Promise.all(calling);
    expect(begunAfter.length).toBeGreaterThan(0);
    expect(new Set(begunAfter)).toEqual(new Set([401]));
  });

  it('rolling creates a key with the same settings and revokes the old one after the grace period', async () => {
    const { key, value } = await make('rolled', ['127.0.0.0/8']);
    const path = `${keys()}/${key.id}/roll`;
    const { status, json } = await admin.call('POST', path, { grace_seconds: 1 });
    expect(status).toBe(201);
    expect(json.key).toMatchObject({ name: 'rolled', allow_ips: ['127.0.0.0/8'], state: 'active' });
    const old = await listed(key.id);
    expect(old.state).toBe('expiring');
    expect((await usage(value)).status).toBe(200);
    expect((await usage(json.value)).status).toBe(200);
    const twice = await admin.call('POST', path, { grace_seconds: 1 });
    expect([twice.status, twice.json.code]).toEqual([422, 'key_revoked']);
    await new Promise((resolve) => setTimeout(resolve, Date.parse(old.revoked_at) - Date.now() + 20));
    expect((await usage(value)).json.code).toBe('revoked_api_key');
    expect((await usage(json.value)).status).toBe(200);
    expect((await listed(key.id)).state).toBe('revoked');
  });

  it('a rolled key can be revoked within its grace period', async () => {
    const { key, value } = await make('in a hurry');
    await admin.call('POST', `${keys()}/${key.id}/roll`, { grace_seconds: 2_592_000 });
    expect((await usage(value)).status).toBe(200);
    await admin.call('POST', `${keys()}/${key.id}/revoke`, { name: 'in a hurry' });
    expect((await usage(value)).status).toBe(401);
    expect((await admin.call('POST', `${keys()}/${key.id}/roll`, { grace_seconds: 0 })).status).toBe(422);
  });

  it.each([-1, 2_592_001, 1.5, '60', null])('a grace period of %j is rejected', async (grace_seconds) => {
    const { status, json } = await admin.call('POST', `${keys()}/${member.keyId}/roll`, { grace_seconds });
    expect([status, json.field]).toEqual([400, 'grace_seconds']);
  });

  it("another account's key is 404 and stays unchanged", async () => {
    const other = of(await accountOf(stranger), `/keys/${member.keyId}`);
    const before = await listed(member.keyId);
    expect((await stranger.call('PATCH', other, { name: 'mine' })).status).toBe(404);
    expect((await stranger.call('POST', `${other}/revoke`, { name: before.name })).status).toBe(404);
    expect((await stranger.call('POST', `${other}/roll`, { grace_seconds: 0 })).status).toBe(404);
    expect(await listed(member.keyId)).toEqual(before);
  });

  it('changes are in the audit log, without key values', async () => {
    const reply = await admin.call('GET', of(member.account, '/audit-log?limit=100'));
    const actions = reply.json.entries.map((e: { action: string; target: string }) => `${e.action} ${e.target}`);
    for (const action of ['key.created Shop', 'key.changed old name', 'key.revoked busy', 'key.rolled rolled'])
      expect(actions).toContain(action);
    expect(reply.json.entries[0]).toMatchObject({ actor: { kind: 'user', name: admin.person.email }, ip: '127.0.0.1' });
    expect(reply.text).not.toMatch(/mv_live_[0-9A-Za-z]/);
  });
});

const accountOf = async (client: Client) => {
  const [membership] = await lab.store.members.ofUser(client.person.id);
  return (await lab.store.accounts.get(membership!.account))!;
};
