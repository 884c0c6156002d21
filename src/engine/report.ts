import { toIso } from '../kernel/clock.ts';
import type { Level } from '../kernel/plans.ts';
import type { Address, SyntaxErrorCode } from './address/parse.ts';
import type { DnsEvidence, Evidence, MxRecord, Result, SmtpEvidence, TranscriptLine } from './evidence.ts';
import type { Deliverability, Reason, Status, Verdict } from './judge.ts';

/** The result of one verification: the JSON object of `POST /v1/verify`, fields in this order. */
export interface Report {
  /** Exactly as sent. */
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
  local_part: string | null;
  domain: string | null;
  tag: string | null;
  /** Of these flags, null means not determined. */
  is_role: boolean | null;
  is_free: boolean | null;
  is_relay: boolean | null;
  is_catch_all: boolean | null;
  is_mailbox_full: boolean | null;
  is_disabled: boolean | null;
  /** Seconds after which asking again makes sense (greylisting, temporary failures), when the server told. */
  retry_after: number | null;
  checks: Checks;
  id: string;
  duration_ms: number;
  verified_at: string;
  /** Only when asked for. */
  evidence?: ReportedEvidence;
}

export interface Checks {
  syntax: { result: Result; error?: SyntaxErrorCode; index?: number };
  filter: { result: Result; id?: number; filter_type?: 'email' | 'domain' | 'ip_address'; value?: string };
  disposable: { result: Result; list_version: string; matched?: string };
  domain: { result: Result };
  mx: { result: Result; records?: MxRecord[]; provider?: string | null; failure?: string };
  smtp: {
    result: Result;
    host?: string | null;
    stage?: string | null;
    code?: number | null;
    enhanced_code?: string | null;
    tls?: boolean;
    rule?: string | null;
  };
  catch_all: { result: Result };
}

export interface ReportedEvidence {
  mail_hosts: { host: string; priority: number; addresses: string[] }[];
  unusable_hosts: { host: string; why: string }[];
  smtp: {
    host: string | null;
    address: string | null;
    tls: boolean;
    rule: string | null;
    transcript: TranscriptLine[];
  } | null;
}

export interface Stamp {
  id: string;
  durationMs: number;
  /** Milliseconds since the epoch. */
  at: number;
  withEvidence?: boolean;
}

/** Puts evidence and verdict into the words of the contract. Never decides anything. */
export function report(e: Evidence, verdict: Verdict, stamp: Stamp): Report {
  const address: Address | null = e.syntax.result === 'pass' ? e.syntax.address : null;
  const result: Report = {
    email: e.email,
    status: verdict.status,
    validation_type: verdict.level,
    credits_used: verdict.credits,
    is_disposable: e.disposable.result === 'fail',
    deliverability: verdict.deliverability,
    reason: verdict.reason,
    did_you_mean: e.didYouMean,
    normalized_email: address?.normalized ?? null,
    local_part: address?.localPart ?? null,
    domain: address?.domain ?? null,
    tag: address?.tag ?? null,
    is_role: e.flags?.role ?? null,
    is_free: e.flags?.free ?? null,
    is_relay: e.flags?.relay ?? null,
    ...mailboxFlags(e),
    retry_after: e.smtp?.retryAfter ?? null,
    checks: checks(e),
    id: stamp.id,
    duration_ms: Math.round(stamp.durationMs),
    verified_at: toIso(stamp.at),
  };
  if (stamp.withEvidence) result.evidence = reportedEvidence(e);
  return result;
}

function mailboxFlags(e: Evidence): Pick<Report, 'is_catch_all' | 'is_mailbox_full' | 'is_disabled'> {
  const catchAll = e.catchAll?.result;
  const is_catch_all = catchAll === 'fail' ? true : catchAll === 'pass' ? false : null;
  switch (e.smtp?.finding) {
    case 'accepted':
    case 'mailbox_not_found':
      return { is_catch_all, is_mailbox_full: false, is_disabled: false };
    case 'mailbox_full':
    case 'mailbox_full_temporarily':
      return { is_catch_all, is_mailbox_full: true, is_disabled: false };
    case 'mailbox_disabled':
      return { is_catch_all, is_mailbox_full: null, is_disabled: true };
    default:
      return { is_catch_all, is_mailbox_full: null, is_disabled: null };
  }
}

function checks(e: Evidence): Checks {
  return {
    syntax:
      e.syntax.result === 'pass'
        ? { result: 'pass' }
        : { result: 'fail', error: e.syntax.error, index: e.syntax.index },
    filter: e.filter.result === 'fail' ? { result: 'fail', ...e.filter.filter } : { result: e.filter.result },
    disposable: {
      result: e.disposable.result,
      list_version: e.listVersion,
      ...(e.disposable.matched === null ? {} : { matched: e.disposable.matched }),
    },
    ...dnsChecks(e.dns),
    smtp: smtpCheck(e.smtp),
    catch_all: { result: e.catchAll?.result ?? 'skipped' },
  };
}

function dnsChecks(dns: DnsEvidence | null): Pick<Checks, 'domain' | 'mx'> {
  const mx = (result: Result): Checks['mx'] => ({
    result,
    records: dns!.records.map(({ host, priority }) => ({ host, priority })),
    provider: dns!.provider?.name ?? null,
    ...(dns!.failure === null ? {} : { failure: dns!.failure }),
  });
  switch (dns?.finding) {
    case undefined:
      return { domain: { result: 'skipped' }, mx: { result: 'skipped' } };
    case 'domain_not_found':
      return { domain: { result: 'fail' }, mx: { result: 'skipped' } };
    case 'mx':
    case 'implicit_mx':
      return { domain: { result: 'pass' }, mx: mx('pass') };
    case 'dns_failure':
    case 'resolver_unavailable':
      // With records in hand the domain is there; only its hosts' addresses stayed unknown.
      return { domain: { result: dns!.records.length > 0 ? 'pass' : 'unknown' }, mx: mx('unknown') };
    default:
      return { domain: { result: 'pass' }, mx: mx('fail') };
  }
}

const REFUSED: ReadonlySet<string> = new Set(['mailbox_not_found', 'mailbox_full', 'mailbox_disabled', 'relay_denied']);
const EXISTS: ReadonlySet<string> = new Set(['accepted', 'mailbox_full_temporarily']);

function smtpCheck(smtp: SmtpEvidence | null): Checks['smtp'] {
  if (smtp === null) return { result: 'skipped' };
  return {
    result: EXISTS.has(smtp.finding) ? 'pass' : REFUSED.has(smtp.finding) ? 'fail' : 'unknown',
    host: smtp.host,
    stage: smtp.stage,
    code: smtp.code,
    enhanced_code: smtp.enhancedCode,
    tls: smtp.tls,
    rule: smtp.rule,
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
          transcript: [...e.smtp.transcript],
        },
});
