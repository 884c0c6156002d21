import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { Batcher, type ChargeDriver } from './batcher.ts';
import type { ChargeAnswer, ChargeRequest } from './state.ts';

class Outage extends Error {}

/** An engine that notes its batches, answers each request with its hash, and fails as a test tells it to. */
class Noting implements ChargeDriver {
  readonly lanes: number = 1;
  readonly atOnce: number = 1;
  async open(): Promise<void> {}
  readonly batches: string[][] = [];
  fail: (hashes: readonly string[]) => Error | null = () => null;
  async transact(requests: readonly ChargeRequest[]): Promise<ChargeAnswer[]> {
    const hashes = requests.map(hashOf);
    this.batches.push(hashes);
    await new Promise(setImmediate);
    const error = this.fail(hashes);
    if (error !== null) throw error;
    return hashes.map((value) => ({ value }));
  }
  isOutage(error: unknown): boolean {
    return error instanceof Outage;
  }
}

/** An engine that commits when a test tells it to. */
class Held extends Noting {
  override readonly atOnce = 2;
  readonly #commits: (() => void)[] = [];
  override async transact(requests: readonly ChargeRequest[]): Promise<ChargeAnswer[]> {
    const hashes = requests.map(hashOf);
    this.batches.push(hashes);
    await new Promise<void>((resolve) => this.#commits.push(resolve));
    return hashes.map((value) => ({ value }));
  }
  async commit(): Promise<void> {
    this.#commits.shift()?.();
    await turns();
  }
}

/** Lets a batch be sent, and the one after it. */
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate);
};

const hashOf = (request: ChargeRequest): string =>
  request.kind === 'admit' ? String(request.admit.keyHash) : request.settle.holdId;
const ask = (keyHash: string) => ({
  keyHash,
  scope: 'usage' as const,
  ip: '192.0.2.1',
  invalid: true,
  idempotency: null,
  verify: null,
});
const caller = { accountId: 'acc_1' as never, keyId: 'key_1', plan: 'starter' as const, test: false };
const settlement = (holdId: string) => ({ caller, record: null, holdId, idempotency: null });

function make(limits: Partial<{ queue: number; batch: number }> = {}) {
  const driver = new Noting();
  return { engine: driver, batcher: new Batcher(driver, { queue: 100, batch: 4, ...limits }, systemClock) };
}

