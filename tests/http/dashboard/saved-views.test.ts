import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAVED_VIEWS_MAX, VIEW_NAME_LENGTH, VIEW_SEARCH_LENGTH } from '../../../src/kernel/facts/limits.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { type Client, of, signedIn } from './client.ts';

let lab: Lab;
let member: Member;
let user: Client;
beforeAll(async () => {
  lab = await startLab();
  member = await lab.member();
  user = await signedIn(lab, { account: member.account });
});
afterAll(() => lab.close());

const path = (rest = '') => of(member.account, `/views${rest}`);
const save = (name: string, search = 'status=rejected', who = user) =>
  who.call('POST', path(), { page: 'log', name, search });
const names = async (who = user, account = member.account) =>
  (await who.call('GET', of(account, '/views?page=log'))).json.views.map(({ name }: { name: string }) => name);

describe('saved views', () => {
  it('are named, listed by name, renamed and deleted', async () => {
    const { status, json } = await save(' Refused today ', 'status=rejected&range=24h');
    expect([status, json]).toEqual([
      201,
      { id: expect.stringMatching(/^view_/), name: 'Refused today', search: 'status=rejected&range=24h' },
    ]);
    await save('Bounces', 'deliverability=undeliverable');
    expect(await names()).toEqual(['Bounces', 'Refused today']);
    const renamed = await user.call('PATCH', path(`/${json.id}`), { name: 'All refused' });
    expect(renamed.json).toEqual({ ...json, name: 'All refused' });
    expect(await names()).toEqual(['All refused', 'Bounces']);
    expect((await user.call('DELETE', path(`/${json.id}`))).status).toBe(200);
    expect((await user.call('DELETE', path(`/${json.id}`))).json.code).toBe('not_found');
    expect((await user.call('PATCH', path(`/${json.id}`), { name: 'x' })).json.code).toBe('not_found');
    expect(await names()).toEqual(['Bounces']);
  });

  it('have names of their own', async () => {
    const other = (await save('Other')).json;
    const twice = await save('Bounces');
    expect([twice.status, twice.json.code, twice.json.field]).toEqual([422, 'view_exists', 'name']);
    const taken = await user.call('PATCH', path(`/${other.id}`), { name: 'Bounces' });
    expect([taken.status, taken.json.code]).toEqual([422, 'view_exists']);
    // Its own name is not taken.
    expect((await user.call('PATCH', path(`/${other.id}`), { name: 'Other' })).status).toBe(200);
  });

  it.each([
    [{ page: 'nowhere' }, 'page'],
    [{ name: '' }, 'name'],
    [{ name: '  ' }, 'name'],
    [{ name: 'x'.repeat(VIEW_NAME_LENGTH.max + 1) }, 'name'],
    [{ name: 'a\u202eb' }, 'name'],
    [{ search: '' }, 'search'],
    [{ search: 'x'.repeat(VIEW_SEARCH_LENGTH.max + 1) }, 'search'],
  ])('with %j are refused by name', async (wrong, field) => {
    const body = { page: 'log', name: 'Fine', search: 'status=bad', ...wrong };
    const { status, json } = await user.call('POST', path(), body);
    expect([status, json.field]).toEqual([400, field]);
  });

  it('are shared in the account, the same in test mode, and stay when who saved them leaves', async () => {
    const colleague = await signedIn(lab, { account: member.account, role: 'member' });
    const viewer = await signedIn(lab, { account: member.account, role: 'viewer' });
    const stranger = await signedIn(lab, { account: (await lab.member()).account });
    const { id } = (await save('Ours', 'status=good', colleague)).json;
    expect(await names()).toContain('Ours');
    expect(await names(viewer)).toContain('Ours');
    for (const [method, rest, body] of [
      ['POST', '', { page: 'log', name: 'Mine', search: 'status=bad' }],
      ['PATCH', `/${id}`, { name: 'Mine' }],
      ['DELETE', `/${id}`, undefined],
    ] as const)
      expect((await viewer.call(method, path(rest), body)).json.code).toBe('role_not_sufficient');
    expect((await stranger.call('GET', path('?page=log'))).status).toBe(404);
    const { account } = await lab.member();
    const owner = await signedIn(lab, { account });
    expect((await owner.call('DELETE', of(account, `/views/${id}`))).status).toBe(404);
    expect((await owner.call('PATCH', of(account, `/views/${id}`), { name: 'x' })).status).toBe(404);
    const { accounts } = (await colleague.call('GET', '/dashboard/session')).json;
    expect(await names(colleague, { ...member.account, id: accounts[0].test_account })).toContain('Ours');
    const by = { kind: 'service', id: null, name: '', ip: null } as const;
    await lab.store.members.remove(member.account.id, colleague.person.id, by);
    expect(await names()).toContain('Ours');
  });

  it('are bounded in number', async () => {
    for (let n = (await names()).length; n < SAVED_VIEWS_MAX; n++)
      expect((await save(`View ${n}`, 'status=bad')).status).toBe(201);
    const one = await save('One more', 'status=bad');
    expect([one.status, one.json.code]).toEqual([422, 'too_many_views']);
  });
});
