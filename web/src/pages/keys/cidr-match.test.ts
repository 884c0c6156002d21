import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalCidr, cidrsContaining, ipMatcher } from '../../../../src/kernel/ip.ts';
import { matchesCidrs, parseEntries } from './cidr-match.ts';

describe('matchesCidrs', () => {
  it.each([
    ['192.0.2.1', ['192.0.2.1']],
    ['192.0.2.1', ['10.0.0.0/8', '192.0.2.0/24']],
    ['192.0.2.255', ['192.0.2.128/25']],
    ['192.0.2.1', ['0.0.0.0/0']],
    ['192.0.2.77', [' 192.0.2.1/24 ']],
    ['::ffff:192.0.2.1', ['192.0.2.0/24']],
    ['192.0.2.1', ['::ffff:192.0.2.0/120']],
    ['2001:db8::1', ['2001:DB8::/32']],
    ['2001:db8::1', ['2001:db8:0:0:0:0:0:1']],
    ['2001:db8:0:1::', ['2001:db8::/47', '2001:db8:0:1::/64']],
    ['::1', ['::/0']],
    ['64:ff9b::192.0.2.1', ['64:ff9b::c000:200/120']],
  ])('%s matches %j', (ip, list) => expect(matchesCidrs(ip, list)).toBe(true));

  it.each([
    ['192.0.2.1', []],
    ['192.0.2.1', ['192.0.2.2', '192.0.3.0/24']],
    ['192.0.2.127', ['192.0.2.128/25']],
    ['192.0.2.1', ['::/0', '2001:db8::/32']],
    ['2001:db8::1', ['0.0.0.0/0', '2001:db9::/32']],
    ['192.0.2.1', ['192.0.2.1/33', '192.0.2.01', '192.0.2', '192.0.2.1/', '192.0.2.1/24/8', 'everything', '']],
    ['::1', ['::1::', ':1', '1:', '0:0:0:0:0:0:0:0:1', '::1%lo', '[::1]', '::g', '::1/129']],
    ['unreadable', ['0.0.0.0/0', '::/0']],
  ])('%s does not match %j', (ip, list) => expect(matchesCidrs(ip, list)).toBe(false));

  it('agrees with the service', () => {
    const address = fc.oneof(fc.ipV4(), fc.ipV6());
    const entry = fc.oneof(
      address,
      fc.tuple(fc.ipV4(), fc.nat(34)).map(([ip, bits]) => `${ip}/${bits}`),
      fc.tuple(fc.ipV6(), fc.nat(130)).map(([ip, bits]) => `${ip}/${bits}`),
      fc.string({ maxLength: 12, unit: fc.constantFrom(...'0123456789af:./') }),
    );
    fc.assert(
      fc.property(address, fc.array(entry, { maxLength: 4 }), fc.nat(), (ip, list, pick) => {
        const around = cidrsContaining(ip);
        const lists = [list, [...list, around[pick % around.length]!]];
        for (const one of lists) expect([ip, one, matchesCidrs(ip, one)]).toEqual([ip, one, ipMatcher(one)(ip)]);
      }),
      { numRuns: 2000 },
    );
  });

  it('accepts an entry only if the service does', () => {
    const text = fc.string({ maxLength: 20, unit: fc.constantFrom(...'012345af:./') });
    fc.assert(
      fc.property(text, (entry) => {
        if (canonicalCidr(entry) === null)
          expect(matchesCidrs('0.0.0.0', [entry]) || matchesCidrs('::', [entry])).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });
});

it('splits entries at white space, commas and semicolons', () => {
  expect(parseEntries(' 192.0.2.1,\n10.0.0.0/8\r\n\n2001:db8::/32 ; ::1\t')).toEqual([
    '192.0.2.1',
    '10.0.0.0/8',
    '2001:db8::/32',
    '::1',
  ]);
  expect(parseEntries(' \n')).toEqual([]);
});
