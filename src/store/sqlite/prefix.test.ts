import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterPrefix } from './statements.ts';

/** Texts in the order that SQLite has them in: of their UTF-8. */
const isBefore = (a: string, b: string): boolean => Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;

describe('the range of a prefix', () => {
  it.each([
    ['jane', 'janf'],
    ['az', 'a{'],
    ['a\u{10ffff}', 'b'],
    ['\u{10ffff}\u{10ffff}', null],
    ['', null],
    ['\ud7ff', '\ue000'],
    ['a\u{ffff}', 'a\u{10000}'],
  ])('%j ends before %j', (text, end) => {
    expect(afterPrefix(text)).toBe(end);
  });

  it('holds all that begin with it, and nothing else', () => {
    const some = fc.string({ unit: 'binary', maxLength: 6 });
    fc.assert(
      fc.property(some, some, (prefix, text) => {
        const end = afterPrefix(prefix);
        const within = (one: string) => !isBefore(one, prefix) && (end === null || isBefore(one, end));
        expect(within(prefix + text)).toBe(true);
        expect(within(text)).toBe(text.startsWith(prefix));
      }),
    );
  });
});
