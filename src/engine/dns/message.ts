/**
 * DNS messages (RFC 1035 §4): encodes a query and parses the reply. Replies are untrusted: the structure is validated
 * first, with bounded work, and only complete records of the types we use are decoded.
 */

import { textOf } from '../../kernel/ip.ts';
import type { Distrust, DnsFailure, Untrusted } from '../evidence.ts';

export type RecordType = 'A' | 'AAAA' | 'MX' | 'TXT' | 'PTR' | 'NS' | 'SOA' | 'CNAME';

/**
 * One record. Hosts are lower case without the trailing dot, `.` is the root; a name with octets not allowed in a host
 * name begins with a backslash. `priority` is the MX preference, `minimum` is in seconds.
 */
export type DnsRecord =
  | { readonly type: 'A' | 'AAAA'; readonly address: string }
  | { readonly type: 'MX'; readonly host: string; readonly priority: number }
  | { readonly type: 'TXT'; readonly text: string }
  | { readonly type: 'PTR' | 'NS' | 'CNAME'; readonly host: string }
  | { readonly type: 'SOA'; readonly minimum: number };

const UNTRUSTED: Readonly<Record<Untrusted, true>> = {
  denies_every_name: true,
  answers_every_name: true,
  unconfirmed: true,
};
export const isUntrusted = (kind: string): kind is Untrusted => Object.hasOwn(UNTRUSTED, kind);
export const isDistrust = (kind: string): kind is Distrust => isUntrusted(kind) && kind !== 'unconfirmed';

export type DnsAnswer =
  /** These records are of the queried type, at the end of the CNAME chain. `ttlSeconds` is the lowest of the chain. */
  | {
      readonly kind: 'records';
      readonly records: readonly DnsRecord[];
      readonly ttlSeconds: number;
      /** CNAME targets are in order; the list is empty without CNAME. */
      readonly cname: readonly string[];
    }
  | { readonly kind: 'nodata' | 'nxdomain'; readonly ttlSeconds: number; readonly cname: readonly string[] }
  /**
   * Inconclusive; never cached. `network`: no server could be reached (port closed, no route). `malformed`: an invalid
   * DNS reply, or an endless CNAME chain.
   */
  | { readonly kind: DnsFailure };

/** A name that can be queried: printable ASCII, labels of 1 to 63 octets, 253 in all (RFC 1035 §2.3.4). */
export function isQueryName(name: string): boolean {
  if (name === '.') return true;
  if (name.length === 0 || name.length > 253) return false;
  let label = 0;
  for (let i = 0; i < name.length; i++) {
    const c = name.charCodeAt(i);
    if (c === 0x2e) {
      if (label === 0) return false;
      label = 0;
    } else if (c <= 0x20 || c >= 0x7f || c === 0x5c || ++label > 63) return false;
  }
  return label > 0;
}

/**
 * Does what `isQueryName` does, but allows only letters, digits, hyphens and underscores: a valid name for a mail host.
 */
export const isMailHostName = (name: string): boolean =>
  isQueryName(name) && /^[a-z0-9_.-]+$/.test(name) && name !== '.';

// Each record is found and its lengths are validated before anything is decoded (RFC 1035 §4.1). Work is bounded for
// any input: a name costs at most MAX_JUMPS pointers and 128 labels.

const HEADER = 12;
const CLASS_IN = 1;
/** RFC 1035 §3.2.2, 3596, 6891. */
const TYPE_CODES = { A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, MX: 15, TXT: 16, AAAA: 28, OPT: 41 } as const;

/** Compression in real messages nests a few pointers deep; a chain of thousands would only cost time. */
const MAX_JUMPS = 32;
const MAX_NAME = 255;

interface RawRecord {
  /** The record, its data and its end are at these offsets. */
  readonly at: number;
  readonly data: number;
  readonly end: number;
  readonly type: number;
  readonly class: number;
  /** Seconds, as sent (32 bits, unsigned). */
  readonly ttlSeconds: number;
  /** A type that we use, whose data have exactly the claimed length. */
  readonly readable: boolean;
  /** The owner, or the name in the data, has octets not allowed in a host name. */
  readonly oddOwner: boolean;
  readonly oddTarget: boolean;
}

