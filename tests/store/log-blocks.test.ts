import { expect, it } from 'vitest';
import { describeStores } from '../lab/stores.ts';
import { eraseAddress, member, newVerificationId, oldVerifications, verifyNow } from './cast.ts';
import { BY } from './people.ts';

const ALL = { id: null, reason: null, keyId: null, status: null, before: null, limit: 10 };

describeStores('the index on addresses', (lab) => {
  it('finds and erases addresses wherever they are in a long log, also where parts of it are gone', async () => {
    const store = await lab.open();
    const who = await member(store);
    const stranger = await member(store);
    const { id } = who.account;
    const search = async (email: string) =>
      (await store.verifications.search(id, { ...ALL, email })).items.map((item) => item.email);
    expect(await search('ada')).toEqual([]);
    expect(await eraseAddress(store, id, 'ada@first.example', BY)).toBe(0);
    await verifyNow(store, who, { email: 'Ada@first.example' });
    await lab.sql(oldVerifications(stranger, 9_000));
    await verifyNow(store, who, { email: 'ada@middle.example' });
    await verifyNow(store, stranger, { email: 'ada@stranger.example' });
    await lab.sql(oldVerifications(who, 9_000).replaceAll('ver_old_', 'ver_older_'));
    await verifyNow(store, who, { email: 'ada@last.example' });
    expect(await search('ada')).toEqual(['ada@last.example', 'ada@middle.example', 'Ada@first.example']);
    expect(await search('ada@m')).toEqual(['ada@middle.example']);
    await lab.sql('DELETE FROM verifications WHERE created_at = 0');
    expect(await search('ada')).toEqual(['ada@last.example', 'ada@middle.example', 'Ada@first.example']);
    expect(await eraseAddress(store, id, 'ADA@FIRST.example', BY)).toBe(1);
    expect(await search('ADA')).toEqual(['ada@last.example', 'ada@middle.example']);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('finds the newest verification of many addresses, of each block however often it is asked', async () => {
    const store = await lab.open();
    const [who, stranger] = [await member(store), await member(store)];
    const { id } = who.account;
    const odd = [
      'ÄRGER@Example.com',
      `${'x'.repeat(400)}@example.com`,
      `${'😀'.repeat(330)}@example.com`,
      'a\0b@example.com',
    ];
    const verified = async (email: string, by = who) => {
      const verification = newVerificationId();
      await verifyNow(store, by, { email }, { id: verification });
      return verification;
    };
    const late = lab.clock.now() + 1_000_000;
    const missing = Array.from({ length: 200 }, (_, i) => `nobody-${i}@example.com`);
    const newest = async (emails: readonly string[], until = late) => {
      const addresses = [...emails, ...missing].map((email) => ({ email, until }));
      const { byAddress } = await store.outcomes.verifications(id, [], addresses);
      expect(byAddress.slice(emails.length)).toEqual(missing.map(() => null));
      return byAddress.slice(0, emails.length).map((one) => one?.id ?? null);
    };
    expect(await newest(['ada@first.example'])).toEqual([null]);
    const first = await verified('Ada@first.example');
    const odds = [];
    for (const email of odd) odds.push(await verified(email));
    await verified('eve@first.example', stranger);
    const early = lab.clock.now();
    await lab.sql(oldVerifications(stranger, 9_000));
    lab.clock.advance(1_000);
    const middle = await verified('ada@middle.example');
    const again = await verified('ada@FIRST.example');
    await lab.sql(oldVerifications(who, 9_000).replaceAll('ver_old_', 'ver_older_'));
    for (let i = 0; i < 3; i += 1) {
      expect(await newest(['ADA@first.example', 'ada@middle.example', 'eve@first.example'])).toEqual([
        again,
        middle,
        null,
      ]);
      expect(await newest(['ada@first.example', 'ada@middle.example'], early)).toEqual([first, null]);
      expect(await newest(odd)).toEqual(odds);
    }
    const last = await verified('ada@middle.example');
    expect(await newest(['ada@middle.example'])).toEqual([last]);
    await lab.sql("DELETE FROM verifications WHERE created_at = 0 OR email = 'Ada@first.example'");
    expect(await newest(['ada@first.example', 'ada@first.example'], late)).toEqual([again, again]);
    expect(await newest(['ada@first.example'], early)).toEqual([null]);
  });
});
