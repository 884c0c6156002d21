import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LinkedList, type Place } from './linked-list.ts';

describe('a linked list', () => {
  it('has what a Set would have, in the same order, whatever is added and removed', () => {
    const steps = fc.array(fc.oneof(fc.constant('add' as const), fc.nat(30)), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (all) => {
        const [list, set, places] = [new LinkedList<number>(), new Set<number>(), [] as Place<number>[]];
        for (const step of all) {
          if (step === 'add') {
            set.add(places.length);
            places.push(list.add(places.length));
          } else {
            const place = places[step];
            if (place !== undefined) expect(list.remove(place)).toBe(set.delete(step));
          }
          expect([...list].map(({ value }) => value)).toEqual([...set]);
          expect([list.size, list.first?.value]).toEqual([set.size, [...set][0]]);
        }
      }),
    );
  });

  it('goes on after a member that is removed when its turn comes', () => {
    const [list, seen] = [new LinkedList<string>(), [] as string[]];
    for (const value of ['a', 'b', 'c']) list.add(value);
    for (const place of list) {
      seen.push(place.value);
      list.remove(place);
    }
    expect([seen, list.size, list.first]).toEqual([['a', 'b', 'c'], 0, null]);
  });

  it('unlinks what it removes, so that it retains no neighbour', () => {
    const list = new LinkedList<string>();
    const [, middle] = [list.add('a'), list.add('b'), list.add('c')];
    list.remove(middle);
    expect([middle.before, middle.after]).toEqual([null, null]);
  });
});
