import { BlockList, isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalCidr,
  canonicalIp,
  canonicalScopedIp,
  cidrsContaining,
  formatHostPort,
  ipMatcher,
  networkOf,
  networksOf,
  parseHostPort,
  parseIp,
  withoutZone,
} from './ip.ts';

const ipInList = (ip: string, list: readonly string[]): boolean => ipMatcher(list)(ip);

describe('canonicalIp', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['0.0.0.0', '0.0.0.0'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:0db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['1::', '1::'],
    ['::', '::'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['::192.0.2.1', '::c000:201'],
    ['64:ff9b::192.0.2.1', '64:ff9b::c000:201'],
  ])('%s → %s', (text, expected) => expect(canonicalIp(text)).toBe(expected));

  it.each([
    '',
    ' ',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '010.0.0.1',
    '1.2.3.04',
    '1.2.3',
    '1.2.3.4.',
    '1.2.3.4.5',
    '256.1.1.1',
    '1.2.3.4 ',
    ' 1.2.3.4',
    '1.2.3.4:25',
    '1.2.3.4/32',
    '[::1]',
    'fe80::1%eth0',
    ':::',
    '1::2::3',
    '::ffff:010.1.1.1',
    '::1.2.3',
    '12345::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    'g::',
    '１.2.3.4',
    '::1\n',
    '1.2.3.4\n',
    '1.2.3.-4',
  ])('%j is no address', (text) => {
    expect(canonicalIp(text)).toBeNull();
    if (!text.includes('/')) expect(canonicalCidr(text)).toBeNull();
    expect(cidrsContaining(text)).toEqual([]);
    expect(ipInList(text, ['0.0.0.0/0', '::/0'])).toBe(false);
  });
});

describe('canonicalCidr', () => {
  it.each([
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['192.0.2.255/25', '192.0.2.128/25'],
    ['192.0.2.1/32', '192.0.2.1'],
    ['192.0.2.1', '192.0.2.1'],
    ['1.2.3.4/0', '0.0.0.0/0'],
    ['2001:DB8::FFFF/33', '2001:db8::/33'],
    ['2001:db8::1/128', '2001:db8::1'],
    ['::/0', '::/0'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8'],
    ['::ffff:10.1.2.3/96', '0.0.0.0/0'],
    ['::ffff:10.1.2.3/128', '10.1.2.3'],
    ['::ffff:10.1.2.3/95', '::fffe:0:0/95'],
  ])('%s → %s', (text, expected) => expect(canonicalCidr(text)).toBe(expected));

  it.each([
    '1.2.3.4/',
    '1.2.3.4/33',
    '1.2.3.4/08',
    '1.2.3.4/+8',
    '1.2.3.4/-1',
    '1.2.3.4/8/8',
    '1.2.3.4/255.0.0.0',
    '::/129',
    '::/ 1',
    '10/8',
    '10.0.0/8',
    '/8',
    'fe80::1%1/64',
    '1.2.3.4/1e1',
    '::/0x1',
  ])('%j is no block', (text) => expect(canonicalCidr(text)).toBeNull());
});

const v4 = fc.ipV4();
const v6 = fc.ipV6();
const prefixed = fc.oneof(
  fc.tuple(v4, fc.integer({ min: 0, max: 32 })),
  fc.tuple(v6, fc.integer({ min: 0, max: 128 })),
);

describe('addresses and blocks, compared with other parsers', () => {
  it('parses what Node parses, and formats v6 as URL does', () => {
    const noise = fc.string({ unit: fc.constantFrom(...'0123456789abF:.%/'), maxLength: 24 });
    const group = fc.constantFrom(
      '',
      '',
      '0',
      '1',
      'aB',
      'ffff',
      '12345',
      'g',
      '1.2.3.4',
      '1.2.3',
      '01.2.3.4',
      '1.2.3.256',
    );
    const nearly = fc.array(group, { maxLength: 10 }).map((groups) => groups.join(':'));
    fc.assert(
      fc.property(fc.oneof(v4, v6, noise, nearly), (text) => {
        const found = canonicalIp(text);
        expect(found !== null).toBe((isIPv4(text) || isIPv6(text)) && !text.includes('%'));
        if (found === null) return;
        const host = text.includes(':') ? new URL(`http://[${text}]/`).hostname.slice(1, -1) : text;
        expect(canonicalIp(host)).toBe(found);
        if (found.includes(':')) expect(found).toBe(host);
      }),
      { numRuns: 3000 },
    );
  });

  it('never throws and is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        expect(() => [canonicalIp(text), canonicalCidr(text), cidrsContaining(text), ipMatcher([text])]).not.toThrow();
      }),
    );
    fc.assert(
      fc.property(prefixed, ([ip, bits]) => {
        const block = canonicalCidr(`${ip}/${bits}`)!;
        expect(canonicalCidr(block)).toBe(block);
      }),
    );
  });

  it('lists a block among those of an address exactly when it contains the address', () => {
    fc.assert(
      fc.property(prefixed, fc.oneof(v4, v6), fc.boolean(), ([base, bits], other, own) => {
        const block = canonicalCidr(`${base}/${bits}`)!;
        const ip = own ? base : other;
        const covered = cidrsContaining(ip).includes(block);
        const sameFamily = block.includes(':') === canonicalIp(ip)!.includes(':');
        if (own && sameFamily) expect(covered).toBe(true);
        expect(ipInList(ip, [block])).toBe(covered);
        if (!sameFamily) return;
        const list = new BlockList();
        const [address, prefix] = block.split('/') as [string, string?];
        const family = address.includes(':') ? 'ipv6' : 'ipv4';
        list.addSubnet(address, prefix === undefined ? (family === 'ipv4' ? 32 : 128) : Number(prefix), family);
        expect(covered).toBe(list.check(canonicalIp(ip)!, family));
      }),
      { numRuns: 1000 },
    );
  });

  it('lists every block that contains an address once, narrowest first', () => {
    const four = cidrsContaining('::ffff:192.0.2.255');
    expect(four).toHaveLength(33);
    expect(four.slice(0, 3)).toEqual(['192.0.2.255', '192.0.2.254/31', '192.0.2.252/30']);
    expect(four.at(-1)).toBe('0.0.0.0/0');
    const six = cidrsContaining('2001:DB8:ffff:ffff:ffff:ffff:ffff:ffff');
    expect(six).toHaveLength(129);
    expect(new Set(six).size).toBe(129);
    expect(six.map((block) => canonicalCidr(block))).toEqual(six);
    expect(six.at(-1)).toBe('::/0');
  });
});