// State of the last name walked: walking a name allocates nothing.
let odd = false;

/**
 * Offset after the name at `at`; -1 when it is truncated, too long, or its pointers do not point strictly backwards.
 */
function walkName(buf: Buffer, at: number): number {
  let end = -1;
  let length = 1;
  let jumps = 0;
  let before = at;
  let i = at;
  odd = false;
  for (;;) {
    const labelBytes = buf[i];
    if (labelBytes === undefined) return -1;
    if (labelBytes === 0) return end < 0 ? i + 1 : end;
    if (labelBytes >= 0xc0) {
      const low = buf[i + 1];
      if (low === undefined || ++jumps > MAX_JUMPS) return -1;
      if (end < 0) end = i + 2;
      i = ((labelBytes & 0x3f) << 8) | low;
      if (i >= before || i < HEADER) return -1; // a loop, or into the header
      before = i;
      continue;
    }
    length += labelBytes + 1;
    if (labelBytes > 63 || length > MAX_NAME || i + labelBytes >= buf.length) return -1;
    for (let k = i + 1; k <= i + labelBytes; k++) {
      const c = buf[k]!;
      if (c <= 0x20 || c >= 0x7f || c === 0x2e || c === 0x5c) odd = true;
    }
    i += labelBytes + 1;
  }
}

const nameText = Buffer.alloc(MAX_NAME + 1);

/**
 * The name at `at`, which must have been walked: ASCII letters in lower case, the labels separated by dots, `.` for the
 * root. Octets above 127 are one character each. Spelled out first, so that it becomes one string at once.
 */
function nameAt(buf: Buffer, at: number): string {
  let length = 0;
  for (let i = at; ; ) {
    const labelBytes = buf[i] ?? 0;
    if (labelBytes === 0) return length === 0 ? '.' : nameText.toString('latin1', 0, length - 1);
    if (labelBytes >= 0xc0) {
      i = ((labelBytes & 0x3f) << 8) | (buf[i + 1] ?? 0);
      continue;
    }
    for (let k = i + 1; k <= i + labelBytes; k++) {
      const c = buf[k] ?? 0;
      nameText[length++] = c >= 0x41 && c <= 0x5a ? c + 32 : c;
    }
    nameText[length++] = 0x2e;
    i += labelBytes + 1;
  }
}

/** Offset after the question section if it is exactly this name (in any case), type and class IN; else -1. */
function walkQuestion(buf: Buffer, name: string, type: number): number {
  let i = HEADER;
  let at = 0;
  const length = name === '.' ? 0 : name.length;
  while (at < length) {
    const dot = name.indexOf('.', at);
    const stop = dot < 0 ? length : dot;
    if (buf[i++] !== stop - at) return -1;
    for (; at < stop; at++, i++) {
      const c = buf[i];
      if (c === undefined || (c >= 0x41 && c <= 0x5a ? c + 32 : c) !== name.charCodeAt(at)) return -1;
    }
    at = stop + 1;
  }
  if (buf[i] !== 0 || i + 5 > buf.length) return -1;
  return buf.readUInt16BE(i + 1) === type && buf.readUInt16BE(i + 3) === CLASS_IN ? i + 5 : -1;
}

/** The record at `at`, or null when it is truncated or has an inconsistent length. */
function walkRecord(buf: Buffer, at: number): RawRecord | null {
  const i = walkName(buf, at);
  if (i < 0 || i + 10 > buf.length) return null;
  const oddOwner = odd;
  const type = buf.readUInt16BE(i);
  const length = buf.readUInt16BE(i + 8);
  const data = i + 10;
  const end = data + length;
  if (end > buf.length) return null;
  const fits = walkData(buf, type, data, end);
  if (fits === false) return null;
  return {
    at,
    data,
    end,
    type,
    class: buf.readUInt16BE(i + 2),
    ttlSeconds: buf.readUInt32BE(i + 4),
    readable: fits === true,
    oddOwner,
    oddTarget: odd,
  };
}

/**
 * Returns true for a complete record of a type that we use, false for an inconsistent length, null for a type that we
 * skip.
 */
