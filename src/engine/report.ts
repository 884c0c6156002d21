import { toIso, toIsoOrNull } from '../kernel/clock.ts';
import type { Confidence, OutcomeSum, VerdictGroup } from '../kernel/facts/calibration.ts';
import type { FilterAction, FilterType } from '../kernel/facts/filter-types.ts';
import type { Level } from '../kernel/facts/plans.ts';
import type { Deliverability, ProviderKind, Reason, Status } from '../kernel/facts/reasons.ts';
import { mailboxAt } from './address/mailbox.ts';
import type { Address, SyntaxErrorCode } from './address/parse.ts';
import type {
  CatchAllEvidence,
  DnsEvidence,
  Evidence,
  HostAttempt,
  MxRecord,
  ReadBy,
  Result,
  SmtpEvidence,
  TranscriptLine,
} from './evidence.ts';
import { DNS_FINDINGS, SMTP_FINDINGS, type Verdict } from './findings.ts';

/** `POST /v1/verify` answers this, with its fields in this order. */
export interface Report {
  /** The address is exactly as sent. */
  email: string;
  status: Status;
  validation_type: Level;
  credits_used: number;
  is_disposable: boolean;
  deliverability: Deliverability;
  reason: Reason | null;
  did_you_mean: string | null;
  /** Domain in lower-case ASCII (IDNA), local part untouched; null when the syntax is bad. */
  normalized_email: string | null;
  canonical_email: string | null;
  canonical_rule: string | null;
  /** Only a store remembers mailboxes: it puts in what it knows where a request names a scope. */
  seen: null;
  /** Only a store knows what became of mail. */
  history: MailHistory | null;
  confidence: Confidence | null;
  local_part: string | null;
  domain: string | null;
  tag: string | null;
  /** In these flags, null means not determined. */
  is_role: boolean | null;
  is_free: boolean | null;
  is_relay: boolean | null;
  relay_provider: string | null;
  is_catch_all: boolean | null;
  is_mailbox_full: boolean | null;
  is_disabled: boolean | null;
  /** Seconds after which a retry makes sense (greylisting, temporary failures), if the server announced it. */
  retry_after: number | null;
  checks: Checks;
  /** Unknown fields of the request; those of the library throw instead. */
  warnings: readonly string[];
  id: string;
  duration_ms: number;
  verified_at: string;
  /** Appears only on request. */
  evidence?: ReportedEvidence;
}

export interface Checks {
  syntax: { result: Result; error?: SyntaxErrorCode; index?: number };
  filter: {
    result: Result;
    filter_id?: number;
    action?: FilterAction;
    filter_type?: FilterType;
    value?: string;
    /** `filter_id` of a filter that blocks, as versions before there were others called it. */
    id?: number;
  };
  disposable: { result: Result; list_version: string; matched?: string };
  domain: { result: Result };
  mx: {
    result: Result;
    records?: MxRecord[];
    provider?: string | null;
    provider_kind?: ProviderKind | null;
    failure?: string;
  };
  smtp: {
    result: Result;
    host?: string | null;
    stage?: string | null;
    code?: number | null;
    enhanced_code?: string | null;
    message?: string | null;
    tls?: boolean;
    rule?: string | null;
    egress?: string | null;
  };
  catch_all: {
    result: Result;
    checked_at?: string | null;
    /** This counts mail to mailboxes of a domain that is a catch-all. */
    outcomes?: { delivered: number; bounced: number };
  };
}

export interface ReportedEvidence {
  mail_hosts: { host: string; priority: number; addresses: string[] }[];
  unusable_hosts: { host: string; why: string }[];
  smtp: {
    host: string | null;
    address: string | null;
    tls: boolean;
    rule: string | null;
    egress: string | null;
    decided_by: ReadBy | null;
    probability: number | null;
    attempts: HostAttempt[];
    transcript: TranscriptLine[];
  } | null;
  /** Null: the host was not asked about a random mailbox, and had not been before. */
  catch_all: { result: Result; checked_at: string | null; cached: boolean; why: string | null } | null;
}

