import pg from 'pg';
import { expect, it } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { describeStores, ENGINE } from '../lab/stores.ts';
import { hold, type Member, member, verdict, verifyNow } from './cast.ts';
import { startProcess } from './processes.ts';

const ACCOUNTS = 24;
const WITHIN = { timeout: 40_000, interval: 100 };

const outcomeOf = (store: Store, who: Member) =>
  verifyNow(store, who).then(
    (admission) => admission.outcome,
    (error: { code: string }) => error.code,
  );

describeStores('an account that another session holds', (lab) => {
  const postgres = it.skipIf(ENGINE !== 'postgres');

  async function lockedBy(statement: string) {
    const client = new pg.Client({ connectionString: lab.url });
    await client.connect();
    await client.query('BEGIN');
    await client.query(statement);
    return {
      async release() {
        await client.query('COMMIT');
        await client.end();
      },
    };
  }

  postgres.each([
    ['row', ({ account }: Member) => `SELECT id FROM accounts WHERE id = '${account.id}' FOR UPDATE`],
    ['key', ({ key }: Member) => `UPDATE keys SET name = 'renamed' WHERE id = '${key.id}'`],
  ] as const)('by its %s keeps no other account waiting, and goes on when it is free', async (_what, statement) => {
    const store = await lab.open();
    const [held, ...others] = await Promise.all(Array.from({ length: ACCOUNTS }, () => member(store)));
    // Their keys have been used a while ago, so that the next request writes that.
    await Promise.all([held!, ...others].map((who) => verifyNow(store, who)));
    lab.clock.advance(120_000);
    const taken = await hold(store, held!, { level: 'smtp' });
    lab.clock.advance(120_000);
    const session = await lockedBy(statement(held!));
    const settlement = { caller: taken.caller, holdId: taken.id, record: verdict(taken.id), idempotency: null };
    const waiting = Promise.all([outcomeOf(store, held!), store.charging.settle(settlement).catch(() => null)]);
    for (let round = 0; round < 3; round += 1)
      expect(await Promise.all(others.map((who) => outcomeOf(store, who)))).toEqual(others.map(() => 'settled'));
    expect(store.charging.stats.setAside).toBeGreaterThan(0);
    await session.release();
    const [outcome] = await waiting;
    const tries: string[] = [outcome];
    while (tries.at(-1) !== 'settled') tries.push(await outcomeOf(store, held!));
    // One before, the settlement, and what was settled just now.
    await expect
      .poll(async () => store.accounts.get(held!.account.id), WITHIN)
      .toMatchObject({ balance: 97, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  postgres('does not keep the store from closing', async () => {
    const store = await lab.open();
    const who = await member(store);
    const session = await lockedBy(`SELECT id FROM accounts WHERE id = '${who.account.id}' FOR UPDATE`);
    const refused = expect(verifyNow(store, who)).rejects.toMatchObject({ code: 'verification_unavailable' });
    await new Promise(setImmediate);
    await store.close();
    await refused;
    await session.release();
  });
});

describeStores('a node that is frozen inside its transaction', (lab) => {
  it.skipIf(ENGINE !== 'postgres')(
    'keeps no other account waiting, and its own only until the server ends its session',
    { timeout: 25_000 },
    async () => {
      const store = await lab.open();
      const [own, ...others] = await Promise.all(Array.from({ length: ACCOUNTS }, () => member(store)));
      const frozen = await startProcess(lab.url, 'freeze', own!.hash);
      frozen.tell('go');
      const locks = `SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()`;
      await expect.poll(() => lab.sql(locks), WITHIN).toHaveLength(1);
      const waiting = outcomeOf(store, own!);
      for (let round = 0; round < 3; round += 1)
        expect(await Promise.all(others.map((who) => outcomeOf(store, who)))).toEqual(others.map(() => 'settled'));
      const tries = [await waiting];
      while (tries.at(-1) !== 'settled') tries.push(await outcomeOf(store, own!));
      expect(await store.accounts.get(own!.account.id)).toMatchObject({ balance: 99 });
      frozen.child.kill('SIGCONT');
      await frozen.ended();
      // Its transaction was rolled back, and run again on another connection.
      expect(frozen.said).toEqual(['settled']);
      expect(await store.accounts.get(own!.account.id)).toMatchObject({ balance: 98, locked: 0 });
      expect(await store.accounts.audit()).toEqual([]);
    },
  );
});
