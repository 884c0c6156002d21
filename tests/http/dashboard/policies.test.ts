import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { type Client, of, signedIn } from './client.ts';

let lab: Lab;
let api: Member;
let member: Client;
beforeAll(async () => {
  lab = await startLab();
  api = await lab.member({ rateLimit: 100_000, credits: 100_000 });
  member = await signedIn(lab, { account: api.account, role: 'member' });
});
afterAll(() => lab.close());

const POLICY = {
  signals: { disposable: 'reject', role: 'review' },
  validation_type: 'mx',
  timeout_ms: 5_000,
  on_outage: 'accept',
  messages: { role: { en: 'Your own, please.' } },
};

describe('policies in the dashboard', () => {
  it('are listed, saved, changed and deleted by members, and the audit log says by whom', async () => {
    const put = await member.call('PUT', of(api.account, '/policies/b2b'), POLICY);
    expect(put.json).toMatchObject({ name: 'b2b', built_in: false, messages: POLICY.messages });
    const { json } = await member.call('GET', of(api.account, '/policies'));
    expect(json.policies.map(({ name }: { name: string }) => name)).toEqual(['signup', 'strict', 'b2b']);
    expect((await api.call('GET', '/v1/policies/b2b')).json.signals.role).toBe('review');
    const refused = await member.call('PUT', of(api.account, '/policies/signup'), POLICY);
    expect([refused.status, refused.json.code]).toEqual([422, 'policy_built_in']);
    expect((await member.call('DELETE', of(api.account, '/policies/b2b'))).status).toBe(200);
    expect((await member.call('DELETE', of(api.account, '/policies/b2b'))).status).toBe(404);
    const entries = await lab.store.auditLog.list(api.account.id, { before: null, limit: 10 });
    const ours = entries.filter(({ action }) => action.startsWith('policy.'));
    expect(ours.map(({ action, actor }) => [action, actor.kind, actor.id])).toEqual([
      ['policy.deleted', 'user', member.person.id],
      ['policy.created', 'user', member.person.id],
    ]);
  });

  it('are those of the account alone', async () => {
    const other = await lab.member();
    const stranger = await signedIn(lab, { account: other.account });
    await member.call('PUT', of(api.account, '/policies/mine'), POLICY);
    expect((await stranger.call('GET', of(api.account, '/policies'))).status).toBe(404);
    expect((await stranger.call('DELETE', of(other.account, '/policies/mine'))).status).toBe(404);
    const { json } = await stranger.call('GET', of(other.account, '/policies'));
    expect(json.policies).toHaveLength(2);
  });

  it('that are not saved are tried on the newest verifications of the account', async () => {
    const mine = await lab.member({ rateLimit: 100_000 });
    const who = await signedIn(lab, { account: mine.account });
    const tried = (rules: object) => who.call('POST', of(mine.account, '/policies/try'), rules);
    expect((await tried(POLICY)).json).toEqual({
      tried: 0,
      decided: { accept: 0, review: 0, reject: 0 },
      items: [],
    });
    for (const email of ['a@good.com', 'info@good.com', 'b@mailinator.com', 'c@null-mx.com']) await mine.verify(email);
    const { json } = await tried(POLICY);
    expect(json).toMatchObject({ tried: 4, decided: { accept: 1, review: 1, reject: 2 } });
    expect(json.items).toMatchObject([
      { email: 'c@null-mx.com', action: 'reject', because: ['undeliverable'] },
      { email: 'b@mailinator.com', action: 'reject', because: ['disposable'] },
      { email: 'info@good.com', action: 'review', because: ['role'] },
    ]);
    const entry = await who.call('GET', of(mine.account, `/log/${json.items[0].id}`));
    expect(entry.json.entry).toMatchObject({ email: 'c@null-mx.com', decision: null });
    expect((await who.call('GET', of(mine.account, '/policies'))).json.policies).toHaveLength(2);
    const wrong = await tried({ ...POLICY, messages: { role: { english: 'x' } } });
    expect([wrong.status, wrong.json.code]).toEqual([422, 'invalid_policy']);
  });
});

describe('a policy that an auth hook names', () => {
  it('cannot be deleted: the hook would accept everything', async () => {
    const mine = await lab.member();
    const admin = await signedIn(lab, { account: mine.account, role: 'admin' });
    await mine.call('PUT', '/v1/policies/guarded', { signals: { disposable: 'reject' } });
    const hook = { kind: 'generic', name: 'Sign-up form', policy: 'guarded' };
    const made = await admin.call('POST', of(mine.account, '/hooks'), hook);
    expect(made.status).toBe(201);
    for (const refused of [
      await mine.call('DELETE', '/v1/policies/guarded'),
      await admin.call('DELETE', of(mine.account, '/policies/guarded')),
    ]) {
      expect([refused.status, refused.json.code, refused.json.hooks]).toEqual([422, 'policy_in_use', ['Sign-up form']]);
      expect(refused.json.error).toContain('Sign-up form');
    }
    expect((await mine.call('GET', '/v1/policies/guarded')).status).toBe(200);
    await admin.call('DELETE', of(mine.account, `/hooks/${made.json.hook?.id ?? made.json.id}`));
    expect((await mine.call('DELETE', '/v1/policies/guarded')).status).toBe(200);
  });
});

describe('the log by decision', () => {
  it('finds verifications by what their policy said, or did not', async () => {
    const mine = await lab.member();
    const who = await signedIn(lab, { account: mine.account });
    await mine.verify('a@good.com', { policy: 'signup' });
    await mine.verify('b@mailinator.com', { policy: 'signup' });
    await mine.verify('c@good.com');
    const found = async (query: Record<string, string>) => {
      const { json } = await who.call('GET', `${of(mine.account, '/log')}?${new URLSearchParams(query)}`);
      return json.entries.map(({ email }: { email: string }) => email);
    };
    expect(await found({ decision: 'reject' })).toEqual(['b@mailinator.com']);
    expect(await found({ decision: 'accept' })).toEqual(['a@good.com']);
    expect(await found({ decision: 'accept', not: 'decision' })).toEqual(['c@good.com', 'b@mailinator.com']);
    const wrong = await who.call('GET', of(mine.account, '/log?decision=maybe'));
    expect([wrong.status, wrong.json.field]).toEqual([400, 'decision']);
    const csv = await who.call('GET', of(mine.account, '/log.csv?decision=reject'));
    const [head, row] = csv.text.trim().split('\r\n');
    expect(row!.split(',')[head!.split(',').indexOf('decision')]).toBe('reject');
  });
});
