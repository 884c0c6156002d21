import { expect, it } from 'vitest';
import type { Role } from '../../src/kernel/facts/roles.ts';
import type { AccountId, Actor } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { member } from './cast.ts';
import { actions, BY, COMMAND, person, roles } from './people.ts';

describeStores('members', (lab) => {
  it('are added once, listed in the order of their coming, and see their accounts, the oldest first', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const [jane, bob] = [await person(store, 'jane@example.com'), await person(store, 'bob@example.com')];
    expect(await store.members.add(account.id, jane, 'owner', BY)).toBe(true);
    lab.clock.advance(1);
    expect(await store.members.add(account.id, bob, 'member', BY)).toBe(true);
    expect(await store.members.add(account.id, bob, 'owner', BY)).toBe(false);
    expect(await store.members.list(account.id)).toEqual([
      {
        userId: jane,
        email: 'jane@example.com',
        name: 'jane',
        role: 'owner',
        secondFactor: false,
        createdAt: lab.clock.now() - 1,
        lastActiveAt: null,
      },
      expect.objectContaining({ userId: bob, role: 'member', createdAt: lab.clock.now() }),
    ]);
    const second = await store.accounts.create({ name: 'Second', plan: 'starter', rateLimit: null, credits: 0 });
    await store.members.add(second.id, bob, 'admin', BY);
    await store.accounts.set(second.id, { status: 'suspended', secondFactorRequired: true });
    expect(await store.members.ofUser(bob)).toEqual([
      {
        account: account.id,
        accountName: 'Example',
        plan: 'premium',
        status: 'active',
        role: 'member',
        secondFactorRequired: false,
        testAccount: `${account.id}_test`,
      },
      {
        account: second.id,
        accountName: 'Second',
        plan: 'starter',
        status: 'suspended',
        role: 'admin',
        secondFactorRequired: true,
        testAccount: `${second.id}_test`,
      },
    ]);
    expect(await actions(store, account.id)).toEqual(['member.added bob@example.com', 'member.added jane@example.com']);
  });

  it('were active when that was recorded, at most so often, in the account or its test account', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const jane = await person(store, 'jane@example.com');
    await store.members.add(account.id, jane, 'viewer', BY);
    const { id: test } = await store.accounts.testAccount(account.id);
    const active = async () => (await store.members.list(account.id)).map(({ lastActiveAt }) => lastActiveAt);
    expect(await active()).toEqual([null]);
    const first = lab.clock.now();
    await store.members.recordActivity(account.id, jane, 60_000);
    lab.clock.advance(59_999);
    await store.members.recordActivity(test, jane, 60_000);
    expect(await active()).toEqual([first]);
    lab.clock.advance(1);
    await store.members.recordActivity(test, jane, 60_000);
    expect(await active()).toEqual([first + 60_000]);
  });

  it('have a role in their account and none in another’s', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const stranger = await member(store);
    const jane = await person(store, 'jane@example.com');
    await store.members.add(account.id, jane, 'admin', BY);
    const membership = {
      account: account.id,
      role: 'admin',
      secondFactorRequired: false,
      suspended: false,
      test: false,
    };
    expect(await store.members.role(account.id, jane)).toEqual(membership);
    await store.accounts.set(account.id, { secondFactorRequired: true });
    expect(await store.members.role(account.id, jane)).toEqual({ ...membership, secondFactorRequired: true });
    expect(await store.members.role(stranger.account.id, jane)).toBeNull();
    expect(await store.members.role('acc_none', jane)).toBeNull();
    expect(await store.members.role(account.id, 'usr_none')).toBeNull();
    // What a path can hold.
    expect(await store.members.role('\0', '\uD800')).toBeNull();
    expect(await store.members.ofUser('usr_none\0')).toEqual([]);
    expect(await store.members.setRole(stranger.account.id, jane, 'owner', BY)).toBe('not_found');
    expect(await store.members.remove(stranger.account.id, jane, BY)).toBe('not_found');
    expect(await store.members.remove('acc_none' as AccountId, jane, BY)).toBe('not_found');
    expect(await store.members.add('acc_none' as AccountId, jane, 'owner', BY)).toBe(false);
  });

  it('must be users', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    await expect(store.members.add(account.id, 'usr_none', 'owner', BY)).rejects.toThrow(/foreign key/i);
    expect(await actions(store, account.id)).toEqual([]);
  });

  it('change their role or go, but the last owner neither', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const [jane, bob] = [await person(store, 'jane@example.com'), await person(store, 'bob@example.com')];
    await store.members.add(account.id, jane, 'owner', COMMAND);
    await store.members.add(account.id, bob, 'admin', COMMAND);
    expect(await store.members.setRole(account.id, jane, 'member', COMMAND)).toBe('last_owner');
    expect(await store.members.remove(account.id, jane, COMMAND)).toBe('last_owner');
    expect(await store.members.setRole(account.id, jane, 'owner', COMMAND)).toBe('done');
    expect(await roles(store, account.id)).toEqual(['bob@example.com admin', 'jane@example.com owner']);
    expect(await store.members.setRole(account.id, bob, 'owner', COMMAND)).toBe('done');
    expect(await store.members.setRole(account.id, jane, 'member', COMMAND)).toBe('done');
    expect(await store.members.remove(account.id, jane, COMMAND)).toBe('done');
    expect(await store.members.remove(account.id, jane, COMMAND)).toBe('not_found');
    expect(await roles(store, account.id)).toEqual(['bob@example.com owner']);
    const [removed, lowered, raised] = await store.auditLog.list(account.id, { before: null, limit: 3 });
    expect(removed).toMatchObject({ action: 'member.removed', target: 'jane@example.com', detail: { role: 'member' } });
    expect(lowered).toMatchObject({ action: 'member.role_changed', detail: { from: 'owner', to: 'member' } });
    expect(raised).toMatchObject({ target: 'bob@example.com', detail: { from: 'admin', to: 'owner' } });
    expect(await actions(store, account.id)).toHaveLength(5);
  });

  it('manage others with the role that they have by then, whatever it was when they asked', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const [jane, bob] = [await person(store, 'jane@example.com'), await person(store, 'bob@example.com')];
    await store.members.add(account.id, jane, 'owner', COMMAND);
    await store.members.add(account.id, bob, 'admin', COMMAND);
    const [byJane, byBob]: Actor[] = [
      { ...BY, id: jane },
      { ...BY, id: bob },
    ];
    const invite = (role: Role) => {
      const input = { email: `${role}@example.com`, role, tokenHash: role, expiresAt: lab.clock.now() + 60_000 };
      return store.members.invite(account.id, input, COMMAND);
    };
    const [ofOwner, ofAdmin] = [await invite('owner'), await invite('admin')];
    expect(await store.members.setRole(account.id, jane, 'member', byBob!)).toBe('owner_needed');
    expect(await store.members.remove(account.id, jane, byBob!)).toBe('owner_needed');
    expect(await store.members.setRole(account.id, bob, 'owner', byBob!)).toBe('owner_needed');
    expect(await store.members.withdraw(account.id, ofOwner!.id, byBob!)).toBe('owner_needed');
    expect(await store.members.setRole(account.id, bob, 'member', byJane!)).toBe('done');
    expect(await store.members.setRole(account.id, bob, 'admin', byBob!)).toBe('admin_needed');
    expect(await store.members.withdraw(account.id, ofAdmin!.id, byBob!)).toBe('admin_needed');
    expect(await roles(store, account.id)).toEqual(['bob@example.com member', 'jane@example.com owner']);
    expect(await store.members.remove(account.id, bob, byBob!)).toBe('done');
    expect(await store.members.withdraw(account.id, ofAdmin!.id, byBob!)).toBe('admin_needed');
    expect(await store.members.withdraw(account.id, ofAdmin!.id, byJane!)).toBe('done');
  });

  it('leave at the same time on several nodes, and one owner stays', async () => {
    const stores = [await lab.open(), await lab.open()];
    const { account } = await member(stores[0]!);
    const owners = await Promise.all(Array.from({ length: 8 }, (_, i) => person(stores[0]!, `o${i}@example.com`)));
    for (const owner of owners) await stores[0]!.members.add(account.id, owner, 'owner', BY);
    const ends = owners.map((owner, i) => {
      const store = stores[i % 2]!;
      if (i % 3 === 0) return store.users.remove(owner, BY).then((removed) => (removed ? 'done' : 'last_owner'));
      if (i % 3 === 1) return store.members.setRole(account.id, owner, 'member', COMMAND);
      return store.members.remove(account.id, owner, COMMAND);
    });
    const outcomes = await Promise.all(ends);
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(7);
    expect(outcomes.filter((outcome) => outcome === 'last_owner')).toHaveLength(1);
    const left = await stores[0]!.members.list(account.id);
    expect(left.filter((one) => one.role === 'owner')).toHaveLength(1);
  });
});