describe('the batcher', () => {
  it('puts what arrives in one turn into one batch, in order of arrival, admissions and settlements alike', async () => {
    const { engine: driver, batcher } = make();
    const answers = [batcher.admit(ask('a')), batcher.settle(settlement('b')), batcher.admit(ask('c'))];
    expect(await Promise.all(answers)).toEqual(['a', 'b', 'c']);
    expect(driver.batches).toEqual([['a', 'b', 'c']]);
  });

  it('fills the next batch while one commits, and bounds its size', async () => {
    const { engine: driver, batcher } = make();
    const first = batcher.admit(ask('first'));
    await new Promise(setImmediate);
    const rest = ['a', 'b', 'c', 'd', 'e'].map((hash) => batcher.admit(ask(hash)));
    await Promise.all([first, ...rest]);
    expect(driver.batches).toEqual([['first'], ['a', 'b', 'c', 'd'], ['e']]);
    expect(batcher.stats).toMatchObject({ batches: 3, answered: 6, failed: 0, overloaded: 0 });
  });

  it('sends a batch before it answers the one before', async () => {
    const { engine: driver, batcher } = make({ batch: 16 });
    const sent: number[] = [];
    const asked = Array.from({ length: 32 }, async (_, i) => {
      await batcher.admit(ask(`${i}`));
      sent.push(driver.batches.length);
    });
    await Promise.all(asked);
    expect(sent).toEqual(Array.from({ length: 32 }, () => 2));
  });

  describe('of an engine with two transactions at a time', () => {
    const makeHeld = (clock: Pick<Clock, 'elapsed'> = systemClock) => {
      const driver = new Held();
      return { driver, batcher: new Batcher(driver, { queue: 100, batch: 50 }, clock) };
    };
    const askAll = (batcher: Batcher, names: string) => [...names].map((name) => batcher.admit(ask(name)));

    it('begins the second when eight requests wait, and no third', async () => {
      const { driver, batcher } = makeHeld();
      const answers = askAll(batcher, 'a');
      await turns();
      answers.push(...askAll(batcher, 'bcdefgh'));
      await turns();
      expect(driver.batches.map((batch) => batch.join(''))).toEqual(['a']);
      answers.push(...askAll(batcher, 'i'));
      await turns();
      expect(driver.batches.map((batch) => batch.join(''))).toEqual(['a', 'bcdefghi']);
      answers.push(...askAll(batcher, 'jklmnopqrstuvwxyz'));
      await turns();
      expect(driver.batches).toHaveLength(2);
      await driver.commit();
      expect(await answers[0]).toBe('a');
      expect(driver.batches.map((batch) => batch.join(''))).toEqual(['a', 'bcdefghi', 'jklmnopqrstuvwxyz']);
      await driver.commit();
      await driver.commit();
      expect((await Promise.all(answers)).join('')).toBe('abcdefghijklmnopqrstuvwxyz');
    });

    it('takes what is left when none is under way, however few', async () => {
      const { driver, batcher } = makeHeld();
      const answers = askAll(batcher, 'a');
      await turns();
      answers.push(...askAll(batcher, 'bcd'));
      await driver.commit();
      expect(driver.batches.map((batch) => batch.join(''))).toEqual(['a', 'bcd']);
      await driver.commit();
      expect((await Promise.all(answers)).join('')).toBe('abcd');
    });

    it('puts half of the requests of one turn into each', async () => {
      const { driver, batcher } = makeHeld();
      const answers = askAll(batcher, 'abcdefghijklmnop');
      await turns();
      expect(driver.batches.map((batch) => batch.join(''))).toEqual(['abcdefgh', 'ijklmnop']);
      await driver.commit();
      await driver.commit();
      expect((await Promise.all(answers)).join('')).toBe('abcdefghijklmnop');
    });

    it('waits for both before it closes', async () => {
      const { driver, batcher } = makeHeld();
      const answers = askAll(batcher, 'abcdefghijklmnop');
      await turns();
      let closed = false;
      const closing = batcher.close().then(() => {
        closed = true;
      });
      await driver.commit();
      expect(closed).toBe(false);
      await driver.commit();
      await closing;
      expect((await Promise.all(answers)).join('')).toBe('abcdefghijklmnop');
    });

    it('tells the callers of both when they took too long', async () => {
      let now = 0;
      const { driver, batcher } = makeHeld({ elapsed: () => now });
      const answers = Promise.allSettled(askAll(batcher, 'abcdefghijklmnop'));
      await turns();
      now = 60_000;
      for (const answer of await answers)
        expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'verification_unavailable' } });
      expect(batcher.stats.expired).toBe(16);
      await driver.commit();
      await driver.commit();
      await batcher.close();
    });

    it('begins one at a time while the disk is slow, so that each commit takes all who wait', async () => {
      const { driver, batcher } = makeHeld();
      const answers = askAll(batcher, 'a');
      await turns();
      // The main thread has nothing to do meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 50));
      answers.push(...askAll(batcher, 'bc'));
      await driver.commit();
      while (driver.batches.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
      answers.push(...askAll(batcher, 'defghijklmnopqrs'));
      await turns();
      expect(driver.batches.map((batch) => batch.join(''))).toEqual(['a', 'bc']);
      // Until the commits are quick again, and after.
      const ended = Promise.all(answers);
      let all = false;
      void ended.then(() => {
        all = true;
      });
      while (!all) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        await driver.commit();
      }
      expect((await ended).join('')).toBe('abcdefghijklmnopqrs');
    });
  });

  it('begins again after it was idle', async () => {
    const { engine: driver, batcher } = make();
    await batcher.admit(ask('a'));
    await batcher.admit(ask('b'));
    expect(driver.batches).toEqual([['a'], ['b']]);
  });

  it('rejects all of a batch in an outage, says that nothing was charged, and tries none again', async () => {
    const { engine: driver, batcher } = make();
    driver.fail = () => new Outage('disk full');
    const answers = await Promise.allSettled([batcher.admit(ask('a')), batcher.settle(settlement('b'))]);
    for (const answer of answers) {
      const reason = answer.status === 'rejected' ? answer.reason : null;
      expect(reason).toBeInstanceOf(ApiError);
      expect(reason).toMatchObject({ code: 'verification_unavailable', details: { retry_after: 5 } });
      expect(reason.message).toContain('nothing was charged');
      expect(reason.cause).toBeInstanceOf(Outage);
    }
    expect(driver.batches).toHaveLength(1);
    expect(batcher.stats).toMatchObject({ failed: 2, answered: 0 });
    driver.fail = () => null;
    expect(await batcher.admit(ask('c'))).toBe('c');
  });

  it('tries a batch that failed for one request one by one, so that only that one fails', async () => {
    const { engine: driver, batcher } = make();
    driver.fail = (hashes) => (hashes.includes('poison') ? new Error('unique constraint') : null);
    const answers = await Promise.allSettled(['a', 'poison', 'b'].map((hash) => batcher.admit(ask(hash))));
    expect(answers.map((answer) => answer.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(answers[1]).toMatchObject({ reason: { message: 'unique constraint' } });
    expect(driver.batches).toEqual([['a', 'poison', 'b'], ['a'], ['poison'], ['b']]);
  });

  it('stops trying one by one when an outage begins meanwhile', async () => {
    const { engine: driver, batcher } = make();
    driver.fail = (hashes) => {
      if (hashes.includes('b')) return hashes.length === 1 ? new Outage('gone') : new Error('poison');
      return null;
    };
    const answers = await Promise.allSettled(['a', 'b', 'c'].map((hash) => batcher.admit(ask(hash))));
    expect(answers.map((answer) => answer.status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(driver.batches).toEqual([['a', 'b', 'c'], ['a'], ['b']]);
  });

  it('turns admissions away when the queue is full, never a settlement', async () => {
    const { batcher } = make({ queue: 2 });
    const answers = ['a', 'b', 'c'].map((hash) => batcher.admit(ask(hash)));
    const settled = batcher.settle(settlement('d'));
    expect(batcher.waiting).toBe(3);
    expect((await Promise.allSettled(answers))[2]).toMatchObject({
      status: 'rejected',
      reason: { code: 'overloaded', details: { retry_after: 1 } },
    });
    expect(await settled).toBe('d');
    expect(batcher.stats.overloaded).toBe(1);
  });

  it('answers what waits before it closes', async () => {
    const { batcher } = make({ batch: 1 });
    const answers = ['a', 'b', 'c'].map((hash) => batcher.admit(ask(hash)));
    await batcher.close();
    expect(await Promise.all(answers)).toEqual(['a', 'b', 'c']);
    await expect(batcher.admit(ask('late'))).rejects.toMatchObject({ code: 'verification_unavailable' });
  });

  it('keeps nothing of an answered request for the next full garbage collection', async () => {
    setFlagsFromString('--expose-gc');
    const collect: (options?: { type: 'minor' }) => void = runInNewContext('gc');
    const { batcher } = make({ batch: 50 });
    /** MB that only a full collection would free, after 60 rounds of 50 requests of over 16 kB. */
    const run = async () => {
      // What tests before left in this process.
      collect();
      for (let round = 0; round < 60; round += 1) {
        const held = Array.from({ length: 50 }, (_, i) => ({
          ...ask(`${i}`),
          held: Array.from({ length: 2_000 }, () => i),
        }));
        await Promise.all(held.map((request) => batcher.admit(request)));
        collect({ type: 'minor' });
      }
      const before = getHeapStatistics().used_heap_size;
      collect();
      return (before - getHeapStatistics().used_heap_size) / 1e6;
    };
    // Requests that were kept would be 48 MB each time; on a busy machine, a collection can come in the middle of a
    // round.
    const rest = [await run(), await run(), await run()];
    expect(Math.min(...rest)).toBeLessThan(10);
  });
});
