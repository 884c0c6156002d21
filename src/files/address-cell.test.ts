import { describe, expect, it } from 'vitest';
import { addressIn } from './address-cell.ts';

describe('the address in a cell', () => {
  it.each([
    ['ada@b.de', 'ada@b.de'],
    [' \t ada@b.de\u{A0}\u{200B}\r\n', 'ada@b.de'],
    ['\u{FEFF}ada@b.de', 'ada@b.de'],
    ['Ada <ada@b.de>', 'ada@b.de'],
    ['"Lovelace, Ada" < ada@b.de > ', 'ada@b.de'],
    ['<ada@b.de>', 'ada@b.de'],
    ['mailto:ada@b.de', 'ada@b.de'],
    ['MAILTO: ada%2Bx@b.de?subject=a', 'ada+x@b.de'],
    ['Ada <mailto:ada@b.de>', 'ada@b.de'],
    ['mailto:%zz@b.de', '%zz@b.de'],
    // What is wrong stays wrong.
    ['ada@b.de,', 'ada@b.de,'],
    ['Ada ada@b.de>', 'Ada ada@b.de>'],
    ['ada @b.de', 'ada @b.de'],
  ])('%j is %j', (cell, address) => expect(addressIn(cell)).toBe(address));

  it.each(['', '   ', '\u{200B}\u{A0}', '<>', 'mailto:', 'Ada < >'])('is missing in %j', (cell) =>
    expect(addressIn(cell)).toBeNull());
});
