/** How PostgreSQL runs the statements of charging. */
import { expect, it } from 'vitest';
import { describeStores, ENGINE } from '../lab/stores.ts';
import { asking, BLOCKS, hold, member, newVerificationId, verdict, verifyNow } from './cast.ts';
import { listener } from './explained.ts';

describeStores('a charge', (lab) => {
  // Compiling takes hundreds of times longer than the statement, while the account is locked.
  it.skipIf(ENGINE !== 'postgres')('runs no statement that the server compiles first', async () => {
    const between = await listener(lab.url);
    const store = await lab.open({ url: between.url });
    const who = await member(store);
    // Under a lock, and then by what the node remembers.
    for (let i = 0; i < 3; i += 1) await verifyNow(store, who);
    await store.filters.add(who.account.id, { filterType: 'domain', value: 'example.com', reason: null, ...BLOCKS });
    const idempotency = { route: 'verify', key: 'once', fingerprint: 'a' };
    const seen = { scope: 'signup', mailbox: 'jane@example.com', spelling: 'jane@example.com' };
    for (let i = 0; i < 2; i += 1) await verifyNow(store, who, {}, { seen });
    const held = await hold(store, who, { idempotency, decide: () => null });
    await store.charging.settle({ caller: held.caller, record: verdict(held.id), holdId: held.id, idempotency });
    await store.close();
    await between.close();
    const explained = between.said().filter((text) => text.startsWith('Query Text:'));
    for (const run of [
      /FOR NO KEY UPDATE/,
      /WITH charged AS/,
      /JOIN filters/,
      /FROM idempotency/,
      /DELETE FROM holds/,
      /JOIN seen/,
    ])
      expect(explained).toContainEqual(expect.stringMatching(run));
    expect(explained.filter((text) => text.includes('JIT:'))).toEqual([]);
  });

  it.skipIf(ENGINE !== 'postgres')('of an account with filters is one statement, unless one matches', async () => {
    const between = await listener(lab.url);
    const store = await lab.open({ url: between.url });
    const who = await member(store);
    for (const value of ['other@example.com', 'third@example.com'])
      await store.filters.add(who.account.id, { filterType: 'email', value, reason: null, ...BLOCKS });
    for (let i = 0; i < 3; i += 1) await verifyNow(store, who);
    const of = async (email: string) => {
      const before = between.said().length;
      const id = newVerificationId();
      const free = { credits: 0, reason: 'blocked_by_filter' } as const;
      const decide = (filter: unknown) => verdict(id, filter === null ? {} : free);
      const { balance } = await store.charging.admit(asking(who, { id, filterKeys: { email }, decide }));
      const said = between.said().slice(before).join('\n');
      return { balance, charges: said.match(/charged AS/g)?.length, locks: said.includes('FOR NO KEY UPDATE') };
    };
    expect(await of('jane@example.com')).toEqual({ balance: 96, charges: 1, locks: false });
    expect(await of('other@example.com')).toEqual({ balance: 96, charges: 1, locks: true });
    await store.close();
    await between.close();
  });
});
