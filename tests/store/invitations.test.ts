import { expect, it } from 'vitest';
import type { Role } from '../../src/kernel/facts/roles.ts';
import type { AccountId, Actor, Store } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { member, purge } from './cast.ts';
import { actions, BY, COMMAND, person, roles } from './people.ts';

const DAY = 24 * 3600_000;

describeStores('invitations', (lab) => {
  const invite = async (store: Store, account: AccountId, email: string, role: Role, tokenHash: string) => {
    const expiresAt = lab.clock.now() + DAY;
    return (await store.members.invite(account, { email, role, tokenHash, expiresAt }, COMMAND))!;
  };

  it('make whoever uses them a member, once', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const jane = await person(store, 'jane@example.com');
    const made = await invite(store, account.id, 'Jane@Example.com', 'admin', 'hash');
    expect(made).toEqual({
      id: expect.stringMatching(/^inv_/),
      account: account.id,
      accountName: 'Example',
      email: 'jane@example.com',
      role: 'admin',
      provesAddress: false,
      invitedBy: 'mailvet',
      createdAt: lab.clock.now(),
      expiresAt: lab.clock.now() + DAY,
    });
    expect(await store.members.invitations(account.id)).toEqual([made]);
    expect(await store.members.invitation('hash')).toEqual(made);
    expect(await store.members.invitation('other')).toBeNull();
    expect(await store.members.accept('hash', jane, BY)).toEqual(made);
    expect(await store.members.accept('hash', jane, BY)).toBeNull();
    expect(await store.members.invitation('hash')).toBeNull();
    expect(await store.members.invitations(account.id)).toEqual([]);
    expect(await roles(store, account.id)).toEqual(['jane@example.com admin']);
    expect(await actions(store, account.id)).toEqual([
      'member.added jane@example.com',
      'member.invited jane@example.com',
    ]);
  });

  it('are accepted within a change of the user', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const jane = await person(store, 'jane@example.com');
    const withdrawn = await invite(store, account.id, 'jane@example.com', 'member', 'first');
    await store.members.withdraw(account.id, withdrawn.id, COMMAND);
    const acceptWithChange = (hash: string) =>
      store.signIns.change({ user: jane, account: account.id }, async (change) => {
        if ((await change.acceptInvitation(hash, BY)) === null) throw new Error('withdrawn');
      });
    await expect(acceptWithChange('first')).rejects.toThrow('withdrawn');
    expect(await roles(store, account.id)).toEqual([]);
    await invite(store, account.id, 'jane@example.com', 'admin', 'second');
    await acceptWithChange('second');
    await expect(acceptWithChange('second')).rejects.toThrow('withdrawn');
    expect(await roles(store, account.id)).toEqual(['jane@example.com admin']);
  });

  it('are replaced by a later one of the same address, withdrawn by their account only, and end', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const stranger = await member(store);
    const jane = await person(store, 'jane@example.com');
    await invite(store, account.id, 'jane@example.com', 'admin', 'first');
    const second = await invite(store, account.id, 'JANE@example.com', 'member', 'second');
    expect(await store.members.invitation('first')).toBeNull();
    expect(await store.members.invitations(account.id)).toEqual([second]);
    expect(await store.members.withdraw(stranger.account.id, second.id, COMMAND)).toBe('not_found');
    expect(await store.members.withdraw(account.id, second.id, COMMAND)).toBe('done');
    expect(await store.members.withdraw(account.id, second.id, COMMAND)).toBe('not_found');
    expect(await store.members.accept('second', jane, BY)).toBeNull();
    expect((await actions(store, account.id))[0]).toBe('invitation.withdrawn jane@example.com');

    await invite(store, account.id, 'jane@example.com', 'member', 'third');
    lab.clock.advance(DAY);
    expect(await store.members.invitation('third')).toBeNull();
    expect(await store.members.invitations(account.id)).toEqual([]);
    expect(await store.members.accept('third', jane, BY)).toBeNull();
    expect(await lab.sql('SELECT id FROM invitations')).toHaveLength(1);
    await purge(lab, store, 0);
    expect(await lab.sql('SELECT id FROM invitations')).toEqual([]);
    expect(await store.members.list(account.id)).toEqual([]);
  });

  it('never lower the role of a member', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const jane = await person(store, 'jane@example.com');
    await store.members.add(account.id, jane, 'admin', BY);
    await invite(store, account.id, 'jane@example.com', 'member', 'lower');
    expect(await store.members.accept('lower', jane, BY)).toMatchObject({ role: 'member' });
    expect(await store.members.role(account.id, jane)).toMatchObject({ role: 'admin' });
    await invite(store, account.id, 'jane@example.com', 'owner', 'higher');
    await store.members.accept('higher', jane, BY);
    expect(await store.members.role(account.id, jane)).toMatchObject({ role: 'owner' });
  });

  it('are sent only while their sender may send them, whatever was read before', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const jane = await person(store, 'jane@example.com');
    const by: Actor = { kind: 'user', id: jane, name: 'jane@example.com', ip: null };
    const send = (role: Role, tokenHash: string) => {
      const to = `${tokenHash}@example.com`;
      const mailTo = () => ({ template: 'invitation', to, account: 'x', role, by: 'jane', link: 'x' }) as const;
      const expiresAt = lab.clock.now() + DAY;
      return store.members.invite(account.id, { email: to, role, tokenHash, expiresAt, mailTo }, by);
    };
    await store.members.add(account.id, jane, 'admin', COMMAND);
    expect(await send('admin', 'sent')).toMatchObject({ role: 'admin' });
    expect(await send('owner', 'too-high')).toBeNull();
    await store.members.setRole(account.id, jane, 'member', COMMAND);
    expect(await send('member', 'demoted')).toBeNull();
    await store.members.remove(account.id, jane, COMMAND);
    expect(await send('member', 'removed')).toBeNull();
    expect(await store.members.invitations(account.id)).toEqual([]);
    expect((await actions(store, account.id)).filter((one) => one.startsWith('member.invited'))).toEqual([
      'member.invited sent@example.com',
    ]);
    expect((await store.jobs.list({ failed: false, limit: 10 })).total).toBe(1);
  });

  it('that many use at once let one in', async () => {
    const stores = [await lab.open(), await lab.open()];
    const { account } = await member(stores[0]!);
    const people = await Promise.all(Array.from({ length: 6 }, (_, i) => person(stores[0]!, `p${i}@example.com`)));
    await invite(stores[0]!, account.id, 'p0@example.com', 'member', 'hash');
    const uses = await Promise.all(people.map((one, i) => stores[i % 2]!.members.accept('hash', one, BY)));
    expect(uses.filter((use) => use !== null)).toHaveLength(1);
    expect(await stores[0]!.members.list(account.id)).toHaveLength(1);
  });
});
