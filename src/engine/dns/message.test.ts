import { decode, encode } from 'dns-packet';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseIp, textOf } from '../../kernel/ip.ts';
import { type DnsQuestion, encodeQuestion, readReply } from './message.ts';

const question: DnsQuestion = { name: 'good.test', type: 'MX' };

/** Turns a query message into a reply with these counts and sections. */
function reply(parts: {
  flags?: number;
  answers?: number;
  authorities?: number;
  additionals?: number;
  body?: number[];
}) {
  const head = encodeQuestion(7, question, false);
  head.writeUInt16BE(parts.flags ?? 0x8180, 2);
  head.writeUInt16BE(parts.answers ?? 0, 6);
  head.writeUInt16BE(parts.authorities ?? 0, 8);
  head.writeUInt16BE(parts.additionals ?? 0, 10);
  return Buffer.concat([head, Buffer.from(parts.body ?? [])]);
}
const ASKED = [0xc0, 12];
const record = (type: number, data: number[], ttl = [0, 0, 0, 60]) => [
  ...ASKED,
  0,
  type,
  0,
  1,
  ...ttl,
  data.length >> 8,
  data.length & 255,
  ...data,
];
const label = (text: string) => [text.length, ...Buffer.from(text, 'latin1')];

describe('encodeQuestion', () => {
  it('sets RD and an EDNS buffer size of 1232 octets', () => {
    const octets = encodeQuestion(0xabcd, question, true);
    expect(octets.toString('hex')).toBe(
      'abcd01000001000000000001' + '04676f6f6404746573740' + '0000f0001' + '00002904d0000000000000',
    );
  });
});

