/** What mail operators answered, of the newest mailbox checks of an account. */
import { MAILBOX_CHECKS_COUNTED, OPERATORS_SHOWN } from '../kernel/facts/limits.ts';
import { NO_OPERATOR } from '../kernel/log-origins.ts';
import type { AccountId, Store } from '../store/store.ts';

interface Tally {
  checks: number;
  /** Without those that the operator does not disclose. */
  disclosed: number;
  deliverable: number;
  readonly times: number[];
}

/** What is read of a stored reply. */
interface Checked {
  readonly checks?: {
    readonly mx?: { readonly provider?: string | null };
    readonly smtp?: { readonly result?: string };
  };
}

/** The most used first. `median_ms`: of the whole verification. */
export async function operatorsAsked(store: Pick<Store, 'verifications'>, account: AccountId) {
  const found = await store.verifications.mailboxChecks(account, MAILBOX_CHECKS_COUNTED);
  const tallies = new Map<string, Tally>();
  for (const { body, deliverability, reason, durationMs } of found) {
    const { checks }: Checked = JSON.parse(body);
    // Decided before a mail server was looked up.
    if (checks?.mx?.provider === undefined) continue;
    const operator = checks.mx.provider ?? NO_OPERATOR;
    const tally = tallies.get(operator) ?? { checks: 0, disclosed: 0, deliverable: 0, times: [] };
    tallies.set(operator, tally);
    tally.checks += 1;
    tally.times.push(durationMs);
    if (reason !== 'smtp_unverifiable') tally.disclosed += 1;
    if (deliverability === 'deliverable') tally.deliverable += 1;
  }
  const operators = [...tallies]
    .sort(([, a], [, b]) => b.checks - a.checks)
    .slice(0, OPERATORS_SHOWN)
    .map(([operator, { checks, disclosed, deliverable, times }]) => ({
      operator,
      checks,
      deliverable_share: disclosed === 0 ? null : deliverable / checks,
      median_ms: median(times),
    }));
  return { checks: found.length, operators };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0;
