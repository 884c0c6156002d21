/**
 * Arrays as parameters in PostgreSQL's binary format (`array_send` in src/backend/utils/adt/arrayfuncs.c): neither side
 * has to quote and parse them, which pays for texts full of quotation marks.
 */
import type { ColumnType } from '../columns.ts';

/** OIDs of element types, src/include/catalog/pg_type.dat. */
const OIDS = { text: 25, bigint: 20 } as const satisfies Record<ColumnType, number>;
/** Dimensions, flag for nulls, OID of the elements, then length and lower bound of the only dimension; int32 each. */
const HEAD = 20;
const NULL_LENGTH = -1;
const TWO_32 = 2 ** 32;

/** One dimension, at least one element. Bigints are whole numbers within ±2^53. */
export function arrayParameter(values: readonly unknown[], type: ColumnType): Buffer {
  return type === 'text' ? textArray(values.map(textOrNull)) : bigintArray(values.map(wholeOrNull));
}

function textArray(values: readonly (string | null)[]): Buffer {
  let size = HEAD;
  const lengths = values.map((value) => {
    const length = value === null ? NULL_LENGTH : Buffer.byteLength(value);
    size += 4 + Math.max(0, length);
    return length;
  });
  const buffer = Buffer.allocUnsafe(size);
  let at = writeHead(buffer, values, OIDS.text);
  for (const [i, value] of values.entries()) {
    at = buffer.writeInt32BE(lengths[i] ?? NULL_LENGTH, at);
    if (value !== null) at += buffer.write(value, at);
  }
  return buffer;
}

function bigintArray(values: readonly (number | null)[]): Buffer {
  const buffer = Buffer.allocUnsafe(HEAD + values.length * 12);
  let at = writeHead(buffer, values, OIDS.bigint);
  for (const value of values) {
    at = buffer.writeInt32BE(value === null ? NULL_LENGTH : 8, at);
    if (value === null) continue;
    at = buffer.writeInt32BE(Math.floor(value / TWO_32), at);
    at = buffer.writeUInt32BE(value >>> 0, at);
  }
  return buffer.subarray(0, at);
}

function writeHead(buffer: Buffer, values: readonly unknown[], oid: number): number {
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  buffer.writeInt32BE(oid, 8);
  buffer.writeInt32BE(values.length, 12);
  return buffer.writeInt32BE(1, 16);
}

function textOrNull(value: unknown): string | null {
  if (value === null || typeof value === 'string') return value;
  throw new TypeError(`${typeof value} is no text.`);
}

function wholeOrNull(value: unknown): number | null {
  if (value === null || (typeof value === 'number' && Number.isSafeInteger(value))) return value;
  throw new RangeError(`${String(value)} is not a whole number.`);
}
