import { expect, it } from 'vitest';
import { parseEntries } from './entries.ts';

it('splits entries at white space, commas and semicolons', () => {
  expect(parseEntries(' 192.0.2.1,\n10.0.0.0/8\r\n\n2001:db8::/32 ; ::1\t')).toEqual([
    '192.0.2.1',
    '10.0.0.0/8',
    '2001:db8::/32',
    '::1',
  ]);
  expect(parseEntries(' \n')).toEqual([]);
});
