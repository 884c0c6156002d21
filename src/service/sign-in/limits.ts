import type { Clock } from '../../kernel/clock.ts';
import { Refusal } from '../../kernel/errors.ts';
import type { Attempts } from '../../store/store.ts';
import { networkOf } from '../network.ts';

const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;

interface Limit {
  readonly most: number;
  readonly windowMs: number;
}
/** The table: how often something may be tried in a window that begins at the first try. */
const LIMITS = {
  /** By address, known or not; and by who asks. */
  'sign-in': { most: 10, windowMs: QUARTER_MS },
  'sign-in-ip': { most: 30, windowMs: QUARTER_MS },
  /** Wrong second factors of a user; the library allows five for one sign-in. */
  code: { most: 10, windowMs: QUARTER_MS },
  /** The password asked again of a user who is signed in. */
  password: { most: 10, windowMs: QUARTER_MS },
  /** Challenges of passkeys: each is a row, and every visit of the sign-in page asks for one. */
  'passkey-ip': { most: 120, windowMs: QUARTER_MS },
  mail: { most: 3, windowMs: HOUR_MS },
  'mail-ip': { most: 20, windowMs: HOUR_MS },
  'token-ip': { most: 60, windowMs: HOUR_MS },
} as const satisfies Record<string, Limit>;
type Kind = keyof typeof LIMITS;

/** One-time codes are taken a step of 30 s before and after their own. */
const CODE_LIVES_MS = 2 * MINUTE_MS;

/** Attempts, counted before they are made and on all nodes together. `ip` is canonical. */
export interface Limits {
  /** Throws `rate_limit_exceeded`, for a known subject as for an unknown one. */
  count(kind: Exclude<Kind, `${string}-ip`>, subject: string): Promise<void>;
  countIp(kind: Extract<Kind, `${string}-ip`>, ip: string): Promise<void>;
  /** After a success. */
  clear(kind: Kind, subject: string): Promise<void>;
  /** Whether this is the first time that the user sends this code while it could be valid (RFC 6238 §5.2). */
  firstUse(user: string, code: string): Promise<boolean>;
}

export function createLimits({ attempts, clock }: { attempts: Attempts; clock: Clock }): Limits {
  async function count(kind: Kind, subject: string): Promise<void> {
    const { most, windowMs }: Limit = LIMITS[kind];
    const { count: made, endsAt } = await attempts.count(`${kind}:${subject}`, windowMs);
    if (made <= most) return;
    const retry_after = Math.min(windowMs / 1000, Math.max(1, Math.ceil((endsAt - clock.now()) / 1000)));
    const minutes = Math.ceil(retry_after / 60);
    const sentence = `Too many attempts: go on in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`;
    throw new Refusal('rate_limit_exceeded', sentence, { limit: most, retry_after });
  }
  return {
    count,
    countIp: (kind, ip) => count(kind, networkOf(ip)),
    clear: (kind, subject) => attempts.clear(`${kind}:${subject}`),
    firstUse: async (user, code) => (await attempts.count(`used-code:${user}:${code}`, CODE_LIVES_MS)).count === 1,
  };
}
