import { hash, type Options, verify } from '@node-rs/argon2';
import { ApiError } from '../../kernel/errors.ts';

/** OWASP Password Storage Cheat Sheet, Argon2id: 19 MiB, two passes, one lane. Takes about 20 ms of one core. */
const COST: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Concurrent hashes: they occupy threads of the pool that logging and file access need too. */
const HASH_SLOTS = 2;
/** Beyond this, 503 `overloaded`, so that a flood of sign-ins cannot take the service down. */
const QUEUE_MAX = 100;

const slots: Promise<unknown>[] = Array.from({ length: HASH_SLOTS }, () => Promise.resolve());
let started = 0;
let waiting = 0;

async function inHashSlot<T>(work: () => Promise<T>): Promise<T> {
  if (waiting >= QUEUE_MAX) throw new ApiError('overloaded', undefined, { retry_after: 1 });
  waiting += 1;
  started += 1;
  const slot = started % HASH_SLOTS;
  const result = slots[slot]!.then(work);
  slots[slot] = result.catch(() => undefined);
  try {
    return await result;
  } finally {
    waiting -= 1;
  }
}

/** Argon2id in the PHC string format. */
export const hashPassword = (password: string): Promise<string> => inHashSlot(() => hash(password, COST));

export const verifyPassword = (input: { hash: string; password: string }): Promise<boolean> =>
  inHashSlot(() => verify(input.hash, input.password));
