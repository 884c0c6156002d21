import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../src/kernel/ids.ts';
import type { Account } from '../../../src/store/store.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { type Client, of, signedIn } from './client.ts';

let lab: Lab;
let account: Account;
let owner: Client;
let admin: Client;
let plain: Client;
const BY = { kind: 'command', id: null, name: 'test', ip: null } as const;
beforeAll(async () => {
  lab = await startLab();
  [owner, admin, plain] = [await signedIn(lab), await signedIn(lab), await signedIn(lab)];
});
beforeEach(async () => {
  account = (await lab.member()).account;
  await lab.store.members.add(account.id, owner.person.id, 'owner', BY);
  await lab.store.members.add(account.id, admin.person.id, 'admin', BY);
  await lab.store.members.add(account.id, plain.person.id, 'member', BY);
});
afterAll(() => lab.close());

const path = (client: Client) => of(account, `/members/${client.person.id}`);
const setRole = (by: Client, whose: Client, role: unknown) => by.call('PATCH', path(whose), { role });
const remove = (by: Client, whom: Client) => by.call('DELETE', path(whom));
const invite = (by: Client, email: unknown, role: unknown = 'member') =>
  by.call('POST', of(account, '/invitations'), { email, role });
const roles = async () =>
  Object.fromEntries((await lab.store.members.list(account.id)).map(({ userId, role }) => [userId, role]));
const refusal = ({ status, json }: { status: number; json: { code: string; required_role?: string } }) => [
  status,
  json.code,
  json.required_role,
];

describe('members', () => {
  it('are listed with their roles; a role can be granted and revoked', async () => {
    const { json } = await plain.call('GET', of(account, '/members'));
    expect(json.members.map((m: Record<string, unknown>) => [m.email, m.role, m.is_you, m.second_factor])).toEqual([
      [owner.person.email, 'owner', false, false],
      [admin.person.email, 'admin', false, false],
      [plain.person.email, 'member', true, false],
    ]);
    expect((await setRole(admin, plain, 'admin')).status).toBe(200);
    expect((await plain.call('GET', of(account, '/audit-log'))).status).toBe(200);
    expect((await setRole(owner, plain, 'member')).status).toBe(200);
    expect((await plain.call('GET', of(account, '/audit-log'))).status).toBe(403);
  });

  it('are seen when they were active, whatever they did there', async () => {
    const activeOf = async (client: Client) => {
      const { json } = await owner.call('GET', of(account, '/members'));
      return json.members.find((m: { user_id: string }) => m.user_id === client.person.id).last_active_at;
    };
    expect(await activeOf(plain)).toBeNull();
    const before = Date.now();
    await plain.call('GET', of(account, '/filters'));
    await expect.poll(() => activeOf(plain), { timeout: 20_000, interval: 500 }).not.toBeNull();
    expect(Date.parse(await activeOf(plain))).toBeGreaterThanOrEqual(before);
    expect(await activeOf(admin)).toBeNull();
  }, 30_000);

  it('only owners grant and revoke the owner role', async () => {
    expect(refusal(await setRole(admin, plain, 'owner'))).toEqual([403, 'role_not_sufficient', 'owner']);
    expect(refusal(await setRole(admin, admin, 'owner'))).toEqual([403, 'role_not_sufficient', 'owner']);
    expect(refusal(await setRole(admin, owner, 'member'))).toEqual([403, 'role_not_sufficient', 'owner']);
    expect(refusal(await remove(admin, owner))).toEqual([403, 'role_not_sufficient', 'owner']);
    expect(refusal(await invite(admin, 'new@good.com', 'owner'))).toEqual([403, 'role_not_sufficient', 'owner']);
    expect((await setRole(owner, admin, 'owner')).status).toBe(200);
    expect((await setRole(admin, owner, 'member')).status).toBe(200);
    expect(await roles()).toMatchObject({ [owner.person.id]: 'member', [admin.person.id]: 'owner' });
  });

  it('the last owner cannot leave', async () => {
    for (const reply of [await setRole(owner, owner, 'admin'), await remove(owner, owner)])
      expect([reply.status, reply.json.code]).toEqual([422, 'last_owner']);
    expect(await roles()).toMatchObject({ [owner.person.id]: 'owner' });
  });

  it('anyone may leave; a member cannot remove others', async () => {
    expect(refusal(await remove(plain, admin))).toEqual([403, 'role_not_sufficient', 'admin']);
    expect((await remove(plain, plain)).json.message).toBe('You left the account.');
    expect((await plain.call('GET', of(account))).status).toBe(404);
    expect((await remove(owner, admin)).status).toBe(200);
    expect((await admin.call('GET', of(account))).status).toBe(404);
    expect(Object.keys(await roles())).toEqual([owner.person.id]);
  });

  it('non-members are 404', async () => {
    const stranger = await signedIn(lab, { account: (await lab.member()).account });
    expect((await setRole(owner, stranger, 'admin')).status).toBe(404);
    expect((await remove(owner, stranger)).status).toBe(404);
    expect((await stranger.call('GET', of(account, '/members'))).status).toBe(404);
    for (const role of ['boss', null, 7, 'OWNER']) expect((await setRole(owner, plain, role)).status).toBe(400);
  });
});

