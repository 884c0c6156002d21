import { expect, it } from 'vitest';
import { DAY_MS } from '../../src/kernel/clock.ts';
import type { Sighting, Store } from '../../src/store/store.ts';
import { describeStores, type StoreLab } from '../lab/stores.ts';
import {
  asking,
  eraseAddress,
  hold,
  type Member,
  member,
  newVerificationId,
  purge,
  removeDeleted,
  verdict,
} from './cast.ts';
import { actions, BY } from './people.ts';

const sighting = (mailbox: string, scope = 'signup', spelling = mailbox): Sighting => ({ scope, mailbox, spelling });

/** Of a verdict that needs no network. */
async function seenNow(store: Store, who: Member, seen: Sighting): Promise<Record<string, unknown>> {
  const id = newVerificationId();
  const admission = await store.charging.admit(asking(who, { id, seen, decide: () => verdict(id) }));
  if (admission.outcome !== 'settled') throw new Error(`Not settled: ${JSON.stringify(admission)}`);
  return JSON.parse(admission.completed?.body ?? 'null').seen;
}

const rows = (lab: StoreLab, column = 'mailbox') => lab.sql(`SELECT ${column} FROM seen ORDER BY 1`);
/** Accounts whose number of mailboxes is not that of their rows. */
const miscounted = (lab: StoreLab) =>
  lab.sql(`SELECT account_id FROM seen_secrets s
    WHERE mailboxes <> (SELECT count(*) FROM seen WHERE seen.account_id = s.account_id)`);

