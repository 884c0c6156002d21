import { hash, type Options, verify } from '@node-rs/argon2';
import { ApiError } from '../../kernel/errors.ts';
import { FairQueue } from '../../kernel/fair-queue.ts';

/** OWASP Password Storage Cheat Sheet, Argon2id: 19 MiB, two passes, one lane. Takes about 20 ms of one core. */
const COST: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Concurrent hashes: they occupy threads of the pool that logging and file access need too. */
const HASHES_AT_ONCE = 2;
/** Beyond this, 503 `overloaded`, so that a flood of sign-ins cannot take the service down. */
const QUEUE_MAX = 100;

const queue = new FairQueue(HASHES_AT_ONCE);

/** `party`: guesses of one password take turns with those of others. */
async function inTurn<T>(party: string, work: () => Promise<T>): Promise<T> {
  if (queue.size >= QUEUE_MAX) throw new ApiError('overloaded', undefined, { retry_after: 1 });
  const leave = await queue.enter(party);
  return work().finally(leave);
}

/** Argon2id in the PHC string format. */
export const hashPassword = (password: string): Promise<string> => inTurn('', () => hash(password, COST));

export const verifyPassword = (input: { hash: string; password: string }): Promise<boolean> =>
  inTurn(input.hash, () => verify(input.hash, input.password));
