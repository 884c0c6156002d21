/**
 * DNS messages (RFC 1035 §4): encodes a query and parses the reply. Replies are untrusted: the structure is validated
 * here first, with bounded work, and dns-packet decodes only complete records of the types we use.
 */
import { type Answer, answer as codec, encode, RECURSION_DESIRED } from 'dns-packet';
import type { DnsRecord, RecordType } from './records.ts';
import { CLASS_IN, HEADER, type RawRecord, TYPES, walkQuestion, walkRecord } from './wire.ts';

// dns-packet exports its record codec, but its types do not say so.
declare module 'dns-packet' {
  export const answer: { decode(buf: Buffer, offset: number): Answer };
}

/** The question section: `name` is lower-case ASCII without the trailing dot; `.` is the root. */
export interface Question {
  readonly name: string;
  readonly type: RecordType;
}

interface OwnedRecord {
  /** Lower case. */
  readonly owner: string;
  /** Seconds. */
  readonly ttl: number;
  readonly record: DnsRecord;
}

/** A conclusive reply, NOERROR or NXDOMAIN, with the records of the types we use. */
export interface Reply {
  readonly nxdomain: boolean;
  readonly records: readonly OwnedRecord[];
  /** Negative TTL in seconds (RFC 2308 §5: the lesser of the SOA's TTL and its minimum); null without SOA. */
  readonly negativeTtl: number | null;
}

export type ReadReply =
  | { kind: 'reply'; reply: Reply }
  /** TC is set: retry over TCP. */
  | { kind: 'truncated' }
  /** The server does not support EDNS (RFC 6891 §7). */
  | { kind: 'no_edns' }
  | { kind: 'servfail' | 'refused' | 'malformed' };

/** EDNS buffer size (RFC 6891) recommended by DNS Flag Day 2020 to avoid fragmentation. */
const UDP_SIZE = 1232;
/** Records read per section; the rest is ignored. */
const MAX_ANSWERS = 200;
const MAX_OTHERS = 50;

/** Encodes a query with RD set, and with an OPT record unless `edns` is false. */
export function encodeQuestion(id: number, question: Question, edns: boolean): Buffer {
  const additionals: Answer[] = edns
    ? [
        {
          type: 'OPT',
          name: '.',
          udpPayloadSize: UDP_SIZE,
          extendedRcode: 0,
          ednsVersion: 0,
          flags: 0,
          flag_do: false,
          options: [],
        },
      ]
    : [];
  return encode({
    id,
    type: 'query',
    flags: RECURSION_DESIRED,
    questions: [{ ...question, class: 'IN' }],
    additionals,
  });
}

const MALFORMED: ReadReply = { kind: 'malformed' };

/**
 * Parses the reply to `question`. Null: not a reply to it (another question, type or class, not a response, another
 * opcode); ignore it, as it may be forged. The caller compares the id. Never throws; work is bounded by MAX_ANSWERS and
 * the bounds of wire.ts.
 */
export function readReply(buf: Buffer, question: Question): ReadReply | null {
  if (buf.length < HEADER) return null;
  const flags = buf.readUInt16BE(2);
  if ((flags & 0xf800) !== 0x8000) return null; // QR set, opcode QUERY
  const rcode = flags & 0x0f;
  const questions = buf.readUInt16BE(4);
  if (questions === 0) return rcode === 0 || rcode === 3 ? null : failureOf(rcode);
  const start = questions === 1 ? walkQuestion(buf, question.name, TYPES[question.type]) : -1;
  if (start < 0) return null;
  if (rcode !== 0 && rcode !== 3) return failureOf(rcode);
  if ((flags & 0x0200) !== 0) return { kind: 'truncated' };
  try {
    return readSections(buf, start, flags);
  } catch {
    return MALFORMED; // dns-packet throws on malformed data
  }
}

function failureOf(rcode: number): ReadReply {
  // FORMERR, and NOTIMP from servers older than EDNS.
  if (rcode === 1 || rcode === 4) return { kind: 'no_edns' };
  return { kind: rcode === 5 ? 'refused' : 'servfail' };
}

function readSections(buf: Buffer, start: number, flags: number): ReadReply {
  const counts = [buf.readUInt16BE(6), buf.readUInt16BE(8), buf.readUInt16BE(10)];
  const records: OwnedRecord[] = [];
  let negativeTtl: number | null = null;
  let sawNs = false;
  let at = start;
  for (const [section, count] of counts.entries()) {
    const limit = section === 0 ? MAX_ANSWERS : MAX_OTHERS;
    for (let i = 0; i < Math.min(count, limit); i++) {
      const raw = walkRecord(buf, at);
      if (!raw) return MALFORMED;
      at = raw.end;
      // BADVERS and other extended rcodes: the upper bits are in the OPT record (RFC 6891 §6.1.3).
      if (section === 2 && raw.type === TYPES.OPT && raw.ttl >>> 24 !== 0) return { kind: 'no_edns' };
      if (section === 2 || raw.class !== CLASS_IN) continue;
      const owned = decodeRecord(buf, raw);
      if (!owned) continue;
      if (section === 0) records.push(owned);
      else if (owned.record.type === 'SOA') negativeTtl ??= Math.min(owned.ttl, owned.record.minimum);
      else if (owned.record.type === 'NS') sawNs = true;
    }
    if (count > limit) break;
  }
  // A referral (neither authoritative nor recursive) is not an answer.
  const answersNot = (flags & 0x0480) === 0 && sawNs && records.length === 0 && negativeTtl === null;
  if (answersNot) return { kind: 'refused' };
  return { kind: 'reply', reply: { nxdomain: (flags & 0x0f) === 3, records, negativeTtl } };
}

function decodeRecord(buf: Buffer, raw: RawRecord): OwnedRecord | null {
  if (!raw.readable || raw.oddOwner) return null;
  const decoded = codec.decode(buf, raw.at);
  const record = toRecord(decoded, raw.oddTarget);
  // RFC 2181 §8: a TTL with the top bit set is to be read as 0.
  return record && { owner: decoded.name.toLowerCase(), ttl: raw.ttl > 0x7fffffff ? 0 : raw.ttl, record };
}

function toRecord(decoded: Answer, odd: boolean): DnsRecord | null {
  switch (decoded.type) {
    case 'A':
    case 'AAAA':
      return { type: decoded.type, address: decoded.data };
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return { type: decoded.type, host: hostText(decoded.data, odd) };
    case 'MX':
      return { type: 'MX', host: hostText(decoded.data.exchange, odd), priority: decoded.data.preference ?? 0 };
    case 'TXT': {
      const parts = Array.isArray(decoded.data) ? decoded.data : [decoded.data];
      return { type: 'TXT', text: parts.map((part) => part.toString()).join('') };
    }
    case 'SOA':
      return { type: 'SOA', minimum: decoded.data.minimum ?? 0 };
    default:
      return null;
  }
}

/**
 * A name with octets not allowed in a host name (a dot or a control character inside a label, 8-bit octets) is made
 * printable and prefixed with a backslash, so that it never passes for a host name: the single label `evil.example`
 * must not read as two.
 */
function hostText(name: string, odd: boolean): string {
  return odd ? '\\' + name.replace(/[^\x21-\x7e]/g, '?') : name.toLowerCase();
}
