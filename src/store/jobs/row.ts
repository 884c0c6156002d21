/** What both engines do alike with a job. */
import { isJobKind, type JobKind, type JobPayloads, type JobPolicies, type JobPolicy } from '../../kernel/jobs.ts';
import { storable } from '../text.ts';
import type { Claim } from './queue.ts';

/** For jobs of a kind that this version does not have: another one added them and may run them yet. */
const UNKNOWN_KIND = { backoffSeconds: 60, backoffMaxSeconds: 3600, keepFailedDays: 365 } as const;

export const failurePolicy = (policies: JobPolicies, kind: string): FailurePolicy =>
  isJobKind(kind) ? policies[kind] : UNKNOWN_KIND;

export const LEASE_EXPIRED = 'The worker ended or stalled: its lease expired.';

type FailurePolicy = Pick<JobPolicy, 'backoffSeconds' | 'backoffMaxSeconds' | 'keepFailedDays'>;

/** As pg-boss computes it; `random` is from 0 to 1. */
export function backoffMs(policy: FailurePolicy, attempts: number, random: number): number {
  const longest = policy.backoffSeconds * 2 ** Math.min(16, attempts);
  return Math.round(Math.min(policy.backoffMaxSeconds, longest * (0.5 + random / 2)) * 1000);
}

/** JSON that both engines can keep. */
export const payloadText = (payload: JobPayloads[JobKind]): string =>
  JSON.stringify(payload, (_key, value: unknown) => (typeof value === 'string' ? storable(value) : value));

/** The table's one promise: a payload is what was added for its kind. */
export const claimOf = (
  { id, key, account_id }: { id: string; key: string; account_id: string | null },
  kind: JobKind,
  attempt: number,
  payload: unknown,
): Claim => ({ id, kind, key, account: account_id, payload, attempt }) as Claim;