describeStores('mailboxes that were seen', (lab) => {
  it('are remembered with the verdict that was held for, once however often it is settled', async () => {
    const store = await lab.open();
    const who = await member(store);
    const { id, caller } = await hold(store, who);
    expect(await rows(lab)).toEqual([]);
    const seen = sighting('jane@example.com');
    const settlement = { caller, holdId: id, record: verdict(id), idempotency: null, seen };
    const first = await store.charging.settle(settlement);
    expect(JSON.parse(first.completed?.body ?? '').seen).toMatchObject({ before: false, count: 1 });
    expect(await store.charging.settle(settlement)).toEqual(first);
    expect((await store.verifications.get(who.account.id, id))?.body).toBe(first.completed?.body);
    expect(await seenNow(store, who, seen)).toMatchObject({ before: true, count: 2 });
    expect(await miscounted(lab)).toEqual([]);
  });

  it('are not remembered by a request that got no verdict', async () => {
    const store = await lab.open();
    const who = await member(store);
    const { id, caller } = await hold(store, who);
    const seen = sighting('jane@example.com');
    await store.charging.settle({ caller, holdId: id, record: null, idempotency: null, seen });
    expect(await rows(lab)).toEqual([]);
  });

  it('are new to exactly one of the verdicts that two nodes settle at once', async () => {
    const stores = [await lab.open(), await lab.open()];
    const who = await member(stores[0]!, { credits: 1_000 });
    const held = await Promise.all(Array.from({ length: 32 }, (_, i) => hold(stores[i % 2]!, who)));
    const seen = sighting('jane@example.com');
    const settled = held.map(({ id, caller }, i) =>
      stores[i % 2]!.charging.settle({ caller, holdId: id, record: verdict(id), idempotency: null, seen }),
    );
    const now = Array.from({ length: 32 }, (_, i) => seenNow(stores[i % 2]!, who, seen));
    const replies = [
      ...(await Promise.all(settled)).map(({ completed }) => JSON.parse(completed?.body ?? '').seen),
      ...(await Promise.all(now)),
    ];
    expect(replies.filter(({ before }) => before === false)).toHaveLength(1);
    expect(new Set(replies.map(({ count }) => count)).size).toBe(64);
    expect(await stores[0]!.accounts.audit()).toEqual([]);
  });

  it('differ within a batch of several accounts and scopes', async () => {
    const store = await lab.open();
    const [a, b] = [await member(store), await member(store)];
    const asked = [a, b, a].flatMap((who) => ['signup', 'trial'].map((scope) => [who, scope] as const));
    const replies = await Promise.all(asked.map(([who, scope]) => seenNow(store, who, sighting('x@y.com', scope))));
    expect(replies.map(({ count }) => count)).toEqual([1, 1, 1, 1, 2, 2]);
    expect(new Set((await rows(lab)).map((row) => row.mailbox)).size).toBe(2);
    expect(await miscounted(lab)).toEqual([]);
  });

  it('end so long after they were last seen, and not while the clock is doubted', async () => {
    const store = await lab.open();
    const [who, other] = [await member(store), await member(store)];
    await seenNow(store, who, sighting('old@example.com'));
    await seenNow(store, other, sighting('old@example.com'));
    await seenNow(store, who, sighting('again@example.com'));
    lab.clock.advance(20 * DAY_MS);
    await seenNow(store, who, sighting('again@example.com'));
    const round = (seenMs: number) => store.upkeep.purge(100 * DAY_MS, undefined, seenMs);
    // By a clock that is wrong they would be over.
    await store.clock.read();
    lab.clock.step(400 * DAY_MS);
    expect(await round(30 * DAY_MS)).toEqual({ paused: true });
    expect(await seenNow(store, who, sighting('old@example.com'))).toMatchObject({ before: true, count: 2 });
    lab.clock.step(-400 * DAY_MS);
    await lab.sql(`UPDATE seen SET last_at = first_at WHERE count = 2 AND last_at > ${lab.clock.now()}`);
    expect(await round(21 * DAY_MS)).toMatchObject({ total: 0 });
    expect(await round(19 * DAY_MS)).toMatchObject({ deleted: { seen: 2 } });
    expect(await rows(lab)).toHaveLength(1);
    expect(await miscounted(lab)).toEqual([]);
    expect(await seenNow(store, who, sighting('old@example.com'))).toMatchObject({ before: false, count: 1 });
    expect(await seenNow(store, who, sighting('again@example.com'))).toMatchObject({ before: true, count: 3 });
    // Turned off.
    expect(await round(0)).toMatchObject({ deleted: { seen: 2 } });
    expect(await rows(lab)).toEqual([]);
  });

  it('are kept for a year where the purge is not told otherwise', async () => {
    const store = await lab.open();
    await seenNow(store, await member(store), sighting('x@y.com'));
    lab.clock.advance(364 * DAY_MS);
    await purge(lab, store, lab.clock.now() - 1_000 * DAY_MS);
    expect(await rows(lab)).toHaveLength(1);
    lab.clock.advance(2 * DAY_MS);
    await purge(lab, store, lab.clock.now() - 1_000 * DAY_MS);
    expect(await rows(lab)).toEqual([]);
  });

  it('are forgotten in all scopes with what is erased of an address, and only that mailbox', async () => {
    const store = await lab.open();
    const who = await member(store);
    for (const scope of ['signup', 'trial']) await seenNow(store, who, sighting('jane@example.com', scope));
    await seenNow(store, who, sighting('june@example.com'));
    // Two mailboxes and three records, of which `verdict` has made all for one address.
    expect(await eraseAddress(store, who.account.id, 'jane@example.com', BY, 'jane@example.com')).toBe(5);
    expect(await rows(lab)).toHaveLength(1);
    expect(await miscounted(lab)).toEqual([]);
    expect(await seenNow(store, who, sighting('june@example.com'))).toMatchObject({ before: true });
  });

  it('of a scope are forgotten in batches, which leave the others', async () => {
    const store = await lab.open();
    const who = await member(store);
    await seenNow(store, who, sighting('jane@example.com', 'trial'));
    await seenNow(store, who, sighting('jane@example.com'));
    await lab.sql(`INSERT INTO seen (account_id, mailbox, scope, spelling, count, first_at, last_at)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2600)
      SELECT '${who.account.id}', 'm' || i, CASE WHEN i % 2 = 0 THEN 'signup' ELSE 'trial' END, '', 1, 0, 0 FROM n`);
    await lab.sql('UPDATE seen_secrets SET mailboxes = 2602');
    expect(await store.seen.forgetScope(who.account.id, 'signup', BY)).toBe(1_301);
    expect(await rows(lab, 'DISTINCT scope')).toEqual([{ scope: 'trial' }]);
    expect(await miscounted(lab)).toEqual([]);
    expect(await actions(store, who.account.id)).toContain('scope.forgotten signup');
    expect(await store.auditLog.list(who.account.id, { before: null, limit: 1 })).toMatchObject([
      { detail: { forgotten: 1_301 } },
    ]);
  });

  it('go with the account, and its secret', async () => {
    const store = await lab.open();
    const [gone, stays] = [await member(store), await member(store)];
    for (const who of [gone, stays]) await seenNow(store, who, sighting('jane@example.com'));
    await store.accounts.remove(gone.account.id);
    await expect(store.seen.forget(gone.account.id, 'jane@example.com', null)).rejects.toThrow('no such account');
    expect(await removeDeleted(store)).toEqual([]);
    for (const table of ['seen', 'seen_secrets'])
      expect(await lab.sql(`SELECT account_id FROM ${table}`), table).toEqual([{ account_id: stays.account.id }]);
  });
});
