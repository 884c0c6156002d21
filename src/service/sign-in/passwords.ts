import { hash, type Options, verify } from '@node-rs/argon2';
import { Refusal } from '../../kernel/errors.ts';

/** OWASP Password Storage Cheat Sheet, Argon2id: 19 MiB, two passes, one lane. Some 20 ms of a core. */
const COST: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** At once: they take threads that the log and files need too. */
const LANES = 2;
/** Beyond so many the answer is 503 `overloaded`: a flood of passwords must not take the service with it. */
const MOST_WAITING = 100;

const lanes: Promise<unknown>[] = Array.from({ length: LANES }, () => Promise.resolve());
let begun = 0;
let waiting = 0;

async function inLane<T>(work: () => Promise<T>): Promise<T> {
  if (waiting >= MOST_WAITING) throw new Refusal('overloaded', undefined, { retry_after: 1 });
  waiting += 1;
  begun += 1;
  const lane = begun % LANES;
  const result = lanes[lane]!.then(work);
  lanes[lane] = result.catch(() => undefined);
  try {
    return await result;
  } finally {
    waiting -= 1;
  }
}

/** Argon2id in the PHC string format. */
export const hashPassword = (password: string): Promise<string> => inLane(() => hash(password, COST));

export const verifyPassword = (input: { hash: string; password: string }): Promise<boolean> =>
  inLane(() => verify(input.hash, input.password));
