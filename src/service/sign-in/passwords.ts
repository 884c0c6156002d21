import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { ApiError } from '../../kernel/errors.ts';
import { FairQueue } from '../../kernel/fair-queue.ts';

/** Memory is in KiB. */
interface Cost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** OWASP Password Storage Cheat Sheet, Argon2id: 19 MiB, two passes, one lane. Takes about 20 ms of one core. */
const COST: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
/** RFC 9106 §3.1: 16 bytes of salt are enough for passwords. */
const SALT_BYTES = 16;
const TAG_BYTES = 32;

/** Matches the PHC string format: version 19 of Argon2 (RFC 9106), standard Base64 without padding. */
const PHC = /^\$argon2id\$v=19\$m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,8})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

const base64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');

const argonTag = (password: string, nonce: Buffer, cost: Cost, tagLength: number): Promise<Buffer> =>
  promisify(argon2)('argon2id', { message: password, nonce, tagLength, ...cost });

/** Hashes a password without taking a turn. */
export async function argon2id(password: string, cost: Cost = COST): Promise<string> {
  const nonce = randomBytes(SALT_BYTES);
  const tag = await argonTag(password, nonce, cost, TAG_BYTES);
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(nonce)}$${base64(tag)}`;
}

/** Hashes the password at the cost of `hash`, and compares. Throws an Error where `hash` is not one of Argon2id. */
async function fitsHash(hash: string, password: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(hash) ?? [];
  if (memory === undefined) throw new Error('a stored hash of a password is not Argon2id in the PHC string format');
  const expected = Buffer.from(tag, 'base64');
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return timingSafeEqual(await argonTag(password, Buffer.from(salt, 'base64'), cost, expected.length), expected);
}

/** Hashes occupy threads of the pool that logging and file access need too. */
const HASHES_AT_ONCE = 2;
/** If more wait, the reply is 503 `overloaded`, so that a flood of sign-ins cannot take the service down. */
const QUEUE_MAX = 100;

const queue = new FairQueue(HASHES_AT_ONCE);

/** `party`: guesses of one password take turns with those of others. */
async function hashedInTurn<T>(party: string, work: () => Promise<T>): Promise<T> {
  if (queue.size >= QUEUE_MAX) throw new ApiError('overloaded', undefined, { retry_after: 1 });
  const leave = await queue.enter(party);
  return work().finally(leave);
}

/** Computes Argon2id in the PHC string format. */
export const hashPassword = (password: string): Promise<string> => hashedInTurn('', () => argon2id(password));

export const verifyPassword = (input: { hash: string; password: string }): Promise<boolean> =>
  hashedInTurn(input.hash, () => fitsHash(input.hash, input.password));
