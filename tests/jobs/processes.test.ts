import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import type { StorageDriver } from '../../src/store/driver.ts';
import { describeStores, type StoreLab } from '../lab/stores.ts';
import { startScript } from '../store/processes.ts';
import { effects, finish, openDriver } from './driver.ts';

vi.setConfig({ testTimeout: 60_000 });

const SCRIPT = fileURLToPath(new URL('process.ts', import.meta.url));
const start = (lab: StoreLab, mode: 'work' | 'hang') => startScript(SCRIPT, [lab.url, mode]);

const open = async (lab: StoreLab) => {
  const driver = await openDriver(lab.url);
  await driver.migrate();
  return driver;
};
const addTo = (driver: StorageDriver, count: number) =>
  driver.transaction(async (trx) => {
    for (let i = 0; i < count; i += 1)
      await driver.jobs.add(trx, { kind: 'lists_update', payload: {}, key: `job ${i}`, account: 'acc_1' });
  });
const add = async (lab: StoreLab, count: number) => {
  const driver = await open(lab);
  await addTo(driver, count);
  return driver;
};
const once = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`job ${i}`, 1]));

describeStores('worker processes', (lab) => {
  it('leave nothing of a job whose transaction is rolled back, nor of the completion of one', async () => {
    const driver = await add(lab, 1);
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
    const driver = await open(lab);
    const workers = await Promise.all([start(lab, 'work'), start(lab, 'work')]);
    await addTo(driver, 200);
    await expect.poll(() => effects(driver), { timeout: 40_000 }).toEqual(once(200));
    // A process says so after its commit.
    await expect.poll(() => workers.flatMap(({ said }) => said), { timeout: 30_000 }).toHaveLength(200);
    expect((await driver.jobs.list({ failed: false, limit: 10 })).total).toBe(0);
    for (const worker of workers) {
      worker.child.stdin?.end();
      await worker.ended();
    }
    await driver.close();
  });

  it('that are killed in the middle lose their jobs to others when the lease ends', async () => {
    const driver = await add(lab, 8);
    const hanging = await start(lab, 'hang');
    await hanging.hasSaid(5);
    hanging.child.kill('SIGKILL');
    const workers = await Promise.all([start(lab, 'work'), start(lab, 'work')]);
    await expect.poll(() => effects(driver), { timeout: 40_000 }).toEqual(once(8));
    for (const worker of workers) worker.child.kill('SIGKILL');
    await driver.close();
  });

  it('that are killed at any moment neither lose a job nor do it twice', async () => {
    const driver = await add(lab, 100);
    for (let round = 1; round <= 4; round += 1) {
      const worker = await start(lab, 'work');
      await worker.hasSaid(10);
      worker.child.kill('SIGKILL');
      await worker.ended();
    }
    const last = await start(lab, 'work');
    await expect.poll(() => effects(driver), { timeout: 50_000 }).toEqual(once(100));
    last.child.kill('SIGKILL');
    await driver.close();
  });
});
