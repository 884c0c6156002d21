import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import type { StorageDriver } from '../../src/store/driver.ts';
import { describeStores, type StoreLab } from '../lab/stores.ts';
import { startScript } from '../store/processes.ts';
import { effects, finish, openDriver } from './driver.ts';

vi.setConfig({ testTimeout: 150_000 });

const SCRIPT = fileURLToPath(new URL('process.ts', import.meta.url));

/** Longer than any job takes on a busy machine. */
const LONG_LEASE = 60;
/** For jobs whose process was killed. */
const SHORT_LEASE = 2;

const start = (lab: StoreLab, mode: 'work' | 'hang', lease: number) =>
  startScript(SCRIPT, [lab.url, mode, String(lease)]);
const open = async (lab: StoreLab, lease: number) => {
  const driver = await openDriver(lab.url, lease);
  await driver.migrate();
  return driver;
};
const addTo = (driver: StorageDriver, count: number) =>
  driver.transaction(async (trx) => {
    for (let i = 0; i < count; i += 1)
      await driver.jobs.add(trx, { kind: 'lists_update', payload: {}, key: `job ${i}`, account: 'acc_1' });
  });
const add = async (lab: StoreLab, count: number, lease: number) => {
  const driver = await open(lab, lease);
  await addTo(driver, count);
  return driver;
};
const once = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`job ${i}`, 1]));

describeStores('worker processes', (lab) => {
  it('leave nothing of a job whose transaction is rolled back, nor of the completion of one', async () => {
    const driver = await add(lab, 1, LONG_LEASE);
    const undo = new Error('undo');
    const adding = driver.transaction(async (trx) => {
      expect(await driver.jobs.add(trx, { kind: 'purge', payload: {}, key: 'k' })).not.toBeNull();
      expect(await driver.jobs.add(trx, { kind: 'purge', payload: {}, key: 'k' })).toBeNull();
      throw undo;
    });
    await expect(adding).rejects.toBe(undo);
    expect(await driver.jobs.claim(new Map([['purge', 1]]))).toEqual([]);
    const [claim] = await driver.jobs.claim(new Map([['lists_update', 1]]));
    const finishing = driver.transaction(async (trx) => {
      await driver.jobs.done(trx, claim!);
      throw undo;
    });
    await expect(finishing).rejects.toBe(undo);
    expect(await driver.jobs.renew(claim!)).toBe(true);
    await finish(driver, claim!);
    expect(await effects(driver)).toEqual(once(1));
    await driver.close();
  });

  it('race for the same jobs, and every effect happens once', async () => {
    const driver = await open(lab, LONG_LEASE);
    const workers = await Promise.all([start(lab, 'work', LONG_LEASE), start(lab, 'work', LONG_LEASE)]);
    await addTo(driver, 200);
    await expect.poll(() => effects(driver), { timeout: 60_000 }).toEqual(once(200));
    // Each was claimed once. What a process says may arrive after what it did.
    await expect.poll(() => workers.flatMap(({ said }) => said), { timeout: 30_000 }).toHaveLength(200);
    expect((await driver.jobs.list({ failed: false, limit: 10 })).total).toBe(0);
    for (const worker of workers) {
      worker.child.stdin?.end();
      await worker.ended();
    }
    await driver.close();
  });

  it('that are killed in the middle lose their jobs to others when the lease ends', async () => {
    const driver = await add(lab, 8, SHORT_LEASE);
    const hanging = await start(lab, 'hang', SHORT_LEASE);
    await hanging.hasSaid(5);
    hanging.child.kill('SIGKILL');
    const workers = await Promise.all([start(lab, 'work', SHORT_LEASE), start(lab, 'work', SHORT_LEASE)]);
    await expect.poll(() => effects(driver), { timeout: 60_000 }).toEqual(once(8));
    for (const worker of workers) worker.child.kill('SIGKILL');
    await driver.close();
  });

  it('that are killed at any moment neither lose a job nor do it twice', async () => {
    const driver = await add(lab, 100, SHORT_LEASE);
    for (let round = 1; round <= 4; round += 1) {
      const worker = await start(lab, 'work', SHORT_LEASE);
      await worker.hasSaid(10);
      worker.child.kill('SIGKILL');
      await worker.ended();
    }
    const last = await start(lab, 'work', SHORT_LEASE);
    await expect.poll(() => effects(driver), { timeout: 60_000 }).toEqual(once(100));
    last.child.kill('SIGKILL');
    await driver.close();
  });
});
