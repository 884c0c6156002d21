import { expect, it } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { describeStores, ENGINE } from '../lab/stores.ts';
import { asking, type Member, member, newVerificationId, verdict, verifyNow } from './cast.ts';
import { commitProxy } from './commit-proxy.ts';
import { stallable } from './stall.ts';

const LATE = { code: 'verification_unavailable', details: { retry_after: 5 } };
const WITHIN = { timeout: 40_000, interval: 100 };

const recorded = async (store: Store, { account }: Member) =>
  (await store.verifications.list(account.id, { offset: 0, limit: 1 })).total;

/** Until the store charges again. Returns how often it did. */
async function again(store: Store, who: Member): Promise<number> {
  const outcome = () =>
    verifyNow(store, who).then(
      (admission) => admission.outcome,
      (error: { code: string }) => error.code,
    );
  await expect.poll(outcome, WITHIN).toBe('settled');
  return 1;
}

describeStores('a store that hangs', (lab) => {
  it('is waited for only so long: nothing of what waited is charged, then or later', { timeout: 25_000 }, async () => {
    const link = await stallable(lab.url);
    const store = await lab.open({ url: link.url });
    const who = await member(store, { credits: 100 });
    await verifyNow(store, who);
    await link.stall();
    const asked = Array.from({ length: 20 }, () => verifyNow(store, who));
    for (const answer of await Promise.allSettled(asked))
      expect(answer).toMatchObject({ status: 'rejected', reason: LATE });
    link.resume();
    const charged = 1 + (await again(store, who));
    expect(await recorded(store, who)).toBe(charged);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 100 - charged, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
    await store.close();
    await link.close();
  });

  it('charges all who still wait, once each, when it goes on', { timeout: 25_000 }, async () => {
    const link = await stallable(lab.url);
    const store = await lab.open({ url: link.url });
    const who = await member(store, { credits: 100 });
    await verifyNow(store, who);
    await link.stall();
    // More than one transaction of a lane takes.
    const first = Array.from({ length: 20 }, () => verifyNow(store, who));
    await new Promise((resolve) => setTimeout(resolve, 300));
    const asked = [...first, ...Array.from({ length: 20 }, () => verifyNow(store, who))];
    await new Promise((resolve) => setTimeout(resolve, 300));
    link.resume();
    for (const answer of await Promise.all(asked)) expect(answer).toMatchObject({ outcome: 'settled' });
    expect(await recorded(store, who)).toBe(41);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 59, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
    await store.close();
    await link.close();
  });

  it('charges nobody who left before their transaction', { timeout: 40_000 }, async () => {
    const link = await stallable(lab.url);
    const store = await lab.open({ url: link.url });
    const [left, stayed] = [await member(store, { credits: 100 }), await member(store, { credits: 100 })];
    await Promise.all([verifyNow(store, left), verifyNow(store, stayed)]);
    await link.stall();
    let gone = false;
    const ask = (who: Member) => {
      const id = newVerificationId();
      return store.charging.admit({
        ...asking(who, { id, decide: () => verdict(id) }),
        hasDisconnected: () => gone && who === left,
      });
    };
    // Under way when the others come.
    const first = ask(left).then(
      () => 1,
      () => 0,
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    const asked = Promise.allSettled(Array.from({ length: 10 }, () => [ask(left), ask(stayed)]).flat());
    await new Promise((resolve) => setTimeout(resolve, 300));
    gone = true;
    link.resume();
    await asked;
    const charged = 1 + (await first);
    expect(await recorded(store, left)).toBe(charged);
    expect(await store.accounts.get(left.account.id)).toMatchObject({ balance: 100 - charged, locked: 0 });
    expect(store.charging.stats.dropped + store.charging.stats.expired).toBeGreaterThanOrEqual(10);
    expect(await store.accounts.audit()).toEqual([]);
    await store.close();
    await link.close();
  });

  it.skipIf(ENGINE !== 'postgres')(
    'in the middle of a commit: what was charged has its result, and a hold that nobody waits for is released',
    { timeout: 60_000 },
    async () => {
      const proxy = await commitProxy(lab.url);
      const store = await lab.open({ url: proxy.url });
      const direct = await lab.open();
      const [settled, held] = [await member(store, { credits: 100 }), await member(store, { credits: 100 })];
      const idempotency = { route: 'POST /v1/verify', key: 'k', fingerprint: 'f' };
      for (const who of [settled, held]) await verifyNow(store, who);
      proxy.stallAfterCommit();
      const id = newVerificationId();
      const answers = await Promise.allSettled([
        store.charging.admit(asking(settled, { id, idempotency, decide: () => verdict(id) })),
        store.charging.admit(asking(held, { level: 'smtp', holdMs: 3_600_000 })),
      ]);
      const late = answers.filter((answer) => answer.status === 'rejected');
      expect(late.length).toBeGreaterThan(0);
      for (const answer of late) expect(answer).toMatchObject({ reason: LATE });
      proxy.stall(false);
      const again = () => direct.charging.admit(asking(settled, { idempotency, decide: () => verdict(id) }));
      await expect.poll(async () => (await again()).outcome, WITHIN).toBe('replay');
      expect(await again()).toMatchObject({ outcome: 'replay', reply: { body: verdict(id).body } });
      expect(await recorded(direct, settled)).toBe(2);
      const balances = async () => direct.accounts.get(held.account.id);
      await expect.poll(balances, WITHIN).toMatchObject({ balance: 99, locked: 0 });
      expect(await direct.accounts.get(settled.account.id)).toMatchObject({ balance: 98, locked: 0 });
      expect(await direct.accounts.audit()).toEqual([]);
      await store.close();
      await proxy.close();
    },
  );
});
