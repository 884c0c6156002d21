import { expect, it, vi } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { openStore } from '../../src/store/open.ts';
import { describeStores } from '../lab/stores.ts';
import { hold, member } from './cast.ts';
import { startProcess } from './processes.ts';

describeStores(
  'several new processes',
  (lab) => {
    it('bring an empty store to this version at once', async () => {
      const starters = await Promise.all([1, 2, 3].map(() => startProcess(lab.url, 'migrate')));
      for (const starter of starters) starter.tell('go');
      await Promise.all(starters.map((starter) => starter.ended()));
      const results = starters.flatMap((starter) => starter.said);
      expect(results).toHaveLength(3);
      expect(results).toContainEqual({ from: 0, to: expect.any(Number) });
      expect(await lab.sql('SELECT version FROM migrations')).toHaveLength((results[0] as { to: number }).to);
    });
  },
  { empty: true },
);

describeStores('several processes', (lab) => {
  it('settle exactly 10 of their 3 × 64 parallel requests on 10 credits', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10 });
    const processes = await Promise.all([1, 2, 3].map(() => startProcess(lab.url, 'verify', who.hash, 64)));
    for (const one of processes) one.tell('go');
    await Promise.all(processes.map((one) => one.ended()));
    const outcomes = processes.flatMap(({ said }) => said);
    expect(outcomes.filter((outcome) => outcome === 'settled')).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === 'insufficient_credits')).toHaveLength(182);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 0, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('may be killed at any moment: what was acknowledged is there once, and no hold is left', async () => {
    const who = await member(await lab.open(), { credits: 1_000_000 });
    const acknowledged: unknown[] = [];
    for (let round = 0; round < 4; round++) {
      const running = await startProcess(lab.url, 'churn', who.hash);
      running.tell('go');
      await running.hasSaid(50 + round * 137);
      running.child.kill('SIGKILL');
      await running.ended();
      acknowledged.push(...running.said);

      const store = await openStore({ url: lab.url, clock: systemClock });
      expect(await store.accounts.audit()).toEqual([]);
      // A server may need a moment to notice that its client is gone.
      await vi.waitFor(
        async () => {
          await store.upkeep.releaseDead();
          expect(await store.accounts.get(who.account.id)).toMatchObject({ locked: 0 });
        },
        { timeout: 10_000 },
      );
      expect(await store.accounts.audit()).toEqual([]);
      expect(await lab.sql('SELECT id FROM holds')).toEqual([]);
      await store.close();
    }
    const charged = await lab.sql('SELECT id FROM verifications WHERE held IS NOT NULL');
    const ids = new Set(charged.map((row) => row.id));
    expect(ids.size).toBe(charged.length);
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  });

  it('that live keep their holds while others look for the dead', async () => {
    const store = await lab.open({ clock: systemClock });
    const who = await member(store, { credits: 100_000 });
    const living = await startProcess(lab.url, 'churn', who.hash);
    living.tell('go');
    await living.hasSaid(20);
    const own = await hold(store, who, { level: 'smtp', holdMs: 3_600_000 });
    const watching = await openStore({ url: lab.url, clock: systemClock });
    for (let i = 0; i < 10; i++) expect(await watching.upkeep.releaseDead()).toBe(0);
    await watching.close();
    expect(await lab.sql(`SELECT id FROM holds WHERE id = '${own.id}'`)).toHaveLength(1);
    expect(await store.accounts.audit()).toEqual([]);
  });
});
