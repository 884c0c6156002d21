import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sha256Hex } from '../../src/kernel/ids.ts';
import type { AccountId, Store } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { eraseAddress, hold, type Member, member, newVerificationId, purge, verdict, verifyNow } from './cast.ts';
import { startedList } from './list-cast.ts';
import { BY } from './people.ts';

const HOUR = 3600_000;

const emails = async (store: Store, account: AccountId) =>
  (await store.verifications.list(account, { offset: 0, limit: 100 })).items.map((item) => item.email);

const log = (store: Store, who: Member, email: string, key: string | null = null) => {
  const id = newVerificationId();
  const idempotency = key === null ? null : { route: 'POST /v1/verify', key, fingerprint: 'f' };
  return verifyNow(store, who, { email, credits: 1, body: JSON.stringify({ id, email }) }, { id, idempotency });
};

describeStores('erasing', (lab) => {
  it('takes what is recorded of an address, without regard to case, and nothing else; the sums agree', async () => {
    const store = await lab.open();
    const who = await member(store);
    const stranger = await member(store);
    const others = ['jane@example.com.au', 'xjane@example.com', 'jane_@example.com', 'jan%@example.com'];
    for (const email of ['jane@example.com', 'Jane@Example.COM', ...others]) await log(store, who, email);
    await log(store, stranger, 'jane@example.com');
    expect(await eraseAddress(store, who.account.id, 'JANE@example.com', BY)).toBe(2);
    expect((await emails(store, who.account.id)).sort()).toEqual(others.toSorted());
    expect(await emails(store, stranger.account.id)).toEqual(['jane@example.com']);
    expect(await eraseAddress(store, who.account.id, 'jan%@example.com', BY)).toBe(1);
    expect(await eraseAddress(store, who.account.id, 'jan', BY)).toBe(0);
    expect(await store.usage.summary(who.account.id, 0, lab.clock.now() + 1)).toMatchObject({
      requests: 6,
      credits: 6,
    });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it.each([
    ['GRÜSSE@example.com', 'grüsse@EXAMPLE.com'],
    ['ПОЧТА@пример.рф', 'почта@Пример.рф'],
    ['a\0@example.com', 'A\ufffd@example.com'],
    [`${'x'.repeat(400)}@example.com`, `${'X'.repeat(400)}@example.com`],
    ['', ''],
  ])('knows the case of all letters, and addresses of any length: %j', async (recorded, asked) => {
    const store = await lab.open();
    const who = await member(store);
    await log(store, who, recorded);
    await log(store, who, `${recorded}x`);
    expect(await eraseAddress(store, who.account.id, asked, BY)).toBe(1);
    expect(await store.verifications.list(who.account.id, { offset: 0, limit: 9 })).toMatchObject({ total: 1 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it.each([
    '0',
    '{}',
    'erased',
    'smtp',
    '"erased":',
    'log.erased',
    ',"x":"a@b"',
  ])('leaves the log and the audit log readable, and what is of others: %j', async (email) => {
    const store = await lab.open();
    const who = await member(store);
    await log(store, who, 'jane@example.com');
    await log(store, who, email);
    for (const one of [email, email]) await eraseAddress(store, who.account.id, one, BY);
    const entries = await store.auditLog.list(who.account.id, { before: null, limit: 10 });
    expect(entries.map(({ detail }) => detail)).toEqual([{ erased: 0 }, { erased: 1 }]);
    expect(await emails(store, who.account.id)).toEqual(['jane@example.com']);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('takes several addresses from one list at the same time', async () => {
    const store = await lab.open();
    const who = await member(store);
    const { id: account } = who.account;
    const list = await startedList(store, who, [
      'a@example.com',
      'jane@example.com',
      'b@example.com',
      'joe@example.com',
    ]);
    await Promise.all(['jane', 'joe'].map((name) => eraseAddress(store, account, `${name}@example.com`, BY)));
    const block = await store.lists.block(account, list, 0);
    expect(block?.rows.map(({ cells }) => cells.at(-1))).toEqual(['a@example.com', '', 'b@example.com', '']);
    expect(await store.lists.get(account, list)).toMatchObject({ rows: { addresses: 2 } });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('takes the replies that were kept for repeats, of verdicts at once and of those that were waited for', async () => {
    const store = await lab.open();
    const who = await member(store);
    await log(store, who, 'jane@example.com', 'at once');
    lab.clock.advance(HOUR);
    const idempotency = { route: 'POST /v1/verify', key: 'waited', fingerprint: 'f' };
    const held = await hold(store, who, { idempotency });
    lab.clock.advance(1_000);
    const body = JSON.stringify({ id: held.id, email: 'jane@example.com' });
    await store.charging.settle({
      caller: held.caller,
      holdId: held.id,
      record: verdict(held.id, { body }),
      idempotency,
    });
    await log(store, who, 'bob@example.com', 'other');
    await store.idempotency.finish(
      held.caller.accountId,
      { route: 'POST /v1/filters', key: 'filter', fingerprint: 'f' },
      { status: 201, headers: {}, body: 'x' },
    );
    expect(await eraseAddress(store, who.account.id, 'jane@example.com', BY)).toBe(2);
    const kept = await lab.sql('SELECT key, body FROM idempotency ORDER BY key');
    expect(kept.map((row) => row.key)).toEqual(['filter', 'other']);
    expect(JSON.stringify(await lab.sql('SELECT * FROM verifications'))).not.toContain('jane@');
    // The key may be used again, as after a day.
    expect(await log(store, who, 'jane@example.com', 'at once')).toMatchObject({ outcome: 'settled' });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('is told in the audit log once, with how many but without the address', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 2_000 });
    await Promise.all(Array.from({ length: 1_200 }, (_, i) => log(store, who, 'jane@example.com', `k${i}`)));
    expect(await eraseAddress(store, who.account.id, 'jane@example.com', BY)).toBe(1_200);
    expect(await eraseAddress(store, who.account.id, 'nobody@example.com', BY)).toBe(0);
    const [nobody, jane, ...more] = await store.auditLog.list(who.account.id, { before: null, limit: 10 });
    const target = `sha256:${sha256Hex('jane@example.com').slice(0, 16)}`;
    expect(jane).toMatchObject({ actor: BY, action: 'log.erased', target, detail: { erased: 2_400 } });
    expect(nobody).toMatchObject({ detail: { erased: 0 } });
    expect(more).toEqual([]);
    expect(await lab.sql('SELECT key FROM idempotency')).toEqual([]);
    expect(JSON.stringify(await lab.sql('SELECT * FROM trail'))).not.toContain('nobody@');
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('keeps the sums while charging, aging and another erasure run against it', async () => {
    const stores = [await lab.open(), await lab.open()];
    const who = await member(stores[0]!, { credits: 5_000 });
    const email = (i: number) => (i % 3 === 0 ? 'bob@example.com' : 'jane@example.com');
    await Promise.all(Array.from({ length: 600 }, (_, i) => log(stores[0]!, who, email(i), `k${i}`)));
    lab.clock.advance(1_000);
    await Promise.all([
      eraseAddress(stores[0]!, who.account.id, 'jane@example.com', BY),
      eraseAddress(stores[1]!, who.account.id, 'jane@example.com', BY),
      purge(lab, stores[1]!, lab.clock.now() - 500),
      ...Array.from({ length: 200 }, (_, i) => log(stores[i % 2]!, who, email(i))),
    ]);
    expect(await stores[0]!.accounts.audit()).toEqual([]);
    expect(await stores[0]!.accounts.get(who.account.id)).toMatchObject({ balance: 5_000 - 800 });
  });

  it.runIf(lab.engine === 'sqlite')('leaves no reply in the free room of the file', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 1_000 });
    const email = (i: number) => (i % 3 === 0 ? 'jane.doe@example.com' : `bob${i}@example.com`);
    for (let i = 0; i < 300; i += 1) await log(store, who, email(i), `k${i}`);
    expect(await eraseAddress(store, who.account.id, 'jane.doe@example.com', BY)).toBe(100);
    await store.close();
    const file = readFileSync(lab.url.slice('sqlite:'.length), 'latin1');
    expect(file.includes('"email":"bob1@example.com"')).toBe(true);
    expect(file.includes('"email":"jane.doe@')).toBe(false);
  });

  it('needs an account', async () => {
    const store = await lab.open();
    const gone = eraseAddress(store, 'acc_none' as AccountId, 'jane@example.com', BY);
    await expect(gone).rejects.toMatchObject({ code: 'not_found' });
  });
});
