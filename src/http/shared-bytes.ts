import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { sha256Hex } from '../kernel/ids.ts';
import type { HttpRequest } from './exchange.ts';

export type Coding = 'br' | 'gzip';

/** Bytes as they are sent, one buffer for all replies: what clients do not read costs nothing more. */
export interface SharedBytes {
  readonly bytes: Buffer;
  readonly coding: Coding | null;
  /** Strong (RFC 9110 §8.8.3): each coding has its own. */
  readonly etag: string;
}

export const sharedBytes = (bytes: Buffer, coding: Coding | null): SharedBytes => ({
  bytes,
  coding,
  etag: `"${sha256Hex(bytes).slice(0, 20)}"`,
});

const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const COMPRESS = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, QUALITY),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
} as const;

/** A document in every coding; each is made at the first request that accepts it, and then shared. */
export function compressedOnce(document: Buffer): (request: HttpRequest) => Promise<SharedBytes> {
  const made = new Map<Coding | null, Promise<SharedBytes>>();
  const make = async (coding: Coding | null) =>
    sharedBytes(coding === null ? document : await COMPRESS[coding](document), coding);
  return (request) => {
    const coding = bestCoding(request);
    const known = made.get(coding) ?? make(coding);
    made.set(coding, known);
    return known;
  };
}

/** Pages that are compressed at once, as many as libuv has threads. */
export const COMPRESSED_AT_ONCE = 4;
let compressing = 0;

/**
 * A document that is sent once. Compressing it costs more than all the rest of its reply, and anybody may ask for as
 * many as they like: while several are compressed, others are sent as they are.
 */
export async function compressedIfIdle(document: Buffer, request: HttpRequest): Promise<Omit<SharedBytes, 'etag'>> {
  const coding = bestCoding(request);
  if (coding === null || compressing >= COMPRESSED_AT_ONCE) return { bytes: document, coding: null };
  compressing += 1;
  try {
    return { bytes: await COMPRESS[coding](document), coding };
  } finally {
    compressing -= 1;
  }
}

function bestCoding(request: HttpRequest): Coding | null {
  const accepts = accepted(request);
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : null;
}

/** 304 where the client has these bytes already (RFC 9110 §13.1.2); an error has no conditions (§13.2.1). */
export function sharedAnswer(
  request: HttpRequest,
  { bytes, coding, etag }: SharedBytes,
  type: string,
  own: Readonly<Record<string, string>> = {},
  status = 200,
): { status: number; body: Buffer | undefined; type: string; headers: Record<string, string> } {
  const headers = { ...own, etag, vary: 'accept-encoding', ...(coding === null ? {} : { 'content-encoding': coding }) };
  const known = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return status === 200 && (known.includes(etag) || known.includes('*'))
    ? { status: 304, body: undefined, type, headers }
    : { status, body: bytes, type, headers };
}

/** Whether a coding is acceptable (RFC 9110 §12.5.3): named, and not with a weight of 0. */
export function accepted({ headers }: HttpRequest): (coding: Coding) => boolean {
  const offers = [headers['accept-encoding'] ?? ''].flat().join(',').toLowerCase().split(',').slice(0, 20);
  const named = offers
    .filter((offer) => !/;\s*q=0(\.0*)?\s*$/.test(offer))
    .map((offer) => (offer.split(';', 1)[0] ?? '').trim());
  return (coding) => named.includes(coding);
}