function walkData(buf: Buffer, type: number, data: number, end: number): boolean | null {
  odd = false;
  switch (type) {
    case TYPE_CODES.A:
      return end - data === 4;
    case TYPE_CODES.AAAA:
      return end - data === 16;
    case TYPE_CODES.CNAME:
    case TYPE_CODES.NS:
    case TYPE_CODES.PTR:
      return walkName(buf, data) === end;
    case TYPE_CODES.MX:
      return end - data > 2 && walkName(buf, data + 2) === end;
    case TYPE_CODES.SOA: {
      const second = walkName(buf, data);
      return second >= 0 && walkName(buf, second) === end - 20;
    }
    case TYPE_CODES.TXT: {
      let i = data;
      while (i < end) i += buf[i]! + 1;
      return i === end && end > data;
    }
    default:
      return null;
  }
}

/** The question section: `name` is lower-case ASCII without the trailing dot; `.` is the root. */
export interface DnsQuestion {
  readonly name: string;
  readonly type: RecordType;
}

interface OwnedRecord {
  /** The name is in lower case. */
  readonly owner: string;
  readonly ttlSeconds: number;
  readonly record: DnsRecord;
}

/** A conclusive reply, NOERROR or NXDOMAIN, with the records of the types we use. */
export interface DnsReply {
  readonly nxdomain: boolean;
  readonly records: readonly OwnedRecord[];
  /** Follows RFC 2308 §5: the lesser of the SOA's TTL and its minimum; null without SOA. */
  readonly negativeTtlSeconds: number | null;
}

export type ReadReply =
  | { kind: 'reply'; reply: DnsReply }
  /** TC is set: retry over TCP. */
  | { kind: 'truncated' }
  /** The server does not support EDNS (RFC 6891 §7). */
  | { kind: 'no_edns' }
  | { kind: 'servfail' | 'refused' | 'malformed' };

/** DNS Flag Day 2020 recommends this EDNS buffer size (RFC 6891) to avoid fragmentation. */
const UDP_BYTES = 1232;
/** Records read per section; the rest is ignored. */
const MAX_ANSWERS = 200;
const MAX_OTHERS = 50;

/** The header has the flag RD, one question, and the number of additional records. */
const RECURSION_DESIRED = 0x0100;
/** An OPT record without options (RFC 6891 §6.1.2) has the root, its type, the buffer size, version 0. */
const OPT = Buffer.from([0, 0, TYPE_CODES.OPT, UDP_BYTES >> 8, UDP_BYTES & 0xff, 0, 0, 0, 0, 0, 0]);

/** Encodes a query with RD set, and with an OPT record unless `edns` is false. The name must satisfy `isQueryName`. */
export function encodeQuestion(id: number, { name, type }: DnsQuestion, edns: boolean): Buffer {
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
  buf.writeUInt16BE(TYPE_CODES[type], end);
  buf.writeUInt16BE(CLASS_IN, end + 2);
  if (edns) OPT.copy(buf, end + 4);
  return buf;
}

const MALFORMED: ReadReply = { kind: 'malformed' };

/**
 * Parses the reply to `question`. Null: not a reply to it (another question, type or class, not a response, another
 * opcode); ignore it, as it may be forged. The caller compares the id. Never throws; work is bounded by MAX_ANSWERS and
 * those of a name.
 */
export function readReply(buf: Buffer, question: DnsQuestion): ReadReply | null {
  if (buf.length < HEADER) return null;
  const flags = buf.readUInt16BE(2);
  if ((flags & 0xf800) !== 0x8000) return null; // QR set, opcode QUERY
  const rcode = flags & 0x0f;
  const questions = buf.readUInt16BE(4);
  if (questions === 0) return rcode === 0 || rcode === 3 ? null : rcodeFailure(rcode);
  const start = questions === 1 ? walkQuestion(buf, question.name, TYPE_CODES[question.type]) : -1;
  if (start < 0) return null;
  if (rcode !== 0 && rcode !== 3) return rcodeFailure(rcode);
  if ((flags & 0x0200) !== 0) return { kind: 'truncated' };
  return readSections(buf, question, start, rcode === 3);
}

