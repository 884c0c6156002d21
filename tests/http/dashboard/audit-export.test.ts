import type { Kysely } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tables } from '../../../src/store/tables.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { type Client, of, signedIn } from './client.ts';

let lab: Lab;
let member: Member;
let admin: Client;
beforeAll(async () => {
  lab = await startLab();
  member = await lab.member();
  admin = await signedIn(lab, { account: member.account, role: 'admin' });
});
afterAll(() => lab.close());

const auditLog = (path: string) => of(member.account, `/audit-log${path}`);
const linesOf = (text: string, end: string) => text.split(end).slice(0, -1);

describe('the audit log', () => {
  it('can be downloaded as CSV and as JSON Lines, with the entries of the page', async () => {
    await admin.call('PATCH', of(member.account), { name: '=HYPERLINK("cell")' });
    for (let i = 0; i < 3; i += 1) {
      const added = await admin.call('POST', of(member.account, '/filters'), { value: `f${i}.example.com` });
      expect([added.status, added.text]).toEqual([201, expect.any(String)]);
    }
    const { entries } = (await admin.call('GET', auditLog('?limit=100'))).json;
    const lines = await admin.call('GET', auditLog('.jsonl'));
    expect(linesOf(lines.text, '\n').map((line) => JSON.parse(line))).toEqual(entries);
    expect(lines.headers.get('content-disposition')).toBe('attachment; filename="audit-log.jsonl"');

    const { text, headers } = await admin.call('GET', auditLog('.csv'));
    expect(headers.get('content-disposition')).toBe('attachment; filename="audit-log.csv"');
    const [head, ...rows] = linesOf(text, '\r\n');
    expect(head).toBe('at,last_at,count,actor_kind,actor,ip,action,target,detail');
    expect(rows).toHaveLength(entries.length);
    expect(rows[0]).toContain(`,1,user,${admin.person.email},127.0.0.1,filter.added,f2.example.com,`);
    // Text for a spreadsheet, not a formula.
    await admin.call('PATCH', of(member.account), { name: 'Fabrikam' });
    const renamed = linesOf((await admin.call('GET', auditLog('.csv'))).text, '\r\n')[1]!;
    expect(renamed).toContain(`,account.renamed,"'=HYPERLINK(""cell"")",`);
  });

  it('is narrowed by what the entries are about', async () => {
    const actionsOf = async (path: string) =>
      linesOf((await admin.call('GET', auditLog(path))).text, '\n').map(
        (line) => JSON.parse(line).action.split('.')[0],
      );
    expect(new Set(await actionsOf('.jsonl?about=user'))).toEqual(new Set(['user']));
    expect(await actionsOf('.jsonl?about=account')).not.toContain('user');
    const wrong = await admin.call('GET', auditLog('.csv?about=x'));
    expect([wrong.status, wrong.json.code, wrong.json.field]).toEqual([400, 'invalid_parameter', 'about']);
  });

  it('is complete, however long', async () => {
    const own = await lab.member();
    const reader = await signedIn(lab, { account: own.account });
    const row = { actor_kind: 'service', actor_name: '', action: 'credits.granted', detail: '{}' } as const;
    const rows = Array.from({ length: 2_100 }, (_, i) => ({
      ...row,
      account_id: own.account.id,
      at: i,
      target: `${i}`,
    }));
    const db = lab.store.authDatabase.db as Kysely<Tables>;
    await db.insertInto('trail').values(rows).execute();
    const { text } = await reader.call('GET', of(own.account, '/audit-log.jsonl?about=account'));
    const targets = linesOf(text, '\n').map((line) => JSON.parse(line).target);
    expect(targets.slice(0, rows.length)).toEqual(rows.map(({ target }) => target).reverse());
  });

  it('is for admins, and for no one else', async () => {
    const plain = await signedIn(lab, { account: member.account, role: 'member' });
    const stranger = await signedIn(lab, { account: (await lab.member()).account });
    for (const path of ['.csv', '.jsonl']) {
      expect((await plain.call('GET', auditLog(path))).status).toBe(403);
      expect((await stranger.call('GET', auditLog(path))).status).toBe(404);
    }
  });
});

describe('operators', () => {
  it('see the sign-ins of all users, also of those without an account, and nothing else', async () => {
    const operator = await signedIn(lab, { operator: true });
    await admin.call('POST', of(member.account, '/filters'), { value: 'secret.example.com' });
    const { json, text } = await operator.call('GET', '/dashboard/operator/audit-log?limit=100');
    const owners = json.entries.map(({ target, account }: { target: string; account: string | null }) => [
      target,
      account,
    ]);
    expect(owners).toContainEqual([operator.person.email, null]);
    expect(owners).toContainEqual([admin.person.email, member.account.id]);
    expect(text).not.toContain('secret.example.com');
    const lines = await operator.call('GET', '/dashboard/operator/audit-log.jsonl');
    expect(linesOf(lines.text, '\n').map((line) => JSON.parse(line))).toEqual(json.entries);
    expect(linesOf((await operator.call('GET', '/dashboard/operator/audit-log.csv')).text, '\r\n')).toHaveLength(
      json.entries.length + 1,
    );
    for (const path of ['', '.csv', '.jsonl'])
      expect((await admin.call('GET', `/dashboard/operator/audit-log${path}`)).status).toBe(404);
  });
});
