/**
 * One row per finding: verdict, checks, flags and precedence. Verdict, report, classification, catch-all detection,
 * egress monitoring and docs/verdicts.md read these tables.
 */
import { DEFAULT_PRICES, type Level, type Priced } from '../kernel/facts/plans.ts';
import { type Deliverability, OWN_DECISIONS, type Reason, type Status } from '../kernel/facts/reasons.ts';
import type { DnsFinding, Evidence, Result, SmtpEvidence, SmtpFinding } from './evidence.ts';

export interface Verdict<R extends Reason | null = Reason | null> {
  readonly status: Status;
  readonly deliverability: Deliverability;
  readonly reason: R;
  /** The level that produced the verdict; it is the one billed. */
  readonly level: Level;
  /** Null: it costs nothing. */
  readonly price: Priced | null;
  /** Where no plan says otherwise. */
  readonly credits: number;
}

const verdict = <R extends Reason | null>(
  status: Status,
  deliverability: Deliverability,
  reason: R,
  level: Level,
): Verdict<R> => {
  // The mx level, where it is all that was asked for, has answered.
  const price = OWN_DECISIONS.includes(reason)
    ? null
    : deliverability === 'unknown' && reason !== null
      ? 'unknown'
      : level;
  return { status, deliverability, reason, level, price, credits: price === null ? 0 : DEFAULT_PRICES[price] };
};

/** Verdicts that need no network. */
export const OFFLINE_VERDICTS = {
  syntax: verdict('bad', 'undeliverable', 'invalid_format', 'mx'),
  filter: verdict('bad', 'undeliverable', 'blocked_by_filter', 'mx'),
  bounced: verdict('bad', 'undeliverable', 'bounced_before', 'mx'),
  disposable: verdict('bad', 'risky', 'disposable_domain', 'mx'),
} as const satisfies Record<'syntax' | 'filter' | 'bounced' | 'disposable', Verdict>;

interface DnsRow {
  /** Null: our own resolver is down, an outage rather than a finding about the address. */
  readonly verdict: Verdict | null;
  /** `checks.domain.result`; `unknown` becomes `pass` where MX records were read. */
  readonly domain: Result;
  /** `checks.mx.result`; `pass`: the mailbox can be checked. */
  readonly mx: Result;
}

const ACCEPTS_MAIL = verdict('good', 'unknown', null, 'mx');

const DNS_ROWS = {
  mx: { verdict: ACCEPTS_MAIL, domain: 'pass', mx: 'pass' },
  implicit_mx: { verdict: ACCEPTS_MAIL, domain: 'pass', mx: 'pass' },
  tld_not_found: { verdict: OFFLINE_VERDICTS.syntax, domain: 'fail', mx: 'skipped' },
  domain_not_found: {
    verdict: verdict('bad', 'undeliverable', 'domain_not_found', 'mx'),
    domain: 'fail',
    mx: 'skipped',
  },
  no_mx_records: { verdict: verdict('bad', 'undeliverable', 'no_mx_records', 'mx'), domain: 'pass', mx: 'fail' },
  null_mx: { verdict: verdict('bad', 'undeliverable', 'null_mx', 'mx'), domain: 'pass', mx: 'fail' },
  mx_unusable: { verdict: verdict('bad', 'undeliverable', 'mx_unusable', 'mx'), domain: 'pass', mx: 'fail' },
  dns_failure: { verdict: verdict('bad', 'unknown', 'dns_failure', 'mx'), domain: 'unknown', mx: 'unknown' },
  resolver_unavailable: { verdict: null, domain: 'unknown', mx: 'unknown' },
} as const satisfies Record<DnsFinding, DnsRow>;
export const DNS_FINDINGS: Readonly<Record<DnsFinding, DnsRow>> = DNS_ROWS;

