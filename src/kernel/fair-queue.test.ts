import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue, Places } from './fair-queue.ts';

const settled = () => new Promise(setImmediate);

describe('FairQueue', () => {
  it('serves a party that comes beside one with many in line at once, as a place is left', async () => {
    const queue = new FairQueue(2);
    const served: string[] = [];
    for (let n = 0; n < 50; n++) void queue.enter('greedy').then(() => served.push('greedy'));
    await settled();
    expect(served).toEqual(['greedy']);
    void queue.enter('other').then(() => served.push('other'));
    await settled();
    expect(served).toEqual(['greedy', 'other']);
  });

  it('takes no more of a part than may wait', async () => {
    const queue = new FairQueue(1, 2);
    const leave = await queue.enter('a', '', true);
    const waiting = [queue.enter('a', '', true), queue.enter('a', '', true)];
    expect(await queue.enter('a', '', true)).toBeNull();
    leave?.();
    for (const turn of waiting) (await turn)?.();
    expect(await queue.enter('a', '', true)).not.toBeNull();
  });

  it('counts who has a place or waits for one', async () => {
    const queue = new FairQueue(1);
    const first = await queue.enter('a');
    const second = queue.enter('b');
    expect(queue.size).toBe(2);
    first();
    (await second)();
    expect(queue.size).toBe(0);
  });

  it('never has more than its places, and serves all in the end, whoever comes and leaves when', async () => {
    const steps = fc.array(fc.record({ party: fc.nat(4), part: fc.nat(2), leaves: fc.nat(3) }), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), steps, async (places, some) => {
        const queue = new FairQueue(places);
        const open: (() => void)[] = [];
        let served = 0;
        for (const { party, part, leaves } of some) {
          void queue.enter(`p${party}`, `q${part}`).then((leave) => {
            served += 1;
            open.push(leave);
          });
          await settled();
          expect(open.length).toBeLessThanOrEqual(places);
          for (let n = 0; n < leaves; n++) open.shift()?.();
        }
        while (served < some.length) {
          open.shift()?.();
          await settled();
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('Places', () => {
  function places(perParty: number, all: number, forFirst = 0, line = 0) {
    let now = 0;
    const some = new Places({ perParty, all, forFirst, line, graceMs: 1000 }, () => now);
    const lost: string[] = [];
    const take = (party: string, name = party) => {
      const place = some.take(party);
      if (typeof place === 'string') return place;
      place.onLost(() => lost.push(name));
      return place;
    };
    const pass = (ms: number) => {
      now += ms;
    };
    return { take, lost, pass, leave: (party: string) => some.leave(party) };
  }

  it('gives who has none the slowest place of those with the most, after their grace', () => {
    const { take, lost, pass } = places(3, 5);
    for (const name of ['g1', 'g2', 'g3']) take('greedy', name);
    const fast = take('one');
    take('two');
    expect(take('late')).toBe('all');
    pass(1000);
    expect(take('greedy')).toBe('party');
    expect(take('one')).toBe('all');
    expect(typeof take('late')).toBe('object');
    expect(lost).toHaveLength(1);
    expect(lost[0]).toMatch(/^g/);
    expect(typeof fast).toBe('object');
  });

  it('among equals ends the slowest, and none that we work on ourselves', () => {
    const { take, lost, pass } = places(1, 3);
    const [a, b, c] = [take('a'), take('b'), take('c')];
    if (typeof a === 'string' || typeof b === 'string' || typeof c === 'string') throw new Error('No place.');
    a.moved(5000);
    b.moved(10);
    c.keep();
    pass(2000);
    expect(typeof take('d')).toBe('object');
    expect(lost).toEqual(['b']);
    expect(typeof take('e')).toBe('object');
    expect(lost).toEqual(['b', 'a']);
    expect(take('f')).toBe('all');
    b.release();
    expect(take('f')).toBe('all');
    c.release();
    expect(typeof take('f')).toBe('object');
  });

  it('keeps some for those who have none, also where nobody can lose one', () => {
    const { take, pass } = places(3, 3, 1);
    for (const name of ['g1', 'g2', 'g3']) {
      const place = take('greedy', name);
      if (typeof place !== 'string') place.keep();
    }
    pass(2000);
    expect(take('first')).toBeTypeOf('object');
    expect(take('first')).toBe('all');
  });

  it('are given to those in line in their order, and to nobody before them', () => {
    const { take, leave } = places(2, 1, 0, 2);
    const held = take('a');
    if (typeof held === 'string') throw new Error('No place.');
    held.keep();
    expect([take('b'), take('c'), take('d'), take('a')]).toEqual(['wait', 'wait', 'all', 'all']);
    held.release();
    expect([take('a'), take('c')]).toEqual(['wait', 'wait'].with(0, 'all'));
    const second = take('b');
    if (typeof second === 'string') throw new Error('No place.');
    expect(take('c')).toBe('wait');
    second.release();
    leave('c');
    expect(take('d')).toBeTypeOf('object');
  });
});
