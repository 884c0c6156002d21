import type { Kysely } from 'kysely';
import { expect, it } from 'vitest';
import type { Tables } from '../../src/store/tables.ts';
import { describeStores } from '../lab/stores.ts';
import { member, verifyNow } from './cast.ts';

describeStores('a secret of the store', (lab) => {
  it('is made on first use and stays, each by its name', async () => {
    const store = await lab.open();
    expect(await store.secret('sign-in', () => 'first')).toBe('first');
    expect(await store.secret('sign-in', () => 'second')).toBe('first');
    expect(await store.secret('other', () => 'third')).toBe('third');
    expect(await (await lab.open()).secret('sign-in', () => 'fourth')).toBe('first');
  });

  it('is the same for nodes that begin at once', async () => {
    const stores = [await lab.open(), await lab.open(), await lab.open()];
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, i) => stores[i % 3]!.secret('sign-in', () => `secret ${i}`)),
    );
    expect(new Set(made).size).toBe(1);
  });
});

describeStores('the sign-in library’s database', (lab) => {
  it('is the store’s, and says which engine it is', async () => {
    const store = await lab.open();
    const { db, type } = store.authDatabase;
    expect(type).toBe(lab.engine);
    expect(await (db as Kysely<Tables>).selectFrom('auth_users').select('id').execute()).toEqual([]);
  });

  it('may have transactions of its own while charges go on', async () => {
    const store = await lab.open();
    const other = await lab.open();
    const who = await member(store, { credits: 500 });
    const db = store.authDatabase.db as Kysely<Tables>;
    const change = (i: number) =>
      db.transaction().execute(async (trx) => {
        await trx
          .insertInto('secrets')
          .values({ name: `${i}`, value: 'a' })
          .execute();
        // Turns of the event loop, in which a charge could wait for the lock.
        await new Promise((resolve) => setTimeout(resolve, 5));
        await trx.updateTable('secrets').set({ value: 'b' }).where('name', '=', `${i}`).execute();
        if (i % 4 === 0) throw new Error('taken back');
      });
    const began = performance.now();
    const changes = Array.from({ length: 20 }, (_, i) => change(i));
    const charges = Array.from({ length: 200 }, async (_, i) => {
      await new Promise((resolve) => setTimeout(resolve, i));
      return verifyNow(i % 2 === 0 ? store : other, who);
    });
    const outcomes = await Promise.allSettled(changes);
    expect(outcomes.filter((outcome) => outcome.status === 'rejected')).toHaveLength(5);
    for (const answer of await Promise.all(charges)) expect(answer).toMatchObject({ outcome: 'settled' });
    // Nobody waited until SQLite's busy timeout.
    expect(performance.now() - began).toBeLessThan(4_000);
    expect(await lab.sql("SELECT name FROM secrets WHERE value = 'b'")).toHaveLength(15);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('takes text that an engine cannot keep for what is not there', async () => {
    const store = await lab.open();
    const db = store.authDatabase.db as Kysely<Tables>;
    for (const email of ['\0', 'a\0@example.com', '\ud800@example.com']) {
      expect(await db.selectFrom('auth_users').select('id').where('email', '=', email).execute()).toEqual([]);
      expect(await db.selectFrom('auth_users').select('id').where('email', 'in', [email]).execute()).toEqual([]);
    }
  });
});
