import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/kernel/clock.ts';
import { KEY_PATTERN } from '../../../src/kernel/ids.ts';
import { type Lab, type Member, request, startLab } from '../../lab/service.ts';
import { type Client, of, signedIn } from './client.ts';

const DAY = 86_400_000;
let lab: Lab;
let member: Member;
let admin: Client;
let stranger: Client;
/** The service's own clock can be set ahead; that of a PostgreSQL store cannot. */
let ahead = 0;
const clock: Clock = { now: () => Date.now() + ahead, elapsed: () => performance.now() };
beforeAll(async () => {
  lab = await startLab({}, { clock });
  member = await lab.member();
  admin = await signedIn(lab, { account: member.account, role: 'admin' });
  stranger = await signedIn(lab, { account: (await lab.member()).account });
});
afterAll(() => lab.close());

const keys = () => of(member.account, '/keys');
const make = async (name: string, allow_ips: string[] = []) =>
  (await admin.call('POST', keys(), { name, allow_ips })).json as { key: { id: string; name: string }; value: string };
const usage = (key: string) => request(lab.url, 'GET', '/v1/usage', undefined, { authorization: `Bearer ${key}` });
const listed = async (id: string) =>
  (await admin.call('GET', keys())).json.keys.find((key: { id: string }) => key.id === id);

describe('keys in the dashboard', () => {
  it('works: a key is made, shown once, used, and listed without its value', async () => {
    const made = await admin.call('POST', keys(), { name: ' Shop ', allow_ips: ['127.0.0.1', '2001:DB8::/32'] });
    expect(made.status).toBe(201);
    const { key, value } = made.json;
    expect(value).toMatch(KEY_PATTERN);
    expect(key).toMatchObject({
      name: 'Shop',
      key: `mv_live_…${value.slice(-4)}`,
      allow_ips: ['127.0.0.1', '2001:db8::/32'],
      state: 'active',
      last_used_at: null,
      notices: ['never_used'],
    });
    expect((await usage(value)).status).toBe(200);
    const all = await admin.call('GET', keys());
    expect(all.json.keys[0]).toMatchObject({ id: key.id, notices: [], last_used_ip: '127.0.0.1' });
    expect(all.text).not.toContain(value);
  });

  it.each(['0.0.0.0/0', '::/0'])('is as open to all with a list that has %s', async (block) => {
    const { key } = await make('wide', ['192.0.2.1', block]);
    expect((await listed(key.id)).notices).toEqual(['never_used', 'open_to_all']);
  });

  it('names what is worth a look: never used, idle, open to all', async () => {
    const { key, value } = await make('idle');
    expect((await listed(key.id)).notices).toEqual(['never_used', 'open_to_all']);
    await usage(value);
    expect((await listed(key.id)).notices).toEqual(['open_to_all']);
    ahead = 91 * DAY;
    try {
      const again = await signedIn(lab, { account: member.account, role: 'admin' });
      const { json } = await again.call('GET', keys());
      expect(json.keys.find((k: { id: string }) => k.id === key.id).notices).toEqual(['idle', 'open_to_all']);
    } finally {
      ahead = 0;
    }
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
  ])('%j is refused by the field that is wrong', async (body, field) => {
    const { status, json } = await admin.call('POST', keys(), body);
    expect([status, json.field]).toEqual([400, field]);
  });

  it('name and allowlist change at once; nothing to change is said', async () => {
    const { key, value } = await make('old name');
    const path = `${keys()}/${key.id}`;
    const { json } = await admin.call('PATCH', path, { name: 'new name', allow_ips: ['192.0.2.0/24'] });
    expect(json).toMatchObject({ name: 'new name', allow_ips: ['192.0.2.0/24'] });
    expect((await usage(value)).json.code).toBe('ip_not_allowed');
    expect((await admin.call('PATCH', path, { allow_ips: [] })).json.name).toBe('new name');
    expect((await usage(value)).status).toBe(200);
    expect((await admin.call('PATCH', path, {})).json.code).toBe('missing_parameter');
  });

  it('revoking takes the name; it is in force for the very next request, and final', async () => {
    const { key, value } = await make('to be revoked');
    const path = `${keys()}/${key.id}/revoke`;
    const wrong = await admin.call('POST', path, { name: 'To be revoked' });
    expect([wrong.status, wrong.json.code, wrong.json.field]).toEqual([422, 'confirmation_mismatch', 'name']);
    expect((await usage(value)).status).toBe(200);
    const revoked = await admin.call('POST', path, { name: 'to be revoked' });
    expect(revoked.json).toMatchObject({ state: 'revoked', notices: [] });
    expect((await usage(value)).json.code).toBe('revoked_api_key');
    // It stays listed, after those that are in force.
    const { json } = await admin.call('GET', keys());
    expect(json.keys.at(-1)).toMatchObject({ id: key.id, state: 'revoked' });
    const edited = await admin.call('PATCH', `${keys()}/${key.id}`, { name: 'again' });
    expect([edited.status, edited.json.code]).toEqual([422, 'key_revoked']);
    const first = (await listed(key.id)).revoked_at;
    expect((await admin.call('POST', path, { name: 'to be revoked' })).json.revoked_at).toBe(first);
  });

  it('is revoked while another client calls: every request begun afterwards is refused', async () => {
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

  it('rolling makes a key with the same settings and ends the old one after the grace', async () => {
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

  it('a rolled key can be ended before its grace is over', async () => {
    const { key, value } = await make('in a hurry');
    await admin.call('POST', `${keys()}/${key.id}/roll`, { grace_seconds: 2_592_000 });
    expect((await usage(value)).status).toBe(200);
    await admin.call('POST', `${keys()}/${key.id}/revoke`, { name: 'in a hurry' });
    expect((await usage(value)).status).toBe(401);
    expect((await admin.call('POST', `${keys()}/${key.id}/roll`, { grace_seconds: 0 })).status).toBe(422);
  });

  it.each([-1, 2_592_001, 1.5, '60', null])('a grace of %j is refused', async (grace_seconds) => {
    const { status, json } = await admin.call('POST', `${keys()}/${member.keyId}/roll`, { grace_seconds });
    expect([status, json.field]).toEqual([400, 'grace_seconds']);
  });

  it("another account's key is not there: 404, and it stays as it is", async () => {
    const other = of(await accountOf(stranger), `/keys/${member.keyId}`);
    const before = await listed(member.keyId);
    expect((await stranger.call('PATCH', other, { name: 'mine' })).status).toBe(404);
    expect((await stranger.call('POST', `${other}/revoke`, { name: before.name })).status).toBe(404);
    expect((await stranger.call('POST', `${other}/roll`, { grace_seconds: 0 })).status).toBe(404);
    expect(await listed(member.keyId)).toEqual(before);
  });

  it('who did what stands in the audit log, without a value', async () => {
    const reply = await admin.call('GET', of(member.account, '/trail?limit=100'));
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
