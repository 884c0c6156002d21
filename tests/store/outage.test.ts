import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { describeStores, ENGINE } from '../lab/stores.ts';
import { hold, member, verdict, verifyNow } from './cast.ts';
import { commitProxy } from './commit-proxy.ts';
import { startProcess } from './processes.ts';

const PRLIMIT = ['/usr/bin/prlimit', '/bin/prlimit'].find((path) => existsSync(path));

describeStores('a store that cannot write', (lab) => {
  it.skipIf(ENGINE !== 'sqlite' || PRLIMIT === undefined)(
    'refuses while its disk is full, loses nothing acknowledged, and goes on when there is room',
    async () => {
      const store = await lab.open();
      const who = await member(store, { credits: 1_000 });
      const service = await startProcess(lab.url, 'serve', who.hash);
      const ask = async (count: number) => {
        const before = service.said.length;
        service.tell(String(count));
        await service.hasSaid(before + 1);
        return service.said.at(-1) as { outcomes: string[]; ready: boolean };
      };
      const settled = (count: number) => Array.from({ length: count }, () => 'settled');
      const room = (bytes: number | 'unlimited') =>
        execFileSync(PRLIMIT!, ['--pid', String(service.child.pid), `--fsize=${bytes}:`]);

      expect(await ask(20)).toEqual({ outcomes: settled(20), ready: true });
      room(statSync(`${lab.url.slice('sqlite:'.length)}-wal`).size);
      const refused = Array.from({ length: 30 }, () => 'verification_unavailable');
      expect(await ask(30)).toEqual({ outcomes: refused, ready: false });
      expect(await ask(30)).toEqual({ outcomes: refused, ready: false });
      room('unlimited');
      expect(await ask(20)).toEqual({ outcomes: settled(20), ready: true });
      expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 960, locked: 0 });
      expect(await store.accounts.audit()).toEqual([]);
    },
  );

  it.skipIf(ENGINE !== 'sqlite')('waits for the lock of another process', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10 });
    const other = await startProcess(lab.url, 'lock');
    other.tell('go');
    await other.hasSaid(1);
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled', balance: 9 });
    await other.ended();
    expect(await store.accounts.audit()).toEqual([]);
  });

  it.skipIf(ENGINE !== 'sqlite')('says so when it is damaged', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10 });
    await verifyNow(store, who);
    const db = new DatabaseSync(lab.url.slice('sqlite:'.length));
    db.exec('DROP TABLE usage_hours');
    db.close();
    await expect(verifyNow(store, who)).rejects.toThrow(/usage_hours/);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 9 });
  });
});

describeStores('a connection that is lost', (lab) => {
  const postgres = it.skipIf(ENGINE !== 'postgres');

  postgres.each(['before', 'after'] as const)('%s the commit: everything is charged once', async (moment) => {
    const proxy = await commitProxy(lab.url);
    const store = await lab.open({ url: proxy.url });
    const who = await member(store, { credits: 100 });
    const { id, caller } = await hold(store, who, { level: 'smtp' });
    proxy.cut(moment);
    const settlement = { caller, holdId: id, record: verdict(id, { credits: 10 }), idempotency: null };
    const work = [store.charging.settle(settlement), ...Array.from({ length: 20 }, () => verifyNow(store, who))];
    await Promise.all(work);
    expect(proxy.cuts).toBe(1);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 70, locked: 0 });
    expect(await store.verifications.list(who.account.id, { offset: 0, limit: 1 })).toMatchObject({ total: 21 });
    expect(await store.accounts.audit()).toEqual([]);
    await store.close();
    await proxy.close();
  });

  postgres('again and again: requests are refused, nothing is charged, and it goes on by itself', async () => {
    const proxy = await commitProxy(lab.url);
    const store = await lab.open({ url: proxy.url });
    const who = await member(store, { credits: 100 });
    await verifyNow(store, who);
    proxy.refuse(true);
    const refused = await Promise.allSettled(Array.from({ length: 5 }, () => verifyNow(store, who)));
    for (const answer of refused) expect(answer).toMatchObject({ reason: { code: 'verification_unavailable' } });
    await expect(store.ping()).rejects.toThrow();
    proxy.refuse(false);
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled', balance: 98 });
    await store.ping();
    expect(await store.accounts.audit()).toEqual([]);
    await store.close();
    await proxy.close();
  });

  postgres('between two batches goes unnoticed, and the node proves again that it lives', async () => {
    const store = await lab.open();
    const watching = await lab.open();
    const who = await member(store, { credits: 100 });
    const { id, caller } = await hold(store, who, { holdMs: 3_600_000 });
    const here = '(SELECT oid FROM pg_database WHERE datname = current_database())';
    const owners = async () => {
      const rows = await lab.sql(`SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = ${here}`);
      return rows.map((row) => row.pid);
    };
    const [before] = await owners();
    await lab.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datid = ${here}`,
    );
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
    const again = async () => (await owners()).some((pid) => pid !== before);
    while (!(await again())) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await watching.upkeep.releaseDead()).toBe(0);
    expect(await store.charging.settle({ caller, holdId: id, record: verdict(id), idempotency: null })).toEqual({
      balance: 98,
    });
    expect(await store.accounts.audit()).toEqual([]);
  });
});
