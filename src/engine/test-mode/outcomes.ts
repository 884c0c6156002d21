/**
 * What the local part of an address selects in test mode, where no DNS or SMTP query is made. docs/testing.md is
 * generated from this table.
 */
import { trimBlanks } from '../../kernel/blanks.ts';
import type { Level } from '../../kernel/facts/plans.ts';
import type { Deliverability, Reason } from '../../kernel/facts/reasons.ts';
import type { DnsFinding, Evidence, SmtpFinding } from '../evidence.ts';

type Flag = keyof NonNullable<Evidence['flags']>;
/** Selectors that are neither a reason, nor a deliverability, nor a flag. */
type Special = 'mailbox_full_temporarily' | 'typo' | 'typo_alive';
type OutcomeName = Reason | Deliverability | Flag | Special;

/** What is found. What a row leaves out is found as for a mailbox that exists. */
export interface Outcome {
  /** Conclusive without the network. */
  readonly offline?: 'syntax' | 'filter' | 'disposable';
  readonly dns?: DnsFinding;
  /** Only at level smtp: at level mx the domain accepts mail, and the mailbox is not checked. */
  readonly smtp?: SmtpFinding;
  /** What becomes of the random recipient once the real one was accepted. */
  readonly randomRecipient?: 'accepted' | 'rejected';
  readonly flag?: Flag;
  /** Suggests the same local part at a domain that exists. */
  readonly suggests?: true;
}

const EXISTS: Outcome = {};

export const OUTCOMES: Readonly<Record<OutcomeName, Outcome>> = {
  deliverable: EXISTS,
  undeliverable: { dns: 'domain_not_found' },
  risky: { offline: 'disposable' },
  unknown: { dns: 'dns_failure' },
  blocked_by_filter: { offline: 'filter' },
  invalid_format: { offline: 'syntax' },
  disposable_domain: { offline: 'disposable' },
  domain_not_found: { dns: 'domain_not_found' },
  no_mx_records: { dns: 'no_mx_records' },
  null_mx: { dns: 'null_mx' },
  mx_unusable: { dns: 'mx_unusable' },
  dns_failure: { dns: 'dns_failure' },
  typo: { dns: 'domain_not_found', suggests: true },
  typo_alive: { suggests: true },
  catch_all: { randomRecipient: 'accepted' },
  mailbox_not_found: { smtp: 'mailbox_not_found' },
  mailbox_full: { smtp: 'mailbox_full' },
  mailbox_full_temporarily: { smtp: 'mailbox_full_temporarily' },
  mailbox_disabled: { smtp: 'mailbox_disabled' },
  relay_denied: { smtp: 'relay_denied' },
  greylisted: { smtp: 'greylisted' },
  smtp_temporary_failure: { smtp: 'smtp_temporary_failure' },
  smtp_timeout: { smtp: 'smtp_timeout' },
  smtp_unreachable: { smtp: 'smtp_unreachable' },
  smtp_blocked: { smtp: 'smtp_blocked' },
  smtp_unverifiable: { smtp: 'smtp_unverifiable' },
  role: { flag: 'role' },
  free: { flag: 'free' },
  relay: { flag: 'relay' },
};

const BY_NAME: ReadonlyMap<string, Outcome> = new Map(Object.entries(OUTCOMES));

/** What has not arrived when the time of the check is over. */
const OUT_OF_TIME: Readonly<Record<Level, Outcome>> = { mx: { dns: 'dns_failure' }, smtp: { smtp: 'smtp_timeout' } };

/** The part of a local part that selects, in lower case, and its tag. */
export interface Selector {
  readonly name: string;
  readonly tag: string | null;
}

/**
 * The text before the first `@` and `+`, and that after the `+`, without blanks around; no part of it need be valid.
 */
export function selectorOf(email: string): Selector {
  const [local = ''] = trimBlanks(email).split('@', 1);
  const plus = local.indexOf('+');
  const name = (plus < 0 ? local : local.slice(0, plus)).toLowerCase();
  return { name, tag: plus < 0 ? null : local.slice(plus + 1) };
}

export const outcomeOf = ({ name }: Selector): Outcome => BY_NAME.get(name) ?? EXISTS;

const SLOW = 'slow';

/** As `slow+3000@…`: milliseconds until the reply; 0 for any other address. */
export const delayOf = ({ name, tag }: Selector): number =>
  name === SLOW && tag !== null && /^\d+$/.test(tag) ? Number(tag) : 0;

/** The outcome of a check whose delay is longer than its time. */
export const outOfTime = (level: Level): Outcome => OUT_OF_TIME[level];