describeStores('users', (lab) => {
  it('are found by id and by address without regard to case, and counted', async () => {
    const store = await lab.open();
    expect(await store.users.count()).toBe(0);
    const jane = await person(store, 'jane@example.com');
    expect(await store.users.get(jane)).toEqual({
      id: jane,
      email: 'jane@example.com',
      name: 'jane',
      emailVerified: true,
      operator: false,
      secondFactor: false,
      createdAt: Date.UTC(2026, 10, 1),
    });
    expect(await store.users.byEmail('JANE@example.COM')).toMatchObject({ id: jane });
    expect(await store.users.byEmail('jan\0e@example.com')).toBeNull();
    expect(await store.users.get('usr_none')).toBeNull();
    expect(await store.users.count()).toBe(1);
  });

  it('become operators and stop being it', async () => {
    const store = await lab.open();
    const jane = await person(store, 'jane@example.com');
    expect(await store.users.setOperator(jane, true)).toBe(true);
    expect(await store.users.get(jane)).toMatchObject({ operator: true });
    expect(await store.users.setOperator(jane, false)).toBe(true);
    expect(await store.users.get(jane)).toMatchObject({ operator: false });
    expect(await store.users.setOperator('usr_none', true)).toBe(false);
  });

  it('are listed with their accounts', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const [jane, bob] = [await person(store, 'jane@example.com'), await person(store, 'bob@example.com')];
    await store.members.add(account.id, jane, 'owner', BY);
    const list = await store.users.list();
    expect(list.find((user) => user.id === jane)?.accounts).toEqual([{ id: account.id, role: 'owner' }]);
    expect(list.find((user) => user.id === bob)?.accounts).toEqual([]);
  });

  it('go with their sessions and memberships, unless an account would be without an owner', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const [jane, bob] = [await person(store, 'jane@example.com'), await person(store, 'bob@example.com')];
    await store.members.add(account.id, jane, 'owner', BY);
    await store.members.add(account.id, bob, 'admin', BY);
    const at = "'2026-11-20T10:00:00.000Z'";
    await lab.sql(
      `INSERT INTO auth_sessions ("id", "expiresAt", "token", "createdAt", "updatedAt", "userId")
       VALUES ('s', ${at}, 't', ${at}, ${at}, '${bob}')`,
    );
    expect(await store.users.remove(jane)).toBe(false);
    expect(await store.users.remove(bob, BY)).toBe(true);
    expect(await store.users.remove(bob)).toBe(false);
    expect(await lab.sql('SELECT "id" FROM auth_sessions')).toEqual([]);
    expect(await roles(store, account.id)).toEqual(['jane@example.com owner']);
    expect((await actions(store, account.id))[0]).toBe('member.removed bob@example.com');
    expect(await store.users.remove('usr_none')).toBe(false);
  });

  it('do not go while they are made an owner elsewhere', async () => {
    const [store, other] = [await lab.open(), await lab.open()];
    const accounts = await Promise.all(Array.from({ length: 6 }, () => member(store)));
    for (const [i, { account }] of accounts.entries()) {
      const one = await person(store, `p${i}@example.com`);
      const [added, removed] = await Promise.allSettled([
        other.members.add(account.id, one, 'owner', BY),
        store.users.remove(one),
      ]);
      const members = await store.members.list(account.id);
      // Either the user was first and is an owner for good, or is gone and was not let in.
      if (removed.status === 'fulfilled' && removed.value) expect(members).toEqual([]);
      else expect(members).toMatchObject([{ userId: one, role: 'owner' }]);
      if (added.status === 'rejected') expect(String(added.reason)).toMatch(/foreign key/i);
    }
  });
});
