import { createHmac, hash, randomBytes, randomFillSync, randomInt } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const pool = Buffer.alloc(8192);
let poolPosition = pool.length;

/** One unbiased base-62 digit from the CSPRNG (bytes of 248 and above are discarded). */
function digit(): string {
  for (;;) {
    if (poolPosition === pool.length) {
      randomFillSync(pool);
      poolPosition = 0;
    }
    const byte = pool[poolPosition++]!;
    if (byte < 248) return BASE62[byte % 62]!;
  }
}

/** `length` characters of [0-9A-Za-z] from the CSPRNG, about 5.95 bits each. */
export function randomToken(length: number): string {
  let s = '';
  while (s.length < length) s += digit();
  return s;
}

/**
 * Makes an ID such as `ver_0VkP3Zq1n7Jc2mQ9sT4bXd`: 8 base-62 digits of milliseconds, so that IDs sort by creation time
 * and index pages fill in order, then 14 random digits (83 bits).
 */
export function newId(prefix: string, nowMs: number): string {
  if (nowMs !== lastTime.ms) lastTime = { ms: nowMs, text: timeDigits(nowMs) };
  return `${prefix}_${lastTime.text}${randomToken(14)}`;
}

function timeDigits(ms: number): string {
  let digits = '';
  for (let t = ms, i = 0; i < 8; i++, t = Math.floor(t / 62)) digits = BASE62[t % 62]! + digits;
  return digits;
}
/** The last one is kept: under load, many fall in a millisecond. */
let lastTime = { ms: 0, text: timeDigits(0) };

/**
 * The ID of the result of a list's address, the n-th from 1: as of `newId`, but the last 4 digits count, so the same
 * address always gets the same one, and those of a list are neighbors in an index. 62⁴ is above LIST_ROWS.
 */
export function listResultId(list: string, n: number): string {
  let digits = '';
  for (let rest = n, i = 0; i < 4; i++, rest = Math.floor(rest / 62)) digits = BASE62.charAt(rest % 62) + digits;
  return `ver${list.slice(list.indexOf('_'), -4)}${digits}`;
}

/**
 * The ID of the list that verifies what this one left: always the same, so that there is only one. It says nothing
 * about its time.
 */
export function restListId(list: string): string {
  let left = BigInt(`0x${sha256Hex(`rest of ${list}`)}`);
  let digits = '';
  for (; digits.length < list.length - 'lst_'.length; left /= 62n) digits += BASE62.charAt(Number(left % 62n));
  return `lst_${digits}`;
}

/** How API keys begin: those that are charged, and those of test mode. */
export const KEY_PREFIXES = { live: 'mv_live_', test: 'mv_test_' } as const;
export type KeyMode = keyof typeof KEY_PREFIXES;
const KEY_PATTERN = /^mv_(live|test)_[0-9A-Za-z]{32}$/;

/** Returns the mode of a well-formed API key; null for any other text. */
export function keyModeOf(key: string): KeyMode | null {
  if (!KEY_PATTERN.test(key)) return null;
  return key.startsWith(KEY_PREFIXES.test) ? 'test' : 'live';
}

/** Keys of the operator API have this prefix; they belong to no account. */
export const OPERATOR_KEY_PREFIX = 'mv_op_';
const OPERATOR_KEY_PATTERN = /^mv_op_[0-9A-Za-z]{32}$/;

export const isOperatorKey = (key: string): boolean => OPERATOR_KEY_PATTERN.test(key);
export const newOperatorKey = (): string => OPERATOR_KEY_PREFIX + randomToken(32);

/** Makes an API key: the prefix of its mode and 32 random characters (190 bits). It is shown once and never stored. */
export const newApiKey = (mode: KeyMode): string => KEY_PREFIXES[mode] + randomToken(32);

/**
 * The stored form of a key, as lower-case hex. Plain SHA-256 is sufficient: the key has 190 random bits, so a slow hash
 * would add nothing.
 */
export const hashApiKey = (key: string): string => hash('sha256', key, 'hex');

export const WEBHOOK_SECRET_PREFIX = 'whsec_';

/** Makes a signing secret: the prefix and 32 random bytes in base64 (Standard Webhooks, "Signature scheme"). */
export const newWebhookSecret = (): string => WEBHOOK_SECRET_PREFIX + randomBytes(32).toString('base64');

export const sha256Hex = (data: string | Uint8Array): string => hash('sha256', data, 'hex');

/** Computes HMAC-SHA-256 (RFC 2104) in base64url; `secret` is in base64. */
export const hmacSha256 = (secret: string, text: string): string =>
  createHmac('sha256', secret, { encoding: 'base64' }).update(text).digest('base64url');

export const sha256Base64 = (data: string): string => hash('sha256', data, 'base64');

export { randomBytes, randomInt };