/** When mail of the account to the mailbox last arrived, bounced for its own reason, and was complained about. */
interface MailHistory {
  delivered_at: string | null;
  bounced_at: string | null;
  complained_at: string | null;
}

/** What the account has learnt from mail that it sent. */
export interface Learned {
  readonly history: MailHistory | null;
  readonly confidence: (group: VerdictGroup) => Confidence | null;
  /** Sums the outcomes of mail to all of the domain. */
  readonly domain: OutcomeSum;
}

interface Stamp {
  /** Null, the default, means nothing. */
  learned?: Learned | null | undefined;
  id: string;
  durationMs: number;
  /** The time is in milliseconds since the epoch. */
  at: number;
  withEvidence?: boolean;
  warnings?: readonly string[] | undefined;
}

/** Maps evidence and verdict to the contract's fields. Decides nothing. */
export function report(e: Evidence, verdict: Verdict, stamp: Stamp): Report {
  const learned = stamp.learned ?? null;
  const result: Report = {
    ...head(e, verdict, learned),
    checks: checks(e, learned),
    warnings: stamp.warnings ?? [],
    id: stamp.id,
    duration_ms: Math.round(stamp.durationMs),
    verified_at: toIso(stamp.at),
  };
  if (stamp.withEvidence) result.evidence = reportedEvidence(e);
  return result;
}

type ReportHead = Omit<Report, 'checks' | 'warnings' | 'id' | 'duration_ms' | 'verified_at' | 'evidence'>;

function head(e: Evidence, verdict: Verdict, learned: Learned | null): ReportHead {
  const address: Address | null = e.syntax.result === 'pass' ? e.syntax.address : null;
  const mailbox = address && mailboxAt(address, e.dns?.provider?.name ?? null);
  return {
    email: e.email,
    status: verdict.status,
    validation_type: verdict.level,
    credits_used: verdict.credits,
    is_disposable: e.disposable.result === 'fail',
    deliverability: verdict.deliverability,
    reason: verdict.reason,
    did_you_mean: e.didYouMean,
    normalized_email: address?.normalized ?? null,
    canonical_email: mailbox?.address ?? null,
    canonical_rule: mailbox?.rule ?? null,
    seen: null,
    history: learned?.history ?? null,
    confidence: learned?.confidence(verdictGroup(e, verdict)) ?? null,
    local_part: address?.localPart ?? null,
    domain: address?.domain ?? null,
    tag: address?.tag ?? null,
    is_role: e.flags?.role ?? null,
    is_free: e.flags?.free ?? null,
    is_relay: e.flags?.relay ?? null,
    relay_provider: e.relayOperator,
    ...mailboxFlags(e),
    retry_after: e.smtp?.retryAfterSeconds ?? null,
  };
}

const verdictGroup = (e: Evidence, { deliverability, reason, level }: Verdict): VerdictGroup => ({
  deliverability,
  reason,
  level,
  provider: e.dns?.provider?.name ?? null,
});

function mailboxFlags(e: Evidence): Pick<Report, 'is_catch_all' | 'is_mailbox_full' | 'is_disabled'> {
  const catchAll = e.catchAll?.result;
  const row = e.smtp === null ? null : SMTP_FINDINGS[e.smtp.finding];
  return {
    is_catch_all: catchAll === 'fail' ? true : catchAll === 'pass' ? false : null,
    is_mailbox_full: row?.full ?? null,
    is_disabled: row?.disabled ?? null,
  };
}

