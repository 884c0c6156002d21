/** What an account has learnt from mail that it sent, when it verifies an address. */
import { LRUCache } from 'lru-cache';
import type { Learned } from '../engine/report.ts';
import { type Clock, DAY_MS, toIsoOrNull } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { confidenceOf, groupKey, type OutcomeSum, type VerdictGroup } from '../kernel/facts/calibration.ts';
import type { AccountId, AdmissionRequest, MailboxOutcomes, OutcomeOwner, Store } from '../store/store.ts';

/** Names a canonical address, and its domain. */
export interface MailboxName {
  readonly mailbox: string;
  readonly domain: string;
}

/**
 * Outcomes are known of one address; with `bounces`, mail to it is taken to bounce, so that nothing else is checked.
 */
export interface Recalled extends Learned {
  readonly bounces: boolean;
}

/** Entries are in the order of the addresses; null means that nothing is known of any. */
type RecalledAll = readonly Recalled[] | null;

/** For so long a node goes by what it has read of an account; what another node records counts after it, ms. */
const ASKED_AGAIN_MS = 1_000;
const LEARNED_ACCOUNTS_MAX = 10_000;
const LEARNED_KEYS_MAX = 20_000;

interface KnownOutcomes {
  readonly owner: OutcomeOwner;
  readonly sums: ReadonlyMap<string, OutcomeSum>;
  /** `Clock.elapsed()`. */
  readonly readAt: number;
}

export function createOutcomeMemory(store: Pick<Store, 'outcomes'>, clock: Clock) {
  const { outcomes } = store;
  const accounts = new LRUCache<string, KnownOutcomes>({ max: LEARNED_ACCOUNTS_MAX });
  /** A key never changes its account. */
  const ofKeys = new LRUCache<string, AccountId>({ max: LEARNED_KEYS_MAX });
  const reading = new Map<string, Promise<KnownOutcomes | null>>();

  const idOf = (who: AdmissionRequest['keyHash']) => (typeof who === 'string' ? ofKeys.get(who) : who.account);

  function fresh(who: AdmissionRequest['keyHash']): KnownOutcomes | null {
    const known = accounts.get(idOf(who) ?? '');
    return known !== undefined && clock.elapsed() - known.readAt < ASKED_AGAIN_MS ? known : null;
  }

  async function readOwner(who: AdmissionRequest['keyHash']): Promise<KnownOutcomes | null> {
    const readAt = clock.elapsed();
    const owner = await outcomes.owner(who);
    // An unknown key is an error of the admission.
    if (owner === null) return null;
    if (typeof who === 'string') ofKeys.set(who, owner.account);
    const before = accounts.get(owner.account);
    const isSame = before?.owner.version === owner.version;
    const sums = isSame ? before.sums : owner.version === 0 ? NO_SUMS : await outcomes.verdictSums(owner.account);
    const known = { owner, sums, readAt };
    accounts.set(owner.account, known);
    return known;
  }

  /** All that wait for it share one reading at a time. */
  function read(who: AdmissionRequest['keyHash']): Promise<KnownOutcomes | null> {
    const id = typeof who === 'string' ? who : who.account;
    const open = reading.get(id);
    if (open !== undefined) return open;
    const begun = readOwner(who).finally(() => reading.delete(id));
    reading.set(id, begun);
    return begun;
  }

  async function readAll(
    known: KnownOutcomes | Promise<KnownOutcomes | null>,
    addresses: readonly (MailboxName | null)[],
  ): Promise<RecalledAll> {
    try {
      const of = await known;
      if (of === null || of.owner.version === 0) return null;
      const { owner, sums } = of;
      const named = addresses.flatMap((address) => address ?? []);
      const found = await outcomes.ofMailboxes(owner, named);
      const confidence = (group: VerdictGroup) => confidenceOf(sums.get(groupKey(group)) ?? NO_SUM);
      let next = 0;
      return addresses.map((address) => recalled(owner, address && (found[next++] ?? null), confidence, clock.now()));
    } catch (error) {
      throw error instanceof ApiError
        ? error
        : new ApiError('verification_unavailable', undefined, { retry_after: 5 }, error);
    }
  }

  return {
    /**
     * Of addresses that `who` verifies; null for a malformed one. A promise only where the store has to be read:
     * always, once the account has outcomes; before, every ASKED_AGAIN_MS. Rejects with ApiError
     * `verification_unavailable`.
     */
    recall(who: AdmissionRequest['keyHash'], addresses: readonly (MailboxName | null)[]) {
      const known = fresh(who);
      if (known?.owner.version === 0) return null;
      return readAll(known ?? read(who), addresses);
    },
    /** Outcomes were recorded here: they count from now on. */
    forget: (account: AccountId) => void accounts.delete(account),
  };
}

export type OutcomeMemory = ReturnType<typeof createOutcomeMemory>;

const NO_SUMS: ReadonlyMap<string, OutcomeSum> = new Map();
const NO_SUM: OutcomeSum = { sent: 0, bounced: 0 };

function recalled(
  { trustBouncesDays }: OutcomeOwner,
  found: MailboxOutcomes | null,
  confidence: Learned['confidence'],
  now: number,
): Recalled {
  if (found === null) return { history: null, confidence, domain: NO_SUM, bounces: false };
  const { deliveredAt, bouncedAt, complainedAt, domain } = found;
  const history =
    deliveredAt === null && bouncedAt === null && complainedAt === null
      ? null
      : {
          delivered_at: toIsoOrNull(deliveredAt),
          bounced_at: toIsoOrNull(bouncedAt),
          complained_at: toIsoOrNull(complainedAt),
        };
  // Who complains has got it.
  const arrivedAt = Math.max(deliveredAt ?? Number.NEGATIVE_INFINITY, complainedAt ?? Number.NEGATIVE_INFINITY);
  const bounces =
    trustBouncesDays !== null &&
    bouncedAt !== null &&
    arrivedAt <= bouncedAt &&
    now - bouncedAt <= trustBouncesDays * DAY_MS;
  return { history, confidence, domain, bounces };
}
