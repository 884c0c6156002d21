/** Export and erasure of a person by API. */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/kernel/ids.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { runSql } from '../lab/stores.ts';

let lab: Lab;
let who: Member;
const ALL = ['verify', 'lists', 'filters', 'privacy'] as const;
beforeAll(async () => {
  lab = await startLab();
  who = await lab.member({ rateLimit: 100_000, scopes: ALL });
});
afterAll(() => lab.close());

const ask = (what: 'export' | 'erase', body: unknown, member = who) => member.call('POST', `/v1/privacy/${what}`, body);
const held = async (body: unknown, member = who): Promise<Record<string, Record<string, unknown>[]>> =>
  (await ask('export', body, member)).json.held;

const filesWith = (text: string) =>
  ['', '-wal']
    .map((end) => lab.databaseUrl.slice('sqlite:'.length) + end)
    .filter((file) => existsSync(file) && readFileSync(file).includes(text));

describe('privacy', () => {
  it('needs a scope that a key has only where it was chosen', async () => {
    for (const member of [await lab.member(), await lab.member({ scopes: ['verify', 'log'] })])
      for (const what of ['export', 'erase'] as const)
        expect((await ask(what, { email: 'a@b.com' }, member)).json).toMatchObject({
          code: 'scope_missing',
          scope: 'privacy',
        });
  });

  it('names the field that is wrong', async () => {
    for (const [body, field] of [
      [{}, 'email'],
      [{ email: '' }, 'email'],
      [{ email: 'x'.repeat(1025) }, 'email'],
      [{ email: 'a@b.com', canonical: 'yes' }, 'canonical'],
    ] as const)
      expect((await ask('export', body)).json).toMatchObject({ field });
    expect((await ask('erase', { email: 'a@b.com', filters: 1 })).json).toMatchObject({ field: 'filters' });
  });

  it('exports an address, and with `canonical` its mailbox, of this account alone', async () => {
    const other = await lab.member({ scopes: ALL });
    await other.verify('ann.lee@good.com');
    const emails = ['ann.lee@good.com', 'Ann.Lee@good.com', 'ann.lee+1@good.com', 'xann.lee@good.com'];
    for (const email of emails) await who.verify(email, { scope: 'signup' }, { 'idempotency-key': email });
    await who.call('POST', '/v1/filters', { filter_type: 'email', value: 'ann.lee@good.com', reason: 'spam' });
    const one = await ask('export', { email: 'ANN.LEE@good.com' });
    expect(one.headers.get('content-type')).toMatch(/^application\/json/);
    expect(one.json).toMatchObject({ email: 'ANN.LEE@good.com', canonical: false });
    const { verifications = [], seen, filters, idempotency = [], trail = [] } = one.json.held;
    // Replies to other spellings name the address as their canonical form.
    expect(verifications.map(({ email }: { email: string }) => email)).toEqual(emails.slice(0, 3));
    expect(verifications[0].body.email).toBe('ann.lee@good.com');
    expect(idempotency).toHaveLength(3);
    expect(seen).toMatchObject([{ scope: 'signup', count: 4 - 1 }]);
    expect(filters).toMatchObject([{ value: 'ann.lee@good.com', reason: 'spam' }]);
    expect(trail.map(({ action }: { action: string }) => action)).toEqual(['filter.added']);
    expect(one.text).not.toContain('xann.lee');
    expect(one.text).not.toContain(other.account.id);
    const spelled = await held({ email: 'ann.lee+other@good.com', canonical: true });
    expect(spelled.verifications).toHaveLength(3);
    expect((await held({ email: 'nobody@good.com' })).verifications).toBeUndefined();
  });

  it('erases it everywhere, tells how much, and what mentions it still', async () => {
    const email = 'eve.erased@good.com';
    const own = await lab.member({ rateLimit: 100_000, scopes: ALL });
    const other = await lab.member({ scopes: ALL });
    await own.verify(email, { scope: 'signup' }, { 'idempotency-key': 'k' });
    await own.verify('mary@good.com');
    await own.call('POST', '/v1/filters', { filter_type: 'email', value: email });
    const upload = await own.call(
      'POST',
      '/v1/lists?name=eve',
      `email,name\n${email},Eve\nmary@good.com,of ${email}\n`,
      {
        'content-type': 'text/csv',
      },
    );
    expect(upload.status).toBe(201);
    const kept = await ask('erase', { email: email.toUpperCase() }, own);
    expect(kept.json).toMatchObject({
      tables: { verifications: expect.any(Number), idempotency: 1, seen: 1, list_blocks: 2, trail: 1 },
      kept: { filters: 1 },
    });
    expect((await ask('erase', { email, filters: true }, own)).json).toMatchObject({
      tables: { filters: 1 },
      kept: {},
    });
    expect(await held({ email }, own)).toEqual({});
    const rows = (await own.call('GET', `/v1/lists/${upload.json.id}/rows`)).text;
    expect(rows).toContain('mary@good.com');
    expect(rows).not.toContain('eve');
    if (lab.databaseUrl.startsWith('sqlite:')) expect(filesWith(email)).toEqual([]);
    const log = await lab.store.auditLog.list(own.account.id, { before: null, limit: 20 });
    const target = `sha256:${sha256Hex(email).slice(0, 16)}`;
    expect(log.filter(({ action }) => action === 'log.erased')).toMatchObject([
      { target, actor: { kind: 'key', id: own.keyId } },
      { target },
    ]);
    expect(log.map(({ action }) => action)).toContain('privacy.exported');
    expect(await lab.store.accounts.audit()).toEqual([]);
    // Whoever else has it keeps it.
    await other.verify(email);
    await ask('erase', { email, canonical: true }, own);
    expect((await held({ email }, other)).verifications).toHaveLength(1);
  });

  it('sends a large export piece by piece, and searches a log of any length', async () => {
    const own = await lab.member({ rateLimit: 100_000, scopes: ALL });
    await own.verify('many@good.com');
    const columns = `account_id, key_id, email, requested, validation_type, status, deliverability, reason, credits,
      client_ip, duration_ms, body, created_at, hold_id, via, held, decision`;
    const n = lab.databaseUrl.startsWith('sqlite:')
      ? '(WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 5000) SELECT i FROM s) AS s'
      : 'generate_series(1, 5000) AS s (i)';
    await runSql(
      lab.databaseUrl,
      `INSERT INTO verifications (id, ${columns}) SELECT id || s.i, ${columns} FROM verifications, ${n}
        WHERE email = 'many@good.com'`,
    );
    const all = await held({ email: 'many@good.com' }, own);
    expect(all.verifications).toHaveLength(5_001);
    expect((await ask('erase', { email: 'many@good.com' }, own)).json.tables).toMatchObject({ verifications: 5_001 });
  });
});