interface SmtpRow {
  /** `by_catch_all` means that the answer to the random recipient decides. */
  readonly verdict: Verdict | 'by_catch_all';
  /** `checks.smtp.result`. */
  readonly check: 'pass' | 'fail' | 'unknown';
  /** `is_mailbox_full` and `is_disabled`; null: the server did not say. */
  readonly full: boolean | null;
  readonly disabled: boolean | null;
  /** The finding for the same text in a 4xx reply, which never makes an address bad. */
  readonly on4xx: SmtpFinding;
  /**
   * As the answer to the random recipient, once the real one was accepted. `fail`: the domain is a catch-all. `pass`:
   * the server distinguishes mailboxes. A verdict: inconclusive, and this is the verdict on the accepted address.
   */
  readonly asProbe: 'fail' | 'pass' | Verdict;
  /** Applies only to replies to RCPT. */
  readonly aboutMailbox: boolean;
  /** If several hosts have findings, the lowest rank is reported. Findings about the mailbox end the search. */
  readonly rank: number;
  /**
   * What a reply with this finding proves about this host. `accepts`: servers answer its RCPT commands. `greets`: it
   * can reach them. `blocks`: they may be rejecting its IP address.
   */
  readonly egress: 'accepts' | 'greets' | 'blocks';
}

/** The mailbox check was inconclusive: the address is good, billed at level `mx`. */
const inconclusive = <R extends Reason>(reason: R) => verdict('good', 'unknown', reason, 'mx');

const GREYLISTED = inconclusive('greylisted');
const TEMPORARY_FAILURE = inconclusive('smtp_temporary_failure');
const TIMED_OUT_VERDICT = inconclusive('smtp_timeout');
const SMTP_UNREACHABLE = inconclusive('smtp_unreachable');
const BLOCKED = inconclusive('smtp_blocked');
const UNVERIFIABLE = inconclusive('smtp_unverifiable');

const SMTP_ROWS = {
  accepted: {
    verdict: 'by_catch_all',
    check: 'pass',
    full: false,
    disabled: false,
    on4xx: 'accepted',
    asProbe: 'fail',
    aboutMailbox: true,
    rank: 0,
    egress: 'accepts',
  },
  mailbox_not_found: {
    verdict: verdict('bad', 'undeliverable', 'mailbox_not_found', 'smtp'),
    check: 'fail',
    full: false,
    disabled: false,
    on4xx: 'smtp_temporary_failure',
    asProbe: 'pass',
    aboutMailbox: true,
    rank: 0,
    egress: 'accepts',
  },
  mailbox_full: {
    verdict: verdict('bad', 'undeliverable', 'mailbox_full', 'smtp'),
    check: 'fail',
    full: true,
    disabled: false,
    on4xx: 'mailbox_full_temporarily',
    // A random mailbox cannot be full: the server says this of any address, so it does not distinguish mailboxes.
    asProbe: UNVERIFIABLE,
    aboutMailbox: true,
    rank: 0,
    egress: 'accepts',
  },
  mailbox_full_temporarily: {
    verdict: verdict('good', 'risky', 'mailbox_full', 'smtp'),
    check: 'pass',
    full: true,
    disabled: false,
    on4xx: 'mailbox_full_temporarily',
    asProbe: UNVERIFIABLE,
    aboutMailbox: true,
    rank: 0,
    egress: 'accepts',
  },
  mailbox_disabled: {
    verdict: verdict('bad', 'undeliverable', 'mailbox_disabled', 'smtp'),
    check: 'fail',
    full: null,
    disabled: true,
    on4xx: 'smtp_temporary_failure',
    asProbe: 'pass',
    aboutMailbox: true,
    rank: 0,
    egress: 'accepts',
  },
  relay_denied: {
    verdict: verdict('bad', 'undeliverable', 'relay_denied', 'smtp'),
    check: 'fail',
    full: null,
    disabled: null,
    on4xx: 'smtp_temporary_failure',
    asProbe: 'pass',
    aboutMailbox: true,
    rank: 0,
    egress: 'accepts',
  },
  smtp_blocked: {
    verdict: BLOCKED,
    check: 'unknown',
    full: null,
    disabled: null,
    on4xx: 'smtp_blocked',
    asProbe: BLOCKED,
    aboutMailbox: false,
    rank: 1,
    egress: 'blocks',
  },
  greylisted: {
    verdict: GREYLISTED,
    check: 'unknown',
    full: null,
    disabled: null,
    on4xx: 'greylisted',
    asProbe: GREYLISTED,
    aboutMailbox: false,
    rank: 2,
    egress: 'accepts',
  },
  smtp_temporary_failure: {
    verdict: TEMPORARY_FAILURE,
    check: 'unknown',
    full: null,
    disabled: null,
    on4xx: 'smtp_temporary_failure',
    asProbe: TEMPORARY_FAILURE,
    aboutMailbox: false,
    rank: 3,
    egress: 'greets',
  },
  smtp_unverifiable: {
    verdict: UNVERIFIABLE,
    check: 'unknown',
    full: null,
    disabled: null,
    on4xx: 'smtp_temporary_failure',
    asProbe: UNVERIFIABLE,
    aboutMailbox: false,
    rank: 4,
    egress: 'accepts',
  },
  smtp_timeout: {
    verdict: TIMED_OUT_VERDICT,
    check: 'unknown',
    full: null,
    disabled: null,
    on4xx: 'smtp_timeout',
    asProbe: TIMED_OUT_VERDICT,
    aboutMailbox: false,
    rank: 5,
    egress: 'greets',
  },
  smtp_unreachable: {
    verdict: SMTP_UNREACHABLE,
    check: 'unknown',
    full: null,
    disabled: null,
    on4xx: 'smtp_unreachable',
    asProbe: SMTP_UNREACHABLE,
    aboutMailbox: false,
    rank: 6,
    egress: 'greets',
  },
} as const satisfies Record<SmtpFinding, SmtpRow>;
export const SMTP_FINDINGS: Readonly<Record<SmtpFinding, SmtpRow>> = SMTP_ROWS;

