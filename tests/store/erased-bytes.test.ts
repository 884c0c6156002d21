/** After an erasure, the files of a SQLite store do not contain the address, not even in the write-ahead log. */
import { existsSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { describeStores, ENGINE } from '../lab/stores.ts';
import { eraseAddress, member, newVerificationId, verifyNow } from './cast.ts';
import { BY } from './people.ts';

const EMAIL = 'somebody.to.forget@example.com';
/** What a mail server said of it, which is kept with the verdict. */
const SAID = 'The account of our colleague in accounting is closed';

describe.runIf(ENGINE === 'sqlite')('the bytes of an erased address', () => {
  describeStores('on disk', (lab) => {
    const path = () => lab.url.slice('sqlite:'.length);
    const filesWithAddress = () =>
      ['', '-wal']
        .map((end) => path() + end)
        .filter((file) => existsSync(file))
        .filter((file) => [EMAIL, SAID].some((text) => readFileSync(file).includes(text)));

    async function recorded() {
      const store = await lab.open();
      const who = await member(store);
      for (let i = 0; i < 20; i += 1) {
        const id = newVerificationId();
        const idempotency = { route: 'POST /v1/verify', key: `k${i}`, fingerprint: 'f' };
        await verifyNow(
          store,
          who,
          { email: EMAIL, credits: 1, body: JSON.stringify({ id, email: EMAIL, checks: { smtp: { message: SAID } } }) },
          { id, idempotency },
        );
      }
      expect(filesWithAddress()).not.toEqual([]);
      return { store, account: who.account.id };
    }

    it('are gone with the reply', async () => {
      const { store, account } = await recorded();
      expect(await eraseAddress(store, account, EMAIL, BY)).toBe(20);
      expect(filesWithAddress()).toEqual([]);
    });

    it('are gone with the reply while somebody reads an old snapshot for a second; others are served', async () => {
      const { store, account } = await recorded();
      const reader = new DatabaseSync(path());
      reader.exec('BEGIN');
      reader.prepare('SELECT count(*) FROM verifications').get();
      const erased = eraseAddress(store, account, EMAIL, BY);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const before = performance.now();
      await store.ping();
      expect(performance.now() - before).toBeLessThan(500);
      reader.exec('COMMIT');
      reader.close();
      expect(await erased).toBe(20);
      expect(filesWithAddress()).toEqual([]);
    });

    it('are gone with the account', async () => {
      const { store, account } = await recorded();
      await store.accounts.remove(account);
      expect(await store.upkeep.removeAccount(account)).toBe(true);
      expect(filesWithAddress()).toEqual([]);
    });
  });
});
