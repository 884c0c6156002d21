/**
 * DNS messages (RFC 1035 §4): encodes a query and parses the reply. Replies are untrusted: the structure is validated
 * first (wire.ts), with bounded work, and only complete records of the types we use are decoded.
 */
import { textOf } from '../../kernel/ip.ts';
import type { DnsRecord, RecordType } from './records.ts';
import { CLASS_IN, HEADER, nameAt, type RawRecord, TYPES, walkQuestion, walkRecord } from './wire.ts';

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

/** Of the header: the flag RD, one question, and the number of additional records. */
const RECURSION_DESIRED = 0x0100;
/** An OPT record without options (RFC 6891 §6.1.2): the root, its type, the buffer size, version 0. */
const OPT = Buffer.from([0, 0, TYPES.OPT, UDP_SIZE >> 8, UDP_SIZE & 0xff, 0, 0, 0, 0, 0, 0]);

/** Encodes a query with RD set, and with an OPT record unless `edns` is false. The name must satisfy `canBeAsked`. */
export function encodeQuestion(id: number, { name, type }: Question, edns: boolean): Buffer {
  const root = name === '.';
  const end = HEADER + (root ? 1 : name.length + 2);
  const buf = Buffer.allocUnsafe(end + 4 + (edns ? OPT.length : 0));
  buf.writeUInt16BE(id, 0);
  buf.writeUInt16BE(RECURSION_DESIRED, 2);
  buf.writeUInt32BE(0x00010000, 4);
  buf.writeUInt32BE(edns ? 1 : 0, 8);
  if (!root) {
    // The octet before each label is where its dot is, and one before the first.
    buf.write(name, HEADER + 1, 'latin1');
    let length = 0;
    for (let i = name.length; i > 0; i--) {
      if (buf[HEADER + i] !== 0x2e) length++;
      else {
        buf[HEADER + i] = length;
        length = 0;
      }
    }
    buf[HEADER] = length;
  }
  buf[end - 1] = 0;
  buf.writeUInt16BE(TYPES[type], end);
  buf.writeUInt16BE(CLASS_IN, end + 2);
  if (edns) OPT.copy(buf, end + 4);
  return buf;
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
  return readSections(buf, question, start, rcode === 3);
}

function failureOf(rcode: number): ReadReply {
  // FORMERR, and NOTIMP from servers older than EDNS.
  if (rcode === 1 || rcode === 4) return { kind: 'no_edns' };
  return { kind: rcode === 5 ? 'refused' : 'servfail' };
}

function readSections(buf: Buffer, question: Question, start: number, nxdomain: boolean): ReadReply {
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
      const owned = decodeRecord(buf, question, raw);
      if (!owned) continue;
      if (section === 0) records.push(owned);
      else if (owned.record.type === 'SOA') negativeTtl ??= Math.min(owned.ttl, owned.record.minimum);
      else if (owned.record.type === 'NS') sawNs = true;
    }
    if (count > limit) break;
  }
  // Name servers without an SOA are a referral, which is no answer, whatever the flags claim (RFC 2308 §2.2): the
  // server does not resolve this name for us.
  const isReferral = !nxdomain && sawNs && records.length === 0 && negativeTtl === null;
  if (isReferral) return { kind: 'refused' };
  return { kind: 'reply', reply: { nxdomain, records, negativeTtl } };
}

/** A pointer to the name in the question: the owner of most records. */
const TO_QUESTION = 0xc000 | HEADER;

function decodeRecord(buf: Buffer, question: Question, raw: RawRecord): OwnedRecord | null {
  if (!raw.readable || raw.oddOwner) return null;
  const record = toRecord(buf, raw);
  if (record === null) return null;
  const owner = buf.readUInt16BE(raw.at) === TO_QUESTION ? question.name : nameAt(buf, raw.at);
  // RFC 2181 §8: a TTL with the top bit set is to be read as 0.
  return { owner, ttl: raw.ttl > 0x7fffffff ? 0 : raw.ttl, record };
}

function toRecord(buf: Buffer, { type, data, end, oddTarget }: RawRecord): DnsRecord | null {
  switch (type) {
    case TYPES.A:
      return { type: 'A', address: `${buf[data]}.${buf[data + 1]}.${buf[data + 2]}.${buf[data + 3]}` };
    case TYPES.AAAA:
      return { type: 'AAAA', address: textOf(V6_OFFSETS.map((offset) => buf.readUInt16BE(data + offset))) };
    case TYPES.CNAME:
      return { type: 'CNAME', host: hostText(nameAt(buf, data), oddTarget) };
    case TYPES.NS:
      return { type: 'NS', host: hostText(nameAt(buf, data), oddTarget) };
    case TYPES.PTR:
      return { type: 'PTR', host: hostText(nameAt(buf, data), oddTarget) };
    case TYPES.MX:
      return { type: 'MX', host: hostText(nameAt(buf, data + 2), oddTarget), priority: buf.readUInt16BE(data) };
    case TYPES.TXT: {
      const parts: string[] = [];
      for (let i = data; i < end; i += (buf[i] ?? 0) + 1)
        parts.push(buf.toString('utf8', i + 1, i + 1 + (buf[i] ?? 0)));
      return { type: 'TXT', text: parts.join('') };
    }
    case TYPES.SOA:
      return { type: 'SOA', minimum: buf.readUInt32BE(end - 4) };
    default:
      return null;
  }
}

const V6_OFFSETS = [0, 2, 4, 6, 8, 10, 12, 14] as const;

/**
 * A name with octets not allowed in a host name (a dot or a control character inside a label, 8-bit octets) is made
 * printable and prefixed with a backslash, so that it never passes for a host name: the single label `evil.example`
 * must not read as two.
 */
function hostText(name: string, odd: boolean): string {
  return odd ? '\\' + name.replace(/[^\x21-\x7e]/g, '?') : name;
}
