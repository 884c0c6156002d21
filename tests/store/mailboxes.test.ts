import { expect, it } from 'vitest';
import { mailboxOf } from '../../src/engine/address/mailbox.ts';
import { describeStores } from '../lab/stores.ts';
import { COMMAND, person } from './people.ts';

describeStores('mailboxes', (lab) => {
  it('of users who were there before belong to the first of those who share one', async () => {
    const store = await lab.open();
    const other = await lab.open();
    const ids: string[] = [];
    // More than one batch of them.
    for (let i = 0; i < 510; i += 1)
      ids.push(await person(store, `p.erson+${i}@${i % 2 ? 'gmail' : 'googlemail'}.com`));
    const mary = await person(store, 'Mary@example.com');
    const first = [...ids].sort()[0];
    await Promise.all([store.users.claimMailboxes(mailboxOf), other.users.claimMailboxes(mailboxOf)]);
    await store.users.claimMailboxes(mailboxOf);
    expect(await store.users.idByMailbox('person@gmail.com')).toBe(first);
    expect(await store.users.idByMailbox('mary@example.com')).toBe(mary);
    expect(await store.users.count()).toBe(511);
    // Once the first is gone, the next one's.
    await store.users.remove(first!, COMMAND);
    expect(await store.users.idByMailbox('person@gmail.com')).toBeNull();
    await store.users.claimMailboxes(mailboxOf);
    expect(await store.users.idByMailbox('person@gmail.com')).toBe([...ids].sort()[1]);
  });

  it('are claimed by one user each, however many try at once', async () => {
    const store = await lab.open();
    const ids = await Promise.all(Array.from({ length: 8 }, (_, i) => person(store, `a+${i}@example.com`)));
    const claims = await Promise.all(ids.map((id) => store.users.claimMailbox(id, 'a@example.com')));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await store.users.idByMailbox('a@example.com')).toBe(ids[claims.indexOf(true)]);
  });
});