describe('ipMatcher', () => {
  it('treats v4 and v4-mapped alike, in the list and in the address', () => {
    expect(ipInList('::ffff:192.0.2.7', ['192.0.2.0/24'])).toBe(true);
    expect(ipInList('192.0.2.7', ['::ffff:192.0.2.0/120'])).toBe(true);
    expect(ipInList('192.0.3.7', ['192.0.2.0/24', '2001:db8::/32'])).toBe(false);
    expect(ipInList('192.0.2.7', ['::/0'])).toBe(false);
  });

  it('matches nothing for invalid input', () => {
    expect(ipInList('192.0.2.7', [])).toBe(false);
    expect(ipInList('192.0.2.7', ['', 'any', '192.0.2', '192.0.2.7/x'])).toBe(false);
    expect(ipInList('unknown', ['0.0.0.0/0'])).toBe(false);
  });
});

describe('canonicalScopedIp', () => {
  it.each([
    ['FE80::1%Eth0', 'fe80::1%Eth0'],
    ['febf::1%vlan.7', 'febf::1%vlan.7'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
  ])('%s → %s', (text, expected) => expect(canonicalScopedIp(text)).toBe(expected));

  it.each([
    '2001:db8::1%eth0',
    '127.0.0.1%lo',
    'fe80::1%',
    'fe80::1%a%b',
    'fe80::1%eth 0',
    '%eth0',
    'fe80::1%a/64',
  ])('%s is none', (text) => expect(canonicalScopedIp(text)).toBeNull());

  it('is the address without its zone, on any interface', () => {
    const zone = fc.stringMatching(/^[\w.~-]{1,32}$/);
    fc.assert(
      fc.property(fc.ipV6(), zone, (ip, name) => {
        const found = canonicalScopedIp(`${ip}%${name}`);
        expect(found !== null).toBe(ipInList(ip, ['fe80::/10']));
        if (found !== null) expect(withoutZone(found)).toBe(canonicalIp(ip));
      }),
    );
  });
});

describe('parseHostPort', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1:53'],
    ['192.0.2.1:5353', '192.0.2.1:5353'],
    ['::1', '[::1]:53'],
    ['[::1]', '[::1]:53'],
    ['[2001:DB8::1]:65535', '[2001:db8::1]:65535'],
    ['fe80::1%eth0', '[fe80::1%eth0]:53'],
    ['[fe80::1%eth0]:1', '[fe80::1%eth0]:1'],
  ])('%s → %s', (text, expected) => expect(formatHostPort(parseHostPort(text, 53)!)).toBe(expected));

  it.each([
    '',
    ':53',
    'localhost',
    'localhost:53',
    '1.2.3',
    '1.2.3.4:',
    '1.2.3.4:0',
    '1.2.3.4:65536',
    '1.2.3.4:53:53',
    '[1.2.3.4]:53',
    '[]:53',
    '[::1',
    '[::1]53',
    '[::1]:',
    '1.2.3.4:+5',
    ' 1.2.3.4',
    '1.2.3.4/32',
    '[::1]:5 ',
  ])('%j is none', (text) => expect(parseHostPort(text, 53)).toBeNull());

  it('reads what formatHostPort writes, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.integer({ min: 1, max: 65535 }), (ip, port) => {
        const address = canonicalIp(ip)!;
        expect(parseHostPort(formatHostPort({ address, port }), 53)).toEqual({ address, port });
        expect(parseHostPort(ip, port)).toEqual({ address, port });
      }),
    );
    const noise = fc.string({ unit: fc.constantFrom(...'01259abf:.%/[]'), maxLength: 24 });
    fc.assert(
      fc.property(noise, (text) => {
        const found = parseHostPort(text, 53);
        if (found) expect(parseIp(withoutZone(found.address))).not.toBeNull();
      }),
      { numRuns: 2000 },
    );
  });
});

describe('networkOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:db8:1::', '2001:db8:1:0'],
    ['::1', '0:0:0:0'],
  ])('%s is counted as %s', (ip, network) => expect(networkOf(ip)).toBe(network));
});

describe('networksOf', () => {
  it.each([
    ['192.0.2.7', ['192.0.2.7']],
    ['2001:db8:1:2a3:4:5:6:7', ['2001:db8:1/48', '2001:db8:1:200/56', '2001:db8:1:2a3']],
    ['::ffff:192.0.2.7', ['::ffff:192.0.2.7']],
  ])('%s is counted by %j', (ip, networks) => expect(networksOf(ip).map(({ network }) => network)).toEqual(networks));
});
