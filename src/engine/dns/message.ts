/**
 * DNS messages (RFC 1035 §4): building one question, and reading the reply to it. A reply is hostile until shown
 * otherwise: its envelope is walked here first, with bounded work, and dns-packet decodes only the records that were
 * found whole and are of a type we read.
 */
import { type Answer, answer as codec, encode, RECURSION_DESIRED } from 'dns-packet';
import type { DnsRecord, RecordType } from './records.ts';
import { CLASS_IN, type Found, HEADER, TYPES, walkQuestion, walkRecord } from './wire.ts';

// dns-packet exports its record codec, but its types do not say so.
declare module 'dns-packet' {
  export const answer: { decode(buf: Buffer, offset: number): Answer };
}

/** A question as it goes on the wire: `name` is lower-case ASCII without the last dot; `.` is the root. */
export interface Question {
  readonly name: string;
  readonly type: RecordType;
}

export interface OwnedRecord {
  /** Lower case. */
  readonly owner: string;
  /** Seconds. */
  readonly ttl: number;
  readonly record: DnsRecord;
}

/** A reply that answers: NOERROR or NXDOMAIN, of records the types we read and nothing else. */
export interface Reply {
  readonly nxdomain: boolean;
  readonly records: readonly OwnedRecord[];
  /** Seconds that a "no" may be kept (RFC 2308 §5: the lesser of the SOA's TTL and its minimum); null without SOA. */
  readonly negativeTtl: number | null;
}

export type ReadReply =
  | { kind: 'reply'; reply: Reply }
  /** TC is set: the whole is to be had over TCP. */
  | { kind: 'truncated' }
  /** The server does not know EDNS (RFC 6891 §7). */
  | { kind: 'no_edns' }
  | { kind: 'servfail' | 'refused' | 'malformed' };

/** RFC 6891, and the size that the DNS flag day of 2020 settled on: no fragments on any usual path. */
const UDP_SIZE = 1232;
/** Records read of one section; the rest of a longer one is not looked at. */
const MAX_ANSWERS = 200;
const MAX_OTHERS = 50;

/** The octets of one question with recursion desired, with an EDNS record unless `edns` is false. */
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
 * Reads the reply to `question`. Null: these octets are not a reply to it (another question, type or class, no reply,
 * another opcode) and are to be ignored, because anybody may have sent them. The id is the caller's to compare.
 * Never throws; work is bounded by MAX_ANSWERS and the bounds of wire.ts.
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
    return MALFORMED; // dns-packet throws on what it cannot read
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
  for (let section = 0; section < 3; section++) {
    const count = counts[section]!;
    const limit = section === 0 ? MAX_ANSWERS : MAX_OTHERS;
    for (let i = 0; i < Math.min(count, limit); i++) {
      const found = walkRecord(buf, at);
      if (!found) return MALFORMED;
      at = found.end;
      // BADVERS and its like: the upper bits of the rcode are in the OPT record (RFC 6891 §6.1.3).
      if (section === 2 && found.type === TYPES.OPT && found.ttl >>> 24 !== 0) return { kind: 'no_edns' };
      if (section === 2 || found.class !== CLASS_IN) continue;
      const owned = decodeRecord(buf, found);
      if (!owned) continue;
      if (section === 0) records.push(owned);
      else if (owned.record.type === 'SOA') negativeTtl ??= Math.min(owned.ttl, owned.record.minimum);
      else if (owned.record.type === 'NS') sawNs = true;
    }
    if (count > limit) break;
  }
  // A referral (neither authoritative nor recursive): the server sends us elsewhere, which is not an answer.
  const answersNot = (flags & 0x0480) === 0 && sawNs && records.length === 0 && negativeTtl === null;
  if (answersNot) return { kind: 'refused' };
  return { kind: 'reply', reply: { nxdomain: (flags & 0x0f) === 3, records, negativeTtl } };
}

function decodeRecord(buf: Buffer, found: Found): OwnedRecord | null {
  if (!found.readable || found.oddOwner) return null;
  const decoded = codec.decode(buf, found.at);
  const record = toRecord(decoded, found.oddTarget);
  // RFC 2181 §8: a TTL with the top bit set is to be read as 0.
  return record && { owner: decoded.name.toLowerCase(), ttl: found.ttl > 0x7fffffff ? 0 : found.ttl, record };
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
 * A name with octets that no host name has (a dot or a control inside a label, 8-bit octets) is shown printable, behind
 * a backslash that keeps it from ever passing for a host name: `evil.example` as one label must not read as two.
 */
function hostText(name: string, odd: boolean): string {
  return odd ? '\\' + name.replace(/[^\x21-\x7e]/g, '?') : name.toLowerCase();
}
