import { LRUCache } from 'lru-cache';
import { type Clock, HOUR_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { UNLOCK_WITHIN_SECONDS } from '../../kernel/facts/limits.ts';
import { networksOf } from '../../kernel/ip.ts';
import type { Attempts, UserChange } from '../../store/store.ts';
import { mailsTo } from '../mail-limits.ts';

const QUARTER_MS = 15 * MINUTE_MS;

interface Limit {
  /** Bounds one known device, or one network, and one subject. */
  readonly max: number;
  /** Bounds all networks together, known devices left out. */
  readonly everywhere?: number;
  readonly windowMs: number;
  /** What every attempt of an unknown device counts as well: the limit of its network, whatever the subject. */
  readonly network?: string;
}
/** Attempts allowed per window, which starts at the first attempt. */
const ATTEMPT_LIMITS = {
  /** Sign-ins are counted by address, whether or not it has a user. */
  'sign-in': { max: 10, everywhere: 100, windowMs: QUARTER_MS, network: 'sign-in-ip' },
  /** Attempts are counted by client network alone, or by known device. */
  'sign-in-ip': { max: 30, windowMs: QUARTER_MS },
  /** Second factors of a user; the library also limits them to five per sign-in. */
  code: { max: 10, everywhere: 30, windowMs: QUARTER_MS },
  /** A signed-in user confirms the password. */
  password: { max: 10, windowMs: QUARTER_MS },
  /** Passkey challenges: each is a row, and every view of the sign-in page requests one. */
  'passkey-ip': { max: 120, windowMs: QUARTER_MS },
  /** Sign-ins with the OpenID provider that are begun: each is a row, and an office has one network. */
  'oidc-ip': { max: 300, windowMs: QUARTER_MS },
  /**
   * These are counted by address; it is in the interest of its owner that all networks together get little more than
   * one.
   */
  mail: { max: 3, everywhere: 6, windowMs: HOUR_MS, network: 'mail-ip' },
  'mail-ip': { max: 20, windowMs: HOUR_MS },
  'token-ip': { max: 60, windowMs: HOUR_MS },
} as const satisfies Record<string, Limit>;
type Kind = keyof typeof ATTEMPT_LIMITS;
type IpKind = Extract<Kind, `${string}-ip`>;
type OriginKind = Exclude<Kind, IpKind | 'password'>;

/** One-time codes are accepted one step of 30 s early or late. */
const CODE_LIVES_MS = 2 * MINUTE_MS;

/** Where an attempt comes from. */
interface Origin {
  /** The address is canonical. */
  readonly ip: string;
  /** The id of a device on which the subject has signed in before (devices.ts). */
  readonly device: string | null;
}

interface Counter {
  readonly kind: Kind;
  readonly max: number;
  readonly subject: string;
  /** Where it is left out, all origins are taken together. */
  readonly origin?: string;
}

/** Origins have no line breaks, so the last one separates them from what anyone typed. */
const refusalKey = ({ kind, subject, origin = '' }: Counter): string => `${kind}:${subject}\n${origin}`;

/** Refusals kept in memory; those beyond are asked of the store again. */
const REFUSALS_MAX = 20_000;

function networkCounters(kind: IpKind, ip: string): Counter[] {
  return networksOf(ip).map(({ network, times }) => ({
    kind,
    max: times * ATTEMPT_LIMITS[kind].max,
    subject: network,
  }));
}

function attemptCounters(kind: OriginKind, subject: string, { ip, device }: Origin): Counter[] {
  const limit = ATTEMPT_LIMITS[kind];
  const { max, everywhere } = limit;
  if (device !== null) return [{ kind, max, subject, origin: `device ${device}` }];
  return [
    // The network first: what it may not try is not counted against the subject either.
    ...('network' in limit ? networkCounters(limit.network, ip) : []),
    ...networksOf(ip).map(({ network, times }) => ({ kind, max: times * max, subject, origin: network })),
    { kind, max: everywhere, subject },
  ];
}

/** Lifts the limits on a user's attempts and on mails to them; services know within UNLOCK_WITHIN_SECONDS. */
export async function unlock(
  { clearAttempts }: Pick<UserChange, 'clearAttempts'>,
  { id, email }: { readonly id: string; readonly email: string },
): Promise<void> {
  for (const kind of ['sign-in', 'mail'] satisfies Kind[]) await clearAttempts(`${kind}:${email}`);
  await clearAttempts(mailsTo(email));
  for (const kind of ['code', 'password'] satisfies Kind[]) await clearAttempts(`${kind}:${id}`);
}

/**
 * Attempts, counted in advance and across all nodes. A refusal is repeated from memory for UNLOCK_WITHIN_SECONDS at
 * most, and not counted then.
 */
export function createLimits({ attempts, clock }: { attempts: Attempts; clock: Clock }) {
  // Rejected requests must not cost the store a write each. Created at the first one, as it allocates its full size at
  // once.
  let refusals: LRUCache<string, { readonly endsAt: number }> | null = null;
  const newRefusals = () =>
    new LRUCache<string, { readonly endsAt: number }>({
      max: REFUSALS_MAX,
      perf: { now: () => clock.elapsed() },
      ttlResolution: 0,
    });

  function refusal({ kind, max }: Counter, endsAt: number): ApiError {
    const { windowMs }: Limit = ATTEMPT_LIMITS[kind];
    const retry_after = Math.min(windowMs / 1000, Math.max(1, Math.ceil((endsAt - clock.now()) / 1000)));
    const minutes = Math.ceil(retry_after / 60);
    const message = `Too many attempts. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`;
    return new ApiError('rate_limit_exceeded', message, { limit: max, retry_after });
  }

  async function countAll(...counters: readonly Counter[]): Promise<void> {
    for (const counter of counters) {
      const known = refusals?.get(refusalKey(counter));
      if (known !== undefined) throw refusal(counter, known.endsAt);
    }
    for (const counter of counters) {
      const { kind, max, subject, origin } = counter;
      const { count, endsAt } = await attempts.count(`${kind}:${subject}`, ATTEMPT_LIMITS[kind].windowMs, origin);
      if (count <= max) continue;
      const ttlMs = Math.min(UNLOCK_WITHIN_SECONDS * 1000, Math.max(1, endsAt - clock.now()));
      refusals ??= newRefusals();
      refusals.set(refusalKey(counter), { endsAt }, { ttl: ttlMs });
      throw refusal(counter, endsAt);
    }
  }

  const clear = async (kind: Exclude<Kind, IpKind>, subject: string) => {
    await attempts.clear(`${kind}:${subject}`);
    const start = refusalKey({ kind, subject, max: 0 });
    for (const key of refusals?.keys() ?? []) if (key.startsWith(start)) refusals?.delete(key);
  };
  return {
    /**
     * By subject and origin: a known device has a count of its own, which nobody else can use up; others share one per
     * network and a higher one for all networks, and count against the limit of their network. Throws
     * `rate_limit_exceeded`, whether or not the subject exists.
     */
    count: (kind: OriginKind, subject: string, from: Origin) => countAll(...attemptCounters(kind, subject, from)),
    /** Counts by subject alone. */
    countUser: (kind: 'password', user: string) => countAll({ kind, max: ATTEMPT_LIMITS[kind].max, subject: user }),
    countIp: (kind: IpKind, { ip, device = null }: Pick<Origin, 'ip'> & Partial<Origin>) =>
      countAll(
        ...(device === null
          ? networkCounters(kind, ip)
          : [{ kind, max: ATTEMPT_LIMITS[kind].max, subject: `device ${device}` }]),
      ),
    /** Resets the counts of the subject, from everywhere: after a success, or for the operator. */
    clear,
    /** False if the user has already sent this code during its validity (RFC 6238 §5.2). */
    firstUse: async (user: string, code: string) =>
      (await attempts.count(`used-code:${user}:${code}`, CODE_LIVES_MS)).count === 1,
  };
}

export type Limits = ReturnType<typeof createLimits>;
