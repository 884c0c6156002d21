import type { Kysely } from 'kysely';
import { expect, it } from 'vitest';
import { toIso } from '../../src/kernel/clock.ts';
import type { Store } from '../../src/store/store.ts';
import type { Tables } from '../../src/store/tables.ts';
import { describeStores } from '../lab/stores.ts';
import { person } from './people.ts';

const DAY = 24 * 3600_000;

describeStores('changes of how a user signs in', (lab) => {
  const session = async (id: string, user: string, at = lab.clock.now()) => {
    const times = `'${toIso(at + 7 * DAY)}', '${toIso(at)}', '${toIso(at)}'`;
    await lab.sql(`INSERT INTO auth_sessions ("id", "token", "userId", "ipAddress", "userAgent", "expiresAt", "createdAt",
      "updatedAt") VALUES ('${id}', 'hash of ${id}', '${user}', '192.0.2.7', 'Firefox/1', ${times}) RETURNING 1`);
  };
  const passkey = (id: string, user: string) =>
    lab.sql(`INSERT INTO auth_passkeys ("id", "name", "publicKey", "userId", "credentialID", "counter", "deviceType",
      "backedUp", "createdAt") VALUES ('${id}', '${id}', 'key', '${user}', 'credential ${id}', 0, 'singleDevice',
      ${lab.engine === 'sqlite' ? '0' : 'false'}, '${toIso(lab.clock.now())}') RETURNING 1`);
  const ids = async (rows: Promise<{ id: string }[]>) => (await rows).map(({ id }) => id).sort();
  const mail = {
    template: 'low_balance',
    to: 'x@example.com',
    account: 'x',
    balance: 1,
    threshold: 2,
    link: 'x',
  } as const;
  const mails = async (store: Store) => (await store.jobs.list({ failed: false, limit: 10 })).total;

  it('keep what they are told to keep, of one user only', async () => {
    const store = await lab.open();
    const [jane, bob] = [await person(store, 'jane@example.com'), await person(store, 'bob@example.com')];
    for (const id of ['s1', 's2', 's3']) await session(id, jane);
    for (const id of ['p1', 'p2', 'p3']) await passkey(id, jane);
    await session('s4', bob);
    await passkey('p4', bob);
    const counts = await store.signIns.change({ user: jane, session: 's1' }, async (change) => {
      expect(change.user).toMatchObject({ id: jane, email: 'jane@example.com' });
      const single = [await change.removePasskey('p4'), await change.removePasskey('p3')];
      await change.mail(mail);
      return [...single, await change.endSessions(['s1', 's4']), await change.removePasskeys(['p2', 'p4'])];
    });
    expect(counts).toEqual([false, true, 2, 1]);
    expect(await ids(store.signIns.sessions(jane))).toEqual(['s1']);
    expect(await ids(store.signIns.passkeys(jane))).toEqual(['p2']);
    expect(await ids(store.signIns.sessions(bob))).toEqual(['s4']);
    expect(await ids(store.signIns.passkeys(bob))).toEqual(['p4']);
    expect(await mails(store)).toBe(1);
  });

  it('commit together with what the sign-in library does meanwhile, or not at all', async () => {
    const store = await lab.open();
    const jane = await person(store, 'jane@example.com');
    await session('s1', jane);
    const library = store.authDatabase.db as Kysely<Tables>;
    const change = (fails: boolean) =>
      store.signIns.change({ user: jane }, async ({ endSessions, mail: send }) => {
        await library.updateTable('auth_users').set({ name: 'Changed' }).where('id', '=', jane).execute();
        expect(await endSessions()).toBe(1);
        await send(mail);
        if (fails) throw new Error('broken');
      });
    await expect(change(true)).rejects.toThrow('broken');
    expect([(await store.users.get(jane))?.name, await mails(store)]).toEqual(['jane', 0]);
    expect(await store.signIns.sessions(jane)).toHaveLength(1);
    await change(false);
    expect([(await store.users.get(jane))?.name, await mails(store)]).toEqual(['Changed', 1]);
    expect(await store.signIns.sessions(jane)).toEqual([]);
  });

  it('of a session that has ended meanwhile do not happen', async () => {
    const stores = [await lab.open(), await lab.open()] as const;
    const jane = await person(stores[0], 'jane@example.com');
    await session('s1', jane);
    // The second waits for the first, which ends its session.
    let locked = () => {};
    const holding = new Promise<void>((resolve) => {
      locked = resolve;
    });
    const first = stores[0].signIns.change({ user: jane }, async ({ endSessions }) => {
      locked();
      await endSessions();
    });
    await holding;
    const second = stores[1].signIns.change({ user: jane, session: 's1' }, async ({ mail: send }) => send(mail));
    await expect(second).rejects.toMatchObject({ code: 'not_signed_in' });
    await first;
    expect(await mails(stores[0])).toBe(0);
    await expect(stores[0].signIns.change({ user: 'usr_none' }, async () => 1)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('and uses of passkeys are recorded', async () => {
    const store = await lab.open();
    const jane = await person(store, 'jane@example.com');
    await passkey('p1', jane);
    const { createdAt } = (await store.signIns.passkeys(jane))[0]!;
    lab.clock.advance(DAY);
    await store.signIns.markPasskeyUsed('credential p1');
    await store.signIns.markPasskeyUsed('no such credential');
    expect(await store.signIns.passkeys(jane)).toEqual([
      { id: 'p1', name: 'p1', createdAt, lastUsedAt: lab.clock.now() },
    ]);
  });
});
