import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoizeBounded } from './memoize.ts';

/** Keys computed, in order; the answer is null for keys that begin with n. */
function counted(most: number) {
  const worked: string[] = [];
  const ask = memoizeBounded(most, (key) => {
    worked.push(key);
    return key.startsWith('n') ? null : key.toUpperCase();
  });
  return { ask, worked };
}

describe('memoize', () => {
  it('computes each key once, including null', () => {
    const { ask, worked } = counted(10);
    for (const key of ['a', 'nil', 'a', 'nil', 'b', 'a']) ask(key);
    expect([ask('a'), ask('nil'), ask('b')]).toEqual(['A', null, 'B']);
    expect(worked).toEqual(['a', 'nil', 'b']);
  });

  it('evicts unused keys and keeps used ones', () => {
    const { ask, worked } = counted(3);
    ask('first');
    for (let i = 0; i < 50; i++) {
      ask(`k${i}`);
      ask('kept');
    }
    ask('first');
    expect(worked.filter((key) => key === 'kept')).toHaveLength(1);
    expect(worked.filter((key) => key === 'first')).toHaveLength(2);
  });

  it('always equals the unmemoized function', () => {
    const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'n1', 'n2', 'n3', 'f', 'g'), { maxLength: 200 });
    fc.assert(
      fc.property(keys, fc.integer({ min: 1, max: 6 }), (asked, most) => {
        const { ask } = counted(most);
        expect(asked.map(ask)).toEqual(asked.map((key) => (key.startsWith('n') ? null : key.toUpperCase())));
      }),
    );
  });
});
