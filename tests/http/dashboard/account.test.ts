import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_PLANS, termsOf } from '../../../src/kernel/facts/plans.ts';
import { PASSWORD } from '../../lab/person.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { type Client, of, signedIn } from './client.ts';

let lab: Lab;
let member: Member;
let admin: Client;
beforeAll(async () => {
  lab = await startLab({ MAILVET_RETENTION_DAYS: '30' });
  member = await lab.member({ credits: 50 });
  admin = await signedIn(lab, { account: member.account, role: 'admin' });
});
afterAll(() => lab.close());

const account = (path = '') => of(member.account, path);

describe('the account', () => {
  it('shows plan, limits, prices, balance, retention, role', async () => {
    expect((await admin.call('GET', account())).json).toEqual({
      id: member.account.id,
      name: member.account.name,
      plan: 'premium',
      status: 'active',
      rate_limit: 300,
      smtp_available: true,
      upgrade_required: null,
      prices: { mx: 1, smtp: 10, unknown: 1 },
      credits: { total: 50, remaining: 50, locked: 0, unlimited: false, allowance: 0, purchased: 50 },
      storage: {
        list_bytes: { used: 0, limit: termsOf(DEFAULT_PLANS, 'premium').listBytes },
        filters: { used: 0, limit: termsOf(DEFAULT_PLANS, 'premium').filters },
      },
      retention_days: 30,
      retention_days_max: 30,
      trust_bounces_days: null,
      second_factor_required: false,
      created_at: expect.any(String),
      role: 'admin',
    });
  });

  it('name and retention can change; retention is capped by the server’s', async () => {
    const changed = await admin.call('PATCH', account(), { name: ' Fabrikam ', retention_days: 7 });
    expect(changed.json).toMatchObject({ name: 'Fabrikam', retention_days: 7 });
    expect((await admin.call('PATCH', account(), { retention_days: null })).json.retention_days).toBe(30);
    const long = await admin.call('PATCH', account(), { retention_days: 31 });
    expect([long.status, long.json.code, long.json.field]).toEqual([422, 'retention_too_long', 'retention_days']);
    for (const wrong of [{ retention_days: 0 }, { retention_days: '7' }, { name: ' ' }, { name: 'a\u0000' }, {}])
      expect((await admin.call('PATCH', account(), wrong)).status).toBe(400);
    expect((await admin.call('GET', account())).json).toMatchObject({ name: 'Fabrikam', retention_days: 30 });
  });

  it('the ledger is complete across pages', async () => {
    const own = await lab.member({ credits: 100 });
    const who = await signedIn(lab, { account: own.account });
    for (let i = 0; i < 12; i += 1) await own.verify(`p${i}@good.com`);
    const rows: { amount: number }[] = [];
    for (let query = '?limit=5'; ; ) {
      const { json } = await who.call('GET', of(own.account, `/ledger${query}`));
      rows.push(...json.rows);
      if (json.next === null) break;
      query = `?limit=5&before=${json.next}`;
    }
    const { json } = await who.call('GET', of(own.account, '/ledger?limit=100'));
    expect(rows).toEqual(json.rows);
    expect(json.next).toBe(null);
    expect(rows.reduce((sum, { amount }) => sum + amount, 0)).toBe(88);
    expect(rows.at(-1)).toMatchObject({ kind: 'grant', amount: 100, charged: 0 });
  });

  it('the audit log has actor, action and IP address; newest first, in pages', async () => {
    const { json } = await admin.call('GET', account('/audit-log?limit=1&about=account'));
    expect(json.entries).toMatchObject([
      {
        actor: { kind: 'user', name: admin.person.email },
        ip: '127.0.0.1',
        action: 'account.retention_set',
        detail: { from: 7, to: null },
      },
    ]);
    const next = await admin.call('GET', account(`/audit-log?about=account&before=${json.next}`));
    expect(next.json.entries.map(({ action }: { action: string }) => action)).toEqual([
      'account.retention_set',
      'account.renamed',
      'member.added',
    ]);
    expect(next.json.next).toBe(null);
  });
});

describe('deleting an account', () => {
  it('requires its name and the owner’s password; keys and members lose access immediately', async () => {
    const own = await lab.member();
    const owner = await signedIn(lab, { account: own.account, role: 'owner' });
    const colleague = await signedIn(lab, { account: own.account, role: 'member' });
    await lab.store.members.add(member.account.id, colleague.person.id, 'member', {
      kind: 'command',
      id: null,
      name: 'test',
      ip: null,
    });
    const end = (body: unknown) => owner.call('POST', of(own.account, '/delete'), body);
    const misspelt = await end({ name: own.account.name.toUpperCase(), password: PASSWORD });
    expect([misspelt.status, misspelt.json.code]).toEqual([422, 'confirmation_mismatch']);
    const wrong = await end({ name: own.account.name, password: 'not the password at all' });
    expect([wrong.status, wrong.json.code]).toEqual([422, 'wrong_password']);
    expect((await own.verify('a@good.com')).status).toBe(200);

    expect((await end({ name: own.account.name, password: PASSWORD })).json.status).toBe('success');
    expect((await own.verify('a@good.com')).json.code).toBe('invalid_api_key');
    // The owner was in no other account, so their user was deleted. The colleague stays in the other account.
    expect((await owner.call('GET', of(own.account))).status).toBe(401);
    expect((await colleague.call('GET', of(own.account))).status).toBe(404);
    expect((await colleague.call('GET', account())).status).toBe(200);
  });

  it('is rejected after too many wrong passwords, even with the right one', async () => {
    const own = await lab.member();
    const owner = await signedIn(lab, { account: own.account, role: 'owner' });
    const end = (password: string) =>
      owner.call('POST', of(own.account, '/delete'), { name: own.account.name, password });
    const statuses = new Set<number>();
    for (let i = 0; i < 11; i += 1) statuses.add((await end(`wrong password ${i}`)).status);
    expect(statuses).toEqual(new Set([422, 429]));
    const { status, headers } = await end(PASSWORD);
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(await lab.store.accounts.get(own.account.id)).not.toBe(null);
  });
});