/** A mailbox was accepted: the result for the random recipient decides. */
export const ACCEPTED_VERDICTS = {
  pass: verdict('good', 'deliverable', null, 'smtp'),
  fail: verdict('good', 'risky', 'catch_all', 'smtp'),
  /** The random recipient was not tried. */
  unknown: UNVERIFIABLE,
} as const satisfies Record<'pass' | 'fail' | 'unknown', Verdict>;

/** All possible verdicts, by the level at which they occur. */
const VERDICTS_AT = {
  mx: [
    ...Object.values(OFFLINE_VERDICTS),
    ...Object.values(DNS_ROWS).flatMap(({ verdict }) => (verdict === null ? [] : [verdict])),
  ],
  smtp: [
    ...Object.values(ACCEPTED_VERDICTS),
    ...Object.values(SMTP_ROWS).flatMap(({ verdict }) => (verdict === 'by_catch_all' ? [] : [verdict])),
  ],
} as const;
type ReachableReason = (typeof VERDICTS_AT)[Level][number]['reason'];

/** The verdicts with this reason, each once. The type leaves out a reason that no finding leads to. */
export const verdictsWith = (reason: ReachableReason, level: Level): readonly Verdict[] => [
  ...new Set<Verdict>(VERDICTS_AT[level].filter((verdict) => verdict.reason === reason)),
];

/**
 * The verdict, from evidence alone: the first conclusive stage decides, by its row in findings.ts. Returns null when
 * there is no verdict because our own resolver is down, which is an outage and not a finding.
 */
export function decideVerdict(e: Evidence): Verdict | null {
  if (e.syntax.result === 'fail') return OFFLINE_VERDICTS.syntax;
  if (e.filter.result === 'fail') return OFFLINE_VERDICTS.filter;
  if (e.bounced) return OFFLINE_VERDICTS.bounced;
  if (e.disposable.result === 'fail') return OFFLINE_VERDICTS.disposable;
  if (e.dns === null) return null;
  const row = DNS_FINDINGS[e.dns.finding];
  return row.mx === 'pass' && e.smtp !== null ? mailboxVerdict(e.smtp, e.catchAll) : row.verdict;
}

function mailboxVerdict(smtp: SmtpEvidence, catchAll: Evidence['catchAll']): Verdict {
  const { verdict } = SMTP_FINDINGS[smtp.finding];
  if (verdict !== 'by_catch_all') return verdict;
  if (catchAll?.result === 'pass' || catchAll?.result === 'fail') return ACCEPTED_VERDICTS[catchAll.result];
  if (catchAll === null || catchAll.why === null) return ACCEPTED_VERDICTS.unknown;
  const { asProbe } = SMTP_FINDINGS[catchAll.why];
  return typeof asProbe === 'string' ? ACCEPTED_VERDICTS.unknown : asProbe;
}