function rcodeFailure(rcode: number): ReadReply {
  // Servers older than EDNS answer FORMERR or NOTIMP.
  if (rcode === 1 || rcode === 4) return { kind: 'no_edns' };
  return { kind: rcode === 5 ? 'refused' : 'servfail' };
}

function readSections(buf: Buffer, question: DnsQuestion, start: number, nxdomain: boolean): ReadReply {
  const counts = [buf.readUInt16BE(6), buf.readUInt16BE(8), buf.readUInt16BE(10)];
  const records: OwnedRecord[] = [];
  let negativeTtlSeconds: number | null = null;
  let sawNs = false;
  let at = start;
  for (const [section, count] of counts.entries()) {
    const limit = section === 0 ? MAX_ANSWERS : MAX_OTHERS;
    for (let i = 0; i < Math.min(count, limit); i++) {
      const raw = walkRecord(buf, at);
      if (!raw) return MALFORMED;
      at = raw.end;
      // BADVERS and other extended rcodes: the upper bits are in the OPT record (RFC 6891 §6.1.3).
      if (section === 2 && raw.type === TYPE_CODES.OPT && raw.ttlSeconds >>> 24 !== 0) return { kind: 'no_edns' };
      if (section === 2 || raw.class !== CLASS_IN) continue;
      const owned = decodeRecord(buf, question, raw);
      if (!owned) continue;
      if (section === 0) records.push(owned);
      else if (owned.record.type === 'SOA') negativeTtlSeconds ??= Math.min(owned.ttlSeconds, owned.record.minimum);
      else if (owned.record.type === 'NS') sawNs = true;
    }
    if (count > limit) break;
  }
  // Name servers without an SOA are a referral, which is no answer, whatever the flags claim (RFC 2308 §2.2): the
  // server does not resolve this name for us.
  const isReferral = !nxdomain && sawNs && records.length === 0 && negativeTtlSeconds === null;
  if (isReferral) return { kind: 'refused' };
  return { kind: 'reply', reply: { nxdomain, records, negativeTtlSeconds } };
}

/** Points to the name in the question, which owns most records. */
const TO_QUESTION = 0xc000 | HEADER;

function decodeRecord(buf: Buffer, question: DnsQuestion, raw: RawRecord): OwnedRecord | null {
  if (!raw.readable || raw.oddOwner) return null;
  const record = decodeData(buf, raw);
  if (record === null) return null;
  const owner = buf.readUInt16BE(raw.at) === TO_QUESTION ? question.name : nameAt(buf, raw.at);
  // RFC 2181 §8: a TTL with the top bit set is to be read as 0.
  return { owner, ttlSeconds: raw.ttlSeconds > 0x7fffffff ? 0 : raw.ttlSeconds, record };
}

function decodeData(buf: Buffer, { type, data, end, oddTarget }: RawRecord): DnsRecord | null {
  switch (type) {
    case TYPE_CODES.A:
      return { type: 'A', address: `${buf[data]}.${buf[data + 1]}.${buf[data + 2]}.${buf[data + 3]}` };
    case TYPE_CODES.AAAA:
      return { type: 'AAAA', address: textOf(V6_OFFSETS.map((offset) => buf.readUInt16BE(data + offset))) };
    case TYPE_CODES.CNAME:
      return { type: 'CNAME', host: hostText(nameAt(buf, data), oddTarget) };
    case TYPE_CODES.NS:
      return { type: 'NS', host: hostText(nameAt(buf, data), oddTarget) };
    case TYPE_CODES.PTR:
      return { type: 'PTR', host: hostText(nameAt(buf, data), oddTarget) };
    case TYPE_CODES.MX:
      return { type: 'MX', host: hostText(nameAt(buf, data + 2), oddTarget), priority: buf.readUInt16BE(data) };
    case TYPE_CODES.TXT: {
      const parts: string[] = [];
      for (let i = data; i < end; i += (buf[i] ?? 0) + 1)
        parts.push(buf.toString('utf8', i + 1, i + 1 + (buf[i] ?? 0)));
      return { type: 'TXT', text: parts.join('') };
    }
    case TYPE_CODES.SOA:
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