function checks(e: Evidence, learned: Learned | null): Checks {
  return {
    syntax:
      e.syntax.result === 'pass'
        ? { result: 'pass' }
        : { result: 'fail', error: e.syntax.error, index: e.syntax.index },
    filter: filterCheck(e.filter),
    disposable: {
      result: e.disposable.result,
      list_version: e.listVersion,
      ...(e.disposable.matched === null ? {} : { matched: e.disposable.matched }),
    },
    ...dnsChecks(e.dns),
    smtp: smtpCheck(e.smtp),
    catch_all: { ...catchAllCheck(e.catchAll), ...outcomesAt(e.catchAll, learned) },
  };
}

function filterCheck({ result, filter }: Evidence['filter']): Checks['filter'] {
  if (filter === null) return { result };
  const { id, action, ...what } = filter;
  return { result, filter_id: id, action, ...what, ...(action === 'block' ? { id } : {}) };
}

/** Where acceptance proves little, outcomes say whether mail to the domain arrives, not whether this mailbox exists. */
function outcomesAt(catchAll: CatchAllEvidence | null, learned: Learned | null): Pick<Checks['catch_all'], 'outcomes'> {
  if (catchAll?.result !== 'fail' || learned === null || learned.domain.sent === 0) return {};
  const { sent, bounced } = learned.domain;
  return { outcomes: { delivered: sent - bounced, bounced } };
}

function catchAllCheck(catchAll: CatchAllEvidence | null): Checks['catch_all'] {
  if (catchAll === null || catchAll.result === 'skipped') return { result: 'skipped' };
  const { result, checkedAt } = catchAll;
  return { result, checked_at: toIsoOrNull(checkedAt) };
}

function dnsChecks(dns: DnsEvidence | null): Pick<Checks, 'domain' | 'mx'> {
  if (dns === null) return { domain: { result: 'skipped' }, mx: { result: 'skipped' } };
  const row = DNS_FINDINGS[dns.finding];
  // A domain with MX records exists, even if the addresses of its hosts could not be looked up.
  const domain = { result: row.domain === 'unknown' && dns.records.length > 0 ? 'pass' : row.domain };
  if (row.mx === 'skipped') return { domain, mx: { result: row.mx } };
  const mx = {
    result: row.mx,
    records: dns.records.map(({ host, priority }) => ({ host, priority })),
    provider: dns.provider?.name ?? null,
    provider_kind: dns.provider?.kind ?? null,
    ...(dns.failure === null ? {} : { failure: dns.failure }),
  };
  return { domain, mx };
}

function smtpCheck(smtp: SmtpEvidence | null): Checks['smtp'] {
  if (smtp === null) return { result: 'skipped' };
  return {
    result: SMTP_FINDINGS[smtp.finding].check,
    host: smtp.host,
    stage: smtp.stage,
    code: smtp.code,
    enhanced_code: smtp.enhancedCode,
    message: smtp.message,
    tls: smtp.tls,
    rule: smtp.rule,
    egress: smtp.egress,
  };
}

const reportedEvidence = (e: Evidence): ReportedEvidence => ({
  mail_hosts: (e.dns?.hosts ?? []).map((h) => ({ host: h.host, priority: h.priority, addresses: [...h.addresses] })),
  unusable_hosts: (e.dns?.unusable ?? []).map((u) => ({ host: u.host, why: u.why })),
  smtp:
    e.smtp === null
      ? null
      : {
          host: e.smtp.host,
          address: e.smtp.address,
          tls: e.smtp.tls,
          rule: e.smtp.rule,
          egress: e.smtp.egress,
          decided_by: e.smtp.readBy,
          probability: e.smtp.probability,
          attempts: [...e.smtp.attempts],
          transcript: [...e.smtp.transcript.lines],
        },
  catch_all: reportedCatchAll(e.catchAll),
});

function reportedCatchAll(catchAll: CatchAllEvidence | null): ReportedEvidence['catch_all'] {
  if (catchAll === null || catchAll.result === 'skipped') return null;
  const { result, checked_at = null } = catchAllCheck(catchAll);
  return { result, checked_at, cached: catchAll.cached, why: catchAll.why };
}
