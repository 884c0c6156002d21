/** Who and what the store's tests are about: an account with a key, a request, a verdict. */

import type { Level } from '../../src/kernel/facts/plans.ts';
import type { KeyScope } from '../../src/kernel/facts/scopes.ts';
import { hashApiKey, newApiKey } from '../../src/kernel/ids.ts';
import type {
  Account,
  AccountId,
  Actor,
  Admission,
  AdmissionRequest,
  Caller,
  Key,
  KeyLimits,
  Store,
  VerificationRecord,
  VerifyAdmission,
} from '../../src/store/store.ts';

export const IP = '192.0.2.7';

export interface Member {
  readonly account: Account;
  readonly key: Key;
  readonly hash: string;
}

export async function member(
  store: Store,
  options: { plan?: string; credits?: number; rateLimit?: number | null; allowIps?: string[] } & KeyLimits = {},
): Promise<Member> {
  const { plan = 'premium', credits = 100, rateLimit = 1_000_000, allowIps = [], ...limits } = options;
  const account = await store.accounts.create({ name: 'Example', plan, rateLimit, credits });
  const hash = hashApiKey(newApiKey('live'));
  const key = await store.keys.create(account.id, { name: 'test', hash, lastFour: 'abcd', allowIps, ...limits });
  return { account, key, hash };
}

let made = 0;
export const newVerificationId = (): string => `ver_${process.pid}_${String(made++).padStart(8, '0')}`;

export const verdict = (id: string, more: Partial<VerificationRecord> = {}): VerificationRecord => ({
  id,
  email: 'jane@example.com',
  requested: 'mx',
  validationType: 'mx',
  status: 'good',
  deliverability: 'unknown',
  reason: null,
  credits: 1,
  clientIp: IP,
  durationMs: 12,
  body: JSON.stringify({ id }),
  ...more,
});

interface Asked {
  scope?: KeyScope;
  level?: Level;
  ip?: string;
  id?: string;
  invalid?: boolean;
  holdMs?: number;
  idempotency?: AdmissionRequest['idempotency'];
  filterKeys?: Partial<VerifyAdmission['filterKeys']>;
  seen?: VerifyAdmission['seen'];
  decide?: VerifyAdmission['decide'];
}

/** What filters did before there were others, and do by default. */
export const BLOCKS = { action: 'block', match: 'exact', expiresAt: null } as const;

/** Blocks what a filter matches that blocks, as the service does; anything else has to be worked out. */
const onlyFilters =
  (id: string): VerifyAdmission['decide'] =>
  (filter) =>
    filter?.action === 'block'
      ? verdict(id, { status: 'bad', reason: 'blocked_by_filter', credits: 0, filterId: filter.id })
      : null;

/** Who asks: by an API key, or as a person of an account. */
type Requester = { readonly hash: AdmissionRequest['keyHash']; readonly test?: boolean };

/** A request to verify; without `decide` a hold is taken unless a filter matches. */
export function asking({ hash, test = false }: Requester, asked: Asked = {}): AdmissionRequest {
  const { scope = 'verify', level = 'mx', ip = IP, id = newVerificationId(), invalid = false, holdMs = 60_000 } = asked;
  const { idempotency = null, filterKeys = {}, seen = null, decide = onlyFilters(id) } = asked;
  const address = { email: 'jane@example.com', mailbox: 'jane@example.com', domains: ['example.com', 'com'] };
  const keys = { ...address, ip, mxHosts: [], ...filterKeys };
  return {
    keyHash: hash,
    scope,
    ip,
    invalid,
    idempotency,
    verify: invalid ? null : { id, level, test, filterKeys: keys, holdMs, seen, decide },
  };
}

/** A request whose verdict waits for nobody. */
export function verifyNow(
  store: Store,
  who: Requester,
  more: Partial<VerificationRecord> = {},
  asked: Asked = {},
): Promise<Admission> {
  const id = asked.id ?? newVerificationId();
  return store.charging.admit(asking(who, { ...asked, id, decide: () => verdict(id, more) }));
}

/** Takes a hold, and answers its id and who took it. */
export async function hold(
  store: Store,
  who: Requester,
  asked: Asked = {},
): Promise<{ id: string; caller: Caller; balance: number }> {
  const id = asked.id ?? newVerificationId();
  const admission = await store.charging.admit(asking(who, { ...asked, id }));
  if (admission.outcome !== 'admitted') throw new Error(`Not admitted: ${JSON.stringify(admission)}`);
  return { id, caller: admission.caller, balance: admission.balance };
}

/** A round of the purge that keeps verifications from `before` on; how many rows it deleted. */
export async function purge(
  { clock }: { readonly clock: { now(): number } },
  store: Store,
  before: number,
  signal?: AbortSignal,
): Promise<number> {
  const round = await store.upkeep.purge(clock.now() - before, signal);
  if (round.paused) throw new Error('The clock of the store is doubted.');
  return round.total;
}

/** Runs the jobs that remove deleted accounts, as a worker does. Returns what failed. */
export async function removeDeleted(store: Store): Promise<string[]> {
  const failed: string[] = [];
  for (const claim of await store.jobs.claim(new Map([['account_removal', 100]]))) {
    try {
      const gone = await store.upkeep.removeAccount(claim.account ?? '');
      await store.jobs.done(claim, gone ? null : 0);
    } catch (error) {
      failed.push(`${claim.account}: ${String(error)}`);
      await store.jobs.fail(claim, String(error));
    }
  }
  return failed;
}

/** SQL that adds this many verifications of 1970 to the log of a member, free of charge. */
export const oldVerifications = ({ account, key }: Member, count: number): string => `
  INSERT INTO verifications (id, account_id, key_id, email, requested, validation_type, status, deliverability,
    credits, duration_ms, body, created_at)
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
  SELECT 'ver_old_' || i, '${account.id}', '${key.id}', 'jane@example.com', 'mx', 'mx', 'good', 'unknown',
    0, 1, '{}', 0 FROM n`;

/** Erases an address; how many records there were of it, without replies that were kept for repeats. */
export async function eraseAddress(
  store: Store,
  account: AccountId,
  email: string,
  by: Actor,
  mailbox: string | null = null,
): Promise<number> {
  const { erased } = await store.privacy.erase(account, { email, mailbox, spellings: null }, by, { filters: false });
  const records = ['verifications', 'seen', 'outcomes', 'outcome_verdicts'].map((table) => erased[table] ?? 0);
  return records.reduce((sum, rows) => sum + rows, 0);
}
