import { BlockList } from 'node:net';
import { networkInterfaces } from 'node:os';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseIp } from '../../kernel/ip.ts';
import { ownAddresses, routable, SPECIAL_BLOCKS } from './routable.ts';

const PUBLIC = { allowPrivate: false, own: new Set<string>() };
const isPublic = (ip: string): boolean => routable(ip, PUBLIC);

/** First and last address of each block and their neighbors, written out so that the table does not test itself. */
const REFUSED: readonly (readonly [first: string, last: string, before: string | null, after: string | null])[] = [
  ['0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.8', '191.255.255.255', '192.0.0.9'],
  ['192.0.0.11', '192.0.0.255', '192.0.0.10', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '239.255.255.255', '223.255.255.255', null],
  ['240.0.0.0', '255.255.255.255', null, null],
  ['::', '::fffe:ffff:ffff', null, null],
  ['::1:0:0:0', '64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff', null, null],
  ['64:ff9b:0:0:0:1::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, '2000::'],
  ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', null, null],
  ['100::', '100::ffff:ffff:ffff:ffff', null, null],
  ['100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff', null, null],
  ['2001::', '2001:1::', '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:1::1'],
  ['2001:1::4', '2001:2:ffff:ffff:ffff:ffff:ffff:ffff', '2001:1::3', '2001:3::'],
  ['2001:4::', '2001:4:111:ffff:ffff:ffff:ffff:ffff', '2001:3:ffff:ffff:ffff:ffff:ffff:ffff', '2001:4:112::'],
  ['2001:4:113::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff', '2001:4:112:ffff:ffff:ffff:ffff:ffff', '2001:20::'],
  ['2001:40::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
  ['4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
  ['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, null],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, null],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, null],
  ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, null],
  ['ff00::', 'ff02::1', null, null],
];

describe('routable', () => {
  it.each(REFUSED)('rejects %s to %s and accepts its public neighbors', (first, last, before, after) => {
    expect(isPublic(first)).toBe(false);
    expect(isPublic(last)).toBe(false);
    if (before) expect([before, isPublic(before)]).toEqual([before, true]);
    if (after) expect([after, isPublic(after)]).toEqual([after, true]);
  });

  it('tests the boundaries of every refused block of the table', () => {
    const firsts = new Set(REFUSED.flat());
    // Blocks that begin inside a wider refused one: their start is not a boundary.
    const inside = new Set(['::1/128', '::/96', '2001::/32', '2001:2::/48', '2001:10::/28', '255.255.255.255/32']);
    const missing = SPECIAL_BLOCKS.filter(({ rule, cidr }) => rule === 'refuse' && !inside.has(cidr)).filter(
      ({ cidr }) => !firsts.has(cidr.split('/')[0]!),
    );
    expect(missing.map(({ cidr }) => cidr)).toEqual([]);
    for (const cidr of inside) expect(isPublic(cidr.split('/')[0]!)).toBe(false);
  });

  it.each([
    ['::ffff:8.8.8.8', true],
    ['::ffff:808:808', true],
    ['::ffff:127.0.0.1', false],
    ['::ffff:7f00:1', false],
    ['::ffff:10.1.2.3', false],
    ['64:ff9b::8.8.8.8', true],
    ['64:ff9b::7f00:1', false],
    ['64:ff9b::192.168.0.1', false],
    ['::8.8.8.8', false],
    ['2a00:1450:4025:401::1b', true],
    ['8.8.8.8', true],
  ])('judges %s by the address in it: %s', (ip, expected) => {
    expect(isPublic(ip)).toBe(expected);
  });

  it.each([
    '',
    'localhost',
    '8.8.8',
    '08.8.8.8',
    '0x8.8.8.8',
    '134744072',
    '8.8.8.8 ',
    '[::1]',
    '2a00::1%eth0',
    ':::',
    '1::2::3',
  ])('refuses what is no plain address: %j', (ip) => {
    expect(isPublic(ip)).toBe(false);
    expect(routable(ip, { ...PUBLIC, allowPrivate: true })).toBe(false);
  });

  it('accepts every address when private networks are allowed', () => {
    const own = ownAddresses(networkInterfaces());
    for (const ip of ['127.0.0.1', '::1', '10.0.0.1', 'fe80::1']) {
      expect(routable(ip, { allowPrivate: true, own })).toBe(true);
    }
  });

  it('rejects our own addresses, in every notation', () => {
    const nic = (address: string) => ({
      address,
      netmask: '',
      mac: '',
      internal: false,
      cidr: null,
      family: 'IPv4' as const,
    });
    const own = ownAddresses({ eth0: [nic('8.8.4.4'), nic('2a00:1450::a'), nic('fe80::1%eth0')], lo: undefined });
    expect(own.size).toBe(3);
    for (const ip of ['8.8.4.4', '::ffff:8.8.4.4', '64:ff9b::808:404', '2A00:1450:0:0::000A']) {
      expect([ip, isPublic(ip), routable(ip, { allowPrivate: false, own })]).toEqual([ip, true, false]);
    }
    expect(routable('8.8.4.5', { allowPrivate: false, own })).toBe(true);
  });
});

describe('parseIp', () => {
  it('parses every address as the system does', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), fc.ipV4()), (ip) => {
        const groups = parseIp(ip) ?? [];
        const v4 = groups.flatMap((group) => [group >> 8, group & 255]).join('.');
        const v6 = groups.map((group) => group.toString(16)).join(':');
        const family = ip.includes(':') ? 'ipv6' : 'ipv4';
        const list = new BlockList();
        list.addAddress(ip, family);
        expect(list.check(family === 'ipv6' ? v6 : v4, family)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('rejects invalid addresses', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789abcf:.%[]x '), maxLength: 24 }), (text) => {
        const groups = parseIp(text);
        if (groups) expect(groups.every((g) => Number.isInteger(g) && g >= 0 && g <= 0xffff)).toBe(true);
        if (groups) expect([2, 8]).toContain(groups.length);
      }),
      { numRuns: 2000 },
    );
  });
});
