import { describe, expect, it } from 'vitest';
import type { Zone } from '../../../tests/lab/dns.ts';
import { find, PUBLIC, run, world } from '../../../tests/lab/lookup.ts';
import type { DnsEvidence } from '../evidence.ts';
import type { MxLookupOptions } from './mx-lookup.ts';

describe('mailServers', () => {
  it('returns hosts by preference, with the addresses that may be dialled', async () => {
    const found = await find({
      'd.test': {
        MX: [
          [20, 'b.big.test'],
          [10, 'a.big.test'],
        ],
      },
      'a.big.test': { A: [PUBLIC, '10.0.0.1'], AAAA: ['2a00:1450::1', '::1'] },
      'b.big.test': { A: ['8.8.4.4'] },
    });
    expect(found).toEqual({
      finding: 'mx',
      failure: null,
      records: [
        { host: 'a.big.test', priority: 10 },
        { host: 'b.big.test', priority: 20 },
      ],
      hosts: [{ host: 'a.big.test', priority: 10, addresses: [PUBLIC, '2a00:1450::1'] }],
      unusable: [],
      provider: { name: 'big', kind: 'mailbox' },
    });
  });

  it('looks up only as many hosts as wanted', async () => {
    const { dns, resolver } = await world({
      'd.test': {
        MX: [
          [1, 'a.test'],
          [2, 'b.test'],
          [3, 'c.test'],
          [4, 'e.test'],
        ],
      },
      '*.test': { A: [PUBLIC] },
    });
    const found = await run(resolver, 'd.test', { hostsWanted: 3 });
    expect(found.hosts.map(({ host }) => host)).toEqual(['a.test', 'b.test', 'c.test']);
    expect(dns.queries.map(({ name, type }) => `${name} ${type}`).sort()).toEqual(
      ['d.test MX', 'a.test A', 'a.test AAAA', 'b.test A', 'b.test AAAA', 'c.test A', 'c.test AAAA'].sort(),
    );
  });

  it('shuffles hosts of equal preference, and only those; the records stay sorted', async () => {
    const { resolver } = await world({
      'd.test': {
        MX: [
          [5, 'z.test'],
          [1, 'first.test'],
          [5, 'a.test'],
          [5, 'm.test'],
          [9, 'last.test'],
        ],
      },
      '*.test': { A: [PUBLIC] },
    });
    const orders = new Set<string>();
    for (let i = 0; i < 36; i++) {
      let n = 0;
      const random = () => ((i >> (n++ % 3)) % 6) / 6;
      const found = await run(resolver, 'd.test', { hostsWanted: 5, random });
      const hosts = found.hosts.map(({ host }) => host.split('.')[0]);
      expect([hosts[0], hosts[4]]).toEqual(['first', 'last']);
      expect(found.records.map(({ host }) => host.split('.')[0])).toEqual(['first', 'a', 'm', 'z', 'last']);
      orders.add(hosts.join());
    }
    expect(orders.size).toBe(6);
  });

  it.each<[string, Zone, Partial<DnsEvidence>]>([
    ['a domain that does not exist', {}, { finding: 'domain_not_found', records: [] }],
    ['no MX and no address', { 'd.test': { TXT: ['x'] } }, { finding: 'no_mx_records', records: [], unusable: [] }],
    [
      'no MX but an address',
      { 'd.test': { A: [PUBLIC] } },
      {
        finding: 'implicit_mx',
        records: [{ host: 'd.test', priority: 0 }],
        hosts: [{ host: 'd.test', priority: 0, addresses: [PUBLIC] }],
      },
    ],
    [
      'no MX but an IPv6 address',
      { 'd.test': { AAAA: ['2a00:1450::1'] } },
      { finding: 'implicit_mx', hosts: [{ host: 'd.test', priority: 0, addresses: ['2a00:1450::1'] }] },
    ],
    [
      'no MX but a private address',
      { 'd.test': { A: ['10.0.0.1'] } },
      { finding: 'mx_unusable', unusable: [{ host: 'd.test', why: 'not_routable' }], hosts: [] },
    ],
    ['a null MX', { 'd.test': { MX: [[0, '']], A: [PUBLIC] } }, { finding: 'null_mx', hosts: [], unusable: [] }],
    [
      'a null MX beside a real one',
      {
        'd.test': {
          MX: [
            [0, ''],
            [10, 'mx.test'],
          ],
        },
        'mx.test': { A: [PUBLIC] },
      },
      { finding: 'mx', unusable: [{ host: '.', why: 'invalid_name' }] },
    ],
    [
      'a CNAME at the domain',
      { 'd.test': { CNAME: 'e.test' }, 'e.test': { MX: [[10, 'mx.test']] }, 'mx.test': { A: [PUBLIC] } },
      { finding: 'mx', records: [{ host: 'mx.test', priority: 10 }] },
    ],
    [
      'a CNAME at the mail host',
      { 'd.test': { MX: [[10, 'mx.test']] }, 'mx.test': { CNAME: 'real.test' }, 'real.test': { A: [PUBLIC] } },
      { finding: 'mx', hosts: [{ host: 'mx.test', priority: 10, addresses: [PUBLIC] }] },
    ],
    ['a CNAME to nowhere', { 'd.test': { CNAME: 'gone.test' } }, { finding: 'domain_not_found' }],
    [
      'the same host twice',
      {
        'd.test': {
          MX: [
            [20, 'mx.test'],
            [10, 'MX.test'],
          ],
        },
        'mx.test': { A: [PUBLIC] },
      },
      { finding: 'mx', records: [{ host: 'mx.test', priority: 10 }] },
    ],
  ])('finds, with %s, %o', async (_name, records, expected) => {
    expect(await find(records)).toMatchObject({ failure: null, ...expected });
  });

  it('reports why each unusable host is unusable', async () => {
    const MX = [
      [1, '192.0.2.1'],
      [2, 'localhost'],
      [3, 'mx.localhost'],
      [4, 'bad!name.test'],
      [5, 'gone.test'],
      [6, 'empty.test'],
      [7, 'private.test'],
      [8, 'special.test'],
    ] as const;
    const zone: Zone = {
      'd.test': { MX },
      'empty.test': { TXT: ['x'] },
      'private.test': { A: ['127.0.0.1', '192.168.1.1'], AAAA: ['fe80::1'] },
      'special.test': { AAAA: ['::ffff:10.0.0.1', '64:ff9b::7f00:1'] },
    };
    const found = await find(zone);
    expect(found.finding).toBe('mx_unusable');
    expect(Object.fromEntries(found.unusable.map(({ host, why }) => [host, why]))).toEqual({
      '192.0.2.1': 'ip_literal',
      localhost: 'localhost',
      'mx.localhost': 'localhost',
      'bad!name.test': 'invalid_name',
      'gone.test': 'no_address',
      'empty.test': 'no_address',
      'private.test': 'not_routable',
      'special.test': 'not_routable',
    });
    const allowed = await find(zone, { allowPrivate: true, hostsWanted: 3 });
    expect(allowed.hosts.map(({ host }) => host)).toEqual(['private.test', 'special.test']);
  });

  it('rejects targets with invalid octets', async () => {
    const found = await find({ 'd.test': { fault: 'odd_names' }, 'mx.good.test': { A: [PUBLIC] } });
    expect(found).toMatchObject({
      finding: 'mx_unusable',
      unusable: [{ why: 'invalid_name' }, { why: 'invalid_name' }],
    });
  });

  it('evaluates a cached answer again for callers with other options', async () => {
    const { resolver } = await world({ 'd.test': { MX: [[1, 'mx.test']] }, 'mx.test': { A: [PUBLIC, '10.0.0.1'] } });
    const addresses = async (engine: Partial<MxLookupOptions>) =>
      (await run(resolver, 'd.test', engine)).hosts[0]?.addresses;
    expect(await addresses({})).toEqual([PUBLIC]);
    expect(await addresses({ allowPrivate: true })).toEqual([PUBLIC, '10.0.0.1']);
    expect(await addresses({ own: new Set(['2056:2056']) })).toBeUndefined();
    expect(await addresses({})).toEqual([PUBLIC]);
  });

  it('refuses our own addresses', async () => {
    const own = new Set(['2056:2056']); // 8.8.8.8 as ownAddresses spells it
    const found = await find({ 'd.test': { MX: [[1, 'mx.test']] }, 'mx.test': { A: [PUBLIC] } }, { own });
    expect(found).toMatchObject({ finding: 'mx_unusable', unusable: [{ host: 'mx.test', why: 'not_routable' }] });
  });

  it('reads the first 20 of 200 MX records, and 8 addresses per family', async () => {
    const MX = Array.from({ length: 200 }, (_, i) => [i + 1, `mx${i}.test`] as const);
    const { dns, resolver } = await world({ 'd.test': { MX }, '*.test': { A: ['10.0.0.1'] } });
    const found = await run(resolver, 'd.test');
    expect(found.finding).toBe('mx_unusable');
    expect(found.records.length).toBe(20);
    expect(found.unusable.length).toBe(20);
    expect(dns.asked('mx20.test')).toBe(0);

    const many = await find({ 'd.test': { A: Array.from({ length: 60 }, (_, i) => `8.8.8.${i}`) } });
    expect(many.hosts[0]?.addresses.length).toBe(8);
  });

  it('skips hosts whose lookup fails, and is inconclusive only when none is left', async () => {
    const zone: Zone = {
      'd.test': {
        MX: [
          [1, 'fails.test'],
          [2, 'gone.test'],
          [3, 'good.test'],
        ],
      },
      'fails.test': { fault: 'servfail' },
      'good.test': { A: [PUBLIC] },
    };
    expect(await find(zone)).toMatchObject({
      finding: 'mx',
      failure: null,
      hosts: [{ host: 'good.test' }],
      unusable: [
        { host: 'fails.test', why: 'dns_failure' },
        { host: 'gone.test', why: 'no_address' },
      ],
    });
    expect(await find({ ...zone, 'good.test': { A: ['10.0.0.1'] } })).toMatchObject({
      finding: 'dns_failure',
      failure: 'servfail',
    });
  });

  it('needs one address family only', async () => {
    const zone: Zone = { 'd.test': { MX: [[1, 'mx.test']] }, 'mx.test': { A: [PUBLIC], fault: { AAAA: 'servfail' } } };
    expect(await find(zone)).toMatchObject({ finding: 'mx', hosts: [{ addresses: [PUBLIC] }] });
  });
});
