import { expect, it } from 'vitest';
import { describeStores } from '../lab/stores.ts';
import { eraseAddress, member, oldVerifications, verifyNow } from './cast.ts';
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
});