describe('readReply', () => {
  it('parses an MX record, in lower case, with its TTL', () => {
    const body = record(15, [0, 10, ...label('MX'), 0xc0, 12]);
    expect(readReply(reply({ answers: 1, body }), question)).toEqual({
      kind: 'reply',
      reply: {
        nxdomain: false,
        negativeTtlSeconds: null,
        records: [{ owner: 'good.test', ttlSeconds: 60, record: { type: 'MX', host: 'mx.good.test', priority: 10 } }],
      },
    });
  });

  it('accepts the question in any case, and no other question', () => {
    const other = reply({});
    other[13] = 'G'.charCodeAt(0);
    expect(readReply(other, question)?.kind).toBe('reply');
    other[13] = 'f'.charCodeAt(0);
    expect(readReply(other, question)).toBeNull();
    expect(readReply(reply({}), { ...question, type: 'A' })).toBeNull();
    expect(readReply(reply({}), { ...question, name: 'good.test.x' })).toBeNull();
    expect(readReply(reply({}), { ...question, name: 'good' })).toBeNull();
    expect(readReply(reply({ flags: 0x0100 }), question)).toBeNull(); // a query
    expect(readReply(reply({ flags: 0xa180 }), question)).toBeNull(); // opcode NOTIFY
  });

  it.each([
    ['servfail', 2, 'servfail'],
    ['refused', 5, 'refused'],
    ['formerr', 1, 'no_edns'],
    ['notimp', 4, 'no_edns'],
    ['notauth', 9, 'servfail'],
  ])('tells %s', (_name, rcode, kind) => {
    expect(readReply(reply({ flags: 0x8180 | rcode }), question)).toEqual({ kind });
  });

  it('treats BADVERS in the OPT record as "no EDNS"', () => {
    const body = [0, 0, 41, 4, 208, 1, 0, 0, 0, 0, 0];
    expect(readReply(reply({ additionals: 1, body }), question)).toEqual({ kind: 'no_edns' });
  });

  it('uses the lesser of SOA TTL and minimum as the negative TTL', () => {
    const soa = (ttl: number, minimum: number) =>
      record(6, [0, 0, ...Array<number>(19).fill(0), minimum], [0, 0, 0, ttl]);
    const ttlOf = (body: number[]) => {
      const read = readReply(reply({ flags: 0x8183, authorities: 1, body }), question);
      return read?.kind === 'reply' ? [read.reply.nxdomain, read.reply.negativeTtlSeconds] : read;
    };
    expect(ttlOf(soa(100, 7))).toEqual([true, 7]);
    expect(ttlOf(soa(9, 200))).toEqual([true, 9]);
  });

  it('treats a TTL with the top bit set as 0 (RFC 2181 §8)', () => {
    const read = readReply(reply({ answers: 1, body: record(1, [1, 2, 3, 4], [0x80, 0, 0, 1]) }), question);
    expect(read?.kind === 'reply' && read.reply.records[0]?.ttlSeconds).toBe(0);
  });

  it.each([
    ['an address of five octets', record(1, [1, 2, 3, 4, 5])],
    ['an IPv6 address of four', record(28, [1, 2, 3, 4])],
    ['an MX without a target', record(15, [0, 10])],
    ['a target shorter than its data', record(15, [0, 10, 0, 0])],
    ['a target beyond its data', record(15, [0, 10, 3, 97])],
    ['text beyond its data', record(16, [9, 97])],
    ['a record cut off', record(15, [0, 10, ...ASKED]).slice(0, -1)],
    ['a pointer to itself', [0xc0, 27, ...record(1, [1, 2, 3, 4]).slice(2)]],
    ['a pointer forwards', [0xc0, 40, ...record(1, [1, 2, 3, 4]).slice(2)]],
    ['a pointer into the header', [0xc0, 2, ...record(1, [1, 2, 3, 4]).slice(2)]],
    ['a reserved label type', [0x80, 12, ...record(1, [1, 2, 3, 4]).slice(2)]],
  ])('is malformed with %s', (_name, body) => {
    expect(readReply(reply({ answers: 1, body }), question)).toEqual({ kind: 'malformed' });
  });

  it('never confuses one label that contains a dot with two labels', () => {
    const body = record(15, [0, 10, ...label('mx.good.test'), 0]);
    const read = readReply(reply({ answers: 1, body }), question);
    expect(read?.kind === 'reply' && read.reply.records[0]?.record).toEqual({
      type: 'MX',
      host: '\\mx.good.test',
      priority: 10,
    });
  });

  it('skips records of other types, whatever their data', () => {
    const nsec = record(47, [0xc0, 0xff, 1, 255]);
    const read = readReply(reply({ answers: 2, body: [...nsec, ...record(1, [1, 2, 3, 4])] }), question);
    expect(read?.kind === 'reply' && read.reply.records.map(({ record }) => record)).toEqual([
      { type: 'A', address: '1.2.3.4' },
    ]);
  });

  it('reads at most 200 answers', () => {
    const body = Array.from({ length: 300 }, () => record(1, [1, 2, 3, 4])).flat();
    const read = readReply(reply({ answers: 5000, body }), question);
    expect(read?.kind === 'reply' && read.reply.records.length).toBe(200);
  });

  it('never throws and returns only records of the queried type, for any input', () => {
    const sections = fc.record({
      flags: fc.constantFrom(0x8180, 0x8183, 0x8182, 0x8380),
      answers: fc.nat({ max: 65535 }),
      authorities: fc.nat({ max: 3 }),
      additionals: fc.nat({ max: 3 }),
      body: fc.array(fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 1, 0xc0, 12, 15, 28)), { maxLength: 300 }),
    });
    fc.assert(
      fc.property(sections, (parts) => {
        const read = readReply(reply(parts), question);
        if (read?.kind === 'reply') for (const { owner } of read.reply.records) expect(owner.length).toBeLessThan(256);
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
        const read = readReply(Buffer.from(octets), question);
        expect(read === null || read.kind !== 'reply').toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('compared with another codec', () => {
  const label = fc.stringMatching(/^[a-z0-9_-]{1,20}$/);
  const name = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.'));
  const record = fc.oneof(
    fc.record({ type: fc.constant('A' as const), name, data: fc.ipV4() }),
    fc.record({ type: fc.constant('AAAA' as const), name, data: fc.ipV6().map((ip) => textOf(parseIp(ip) ?? [])) }),
    fc.record({
      type: fc.constant('MX' as const),
      name,
      data: fc.record({ preference: fc.nat(65535), exchange: fc.oneof(name, fc.constant('.')) }),
    }),
    fc.record({ type: fc.constantFrom('CNAME' as const, 'NS' as const, 'PTR' as const), name, data: name }),
    fc.record({ type: fc.constant('TXT' as const), name, data: fc.array(fc.string(), { minLength: 1, maxLength: 3 }) }),
  );

  function recordOf(a: Parameters<Parameters<typeof record.map>[0]>[0]): unknown {
    switch (a.type) {
      case 'A':
      case 'AAAA':
        return { type: a.type, address: textOf(parseIp(a.data) ?? []) };
      case 'MX':
        return { type: a.type, host: a.data.exchange, priority: a.data.preference };
      case 'CNAME':
      case 'NS':
      case 'PTR':
        return { type: a.type, host: a.data };
      case 'TXT':
        return { type: a.type, text: a.data.join('') };
    }
  }

  it('encodes the same queries', () => {
    const types = fc.constantFrom<DnsQuestion['type']>('A', 'AAAA', 'MX', 'TXT', 'PTR', 'NS', 'SOA', 'CNAME');
    fc.assert(
      fc.property(fc.oneof(name, fc.constant('.')), types, fc.nat(65535), (asked, type, id) => {
        const query = decode(encodeQuestion(id, { name: asked, type }, true));
        expect([query.id, query.flag_rd, query.questions]).toEqual([id, true, [{ name: asked, type, class: 'IN' }]]);
        expect(query.additionals).toMatchObject([{ type: 'OPT', udpPayloadSize: 1232 }]);
      }),
    );
  });

  it('decodes the same records', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 8 }), (answers) => {
        const questions = [{ ...question, class: 'IN' as const }];
        const octets = encode({ type: 'response', id: 1, questions, answers: answers.map((a) => ({ ...a, ttl: 7 })) });
        const read = readReply(octets, question);
        const expected = answers.map((a) => ({ owner: a.name, ttlSeconds: 7, record: recordOf(a) }));
        expect(read?.kind === 'reply' && read.reply.records).toEqual(expected);
      }),
    );
  });
});