describe('invitations', () => {
  it('have a link valid for seven days, shown once, with the token in the fragment', async () => {
    const { status, json } = await invite(admin, ' New@Good.com ', 'admin');
    expect([status, json.mailed]).toEqual([201, false]);
    const token = new RegExp(`^${lab.url}/invitation#token=([0-9A-Za-z]{43})$`).exec(json.link)![1]!;
    const found = await lab.store.members.invitation(sha256Hex(token));
    expect(found).toMatchObject({ account: account.id, email: 'new@good.com', role: 'admin' });
    const listed = await plain.call('GET', of(account, '/members'));
    expect(listed.text).not.toContain(token);
    const [invitation] = listed.json.invitations;
    expect(invitation).toMatchObject({
      id: json.id,
      email: 'new@good.com',
      role: 'admin',
      invited_by: admin.person.email,
    });
    expect(Date.parse(invitation.expires_at) - Date.parse(invitation.created_at)).toBeGreaterThan(6.99 * 86_400_000);
    // A new one for the same address replaces it.
    await invite(owner, 'new@good.com', 'member');
    expect(await lab.store.members.invitation(sha256Hex(token))).toBe(null);
  });

  it('can be revoked only by admins of the account', async () => {
    const { json } = await invite(owner, 'other@good.com');
    const stranger = await signedIn(lab, { account: (await lab.member()).account });
    const [membership] = await lab.store.members.ofUser(stranger.person.id);
    const elsewhere = `/dashboard/accounts/${membership!.account}/invitations/${json.id}`;
    expect((await stranger.call('DELETE', elsewhere)).status).toBe(404);
    const withdraw = (by: Client) => by.call('DELETE', of(account, `/invitations/${json.id}`));
    expect((await withdraw(plain)).status).toBe(403);
    expect((await withdraw(admin)).status).toBe(200);
    expect((await withdraw(admin)).status).toBe(404);
  });

  it('for the owner role can be revoked and replaced only by owners', async () => {
    const { json } = await invite(owner, 'heir@good.com', 'owner');
    expect(refusal(await invite(admin, 'Heir@good.com', 'member'))).toEqual([403, 'role_not_sufficient', 'owner']);
    const withdraw = (by: Client) => by.call('DELETE', of(account, `/invitations/${json.id}`));
    expect(refusal(await withdraw(admin))).toEqual([403, 'role_not_sufficient', 'owner']);
    expect((await withdraw(owner)).status).toBe(200);
  });

  it.each([
    '',
    'nobody',
    '@good.com',
    'a@',
    'a b@good.com',
    'a@good.com\u0000',
    'a..b@good.com',
    // Mail might arrive, but nobody could sign in with them.
    'jörg@good.com',
    'a!b@good.com',
    7,
    null,
  ])('nobody is invited at %j', async (email) => {
    const { status, json } = await invite(owner, email);
    expect([status, json.field]).toEqual([400, 'email']);
  });

  it('are rejected for members, and beyond the limit', async () => {
    const again = await invite(owner, plain.person.email.toUpperCase());
    expect([again.status, again.json.code, again.json.field]).toEqual([422, 'already_member', 'email']);
    const statuses = [];
    for (let i = 0; i < 31; i += 1) statuses.push((await invite(owner, `p${i}@good.com`)).status);
    expect(statuses).toEqual([...Array(30).fill(201), 429]);
  });
});
