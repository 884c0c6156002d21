/**
 * Walks a DNS message (RFC 1035 §4.1): finds each record and validates its lengths before anything is decoded. Work is
 * bounded for any input: a name costs at most MAX_JUMPS pointers and 128 labels.
 */
export const HEADER = 12;
export const CLASS_IN = 1;
/** RFC 1035 §3.2.2, 3596, 6891. */
export const TYPES = { A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, MX: 15, TXT: 16, AAAA: 28, OPT: 41 } as const;

/** Compression in real messages nests a few pointers deep; a chain of thousands would only cost time. */
const MAX_JUMPS = 32;
const MAX_NAME = 255;

export interface RawRecord {
  /** Offsets of the record, of its data, and of its end. */
  readonly at: number;
  readonly data: number;
  readonly end: number;
  readonly type: number;
  readonly class: number;
  /** Seconds, as sent (32 bits, unsigned). */
  readonly ttl: number;
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
    const size = buf[i];
    if (size === undefined) return -1;
    if (size === 0) return end < 0 ? i + 1 : end;
    if (size >= 0xc0) {
      const low = buf[i + 1];
      if (low === undefined || ++jumps > MAX_JUMPS) return -1;
      if (end < 0) end = i + 2;
      i = ((size & 0x3f) << 8) | low;
      if (i >= before || i < HEADER) return -1; // a loop, or into the header
      before = i;
      continue;
    }
    length += size + 1;
    if (size > 63 || length > MAX_NAME || i + size >= buf.length) return -1;
    for (let k = i + 1; k <= i + size; k++) {
      const c = buf[k]!;
      if (c <= 0x20 || c >= 0x7f || c === 0x2e || c === 0x5c) odd = true;
    }
    i += size + 1;
  }
}

const spelled = Buffer.alloc(MAX_NAME + 1);

/**
 * The name at `at`, which must have been walked: ASCII letters in lower case, the labels separated by dots, `.` for the
 * root. Octets above 127 are one character each. Spelled out first, so that it becomes one string at once.
 */
export function nameAt(buf: Buffer, at: number): string {
  let length = 0;
  for (let i = at; ; ) {
    const size = buf[i] ?? 0;
    if (size === 0) return length === 0 ? '.' : spelled.toString('latin1', 0, length - 1);
    if (size >= 0xc0) {
      i = ((size & 0x3f) << 8) | (buf[i + 1] ?? 0);
      continue;
    }
    for (let k = i + 1; k <= i + size; k++) {
      const c = buf[k] ?? 0;
      spelled[length++] = c >= 0x41 && c <= 0x5a ? c + 32 : c;
    }
    spelled[length++] = 0x2e;
    i += size + 1;
  }
}

/** Offset after the question section if it is exactly this name (in any case), type and class IN; else -1. */
export function walkQuestion(buf: Buffer, name: string, type: number): number {
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
export function walkRecord(buf: Buffer, at: number): RawRecord | null {
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
    ttl: buf.readUInt32BE(i + 4),
    readable: fits === true,
    oddOwner,
    oddTarget: odd,
  };
}

/** True: a complete record of a type that we use. False: an inconsistent length. Null: a type that we skip. */
function walkData(buf: Buffer, type: number, data: number, end: number): boolean | null {
  odd = false;
  switch (type) {
    case TYPES.A:
      return end - data === 4;
    case TYPES.AAAA:
      return end - data === 16;
    case TYPES.CNAME:
    case TYPES.NS:
    case TYPES.PTR:
      return walkName(buf, data) === end;
    case TYPES.MX:
      return end - data > 2 && walkName(buf, data + 2) === end;
    case TYPES.SOA: {
      const second = walkName(buf, data);
      return second >= 0 && walkName(buf, second) === end - 20;
    }
    case TYPES.TXT: {
      let i = data;
      while (i < end) i += buf[i]! + 1;
      return i === end && end > data;
    }
    default:
      return null;
  }
}
