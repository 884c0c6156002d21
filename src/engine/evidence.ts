/**
 * Evidence from the stages. Every stage returns one of these values, never a verdict, and never an error for "could not
 * determine". Only `decideVerdict` turns them into a verdict. A new `DnsFinding` or `SmtpFinding` needs a row
 * in findings.ts.
 */
import type { CheckResult, ReadBy, TranscriptWriter } from '../kernel/facts/checks.ts';
import type { FilterAction, FilterType } from '../kernel/facts/filter-types.ts';
import type { Level } from '../kernel/facts/plans.ts';
import type { AttemptNext, ProviderKind } from '../kernel/facts/reasons.ts';
import type { Address, SyntaxFault } from './address/parse.ts';

export type { CheckResult as Result, Level, ReadBy };

type SyntaxEvidence = { result: 'pass'; address: Address } | ({ result: 'fail' } & SyntaxFault);

/** If several filters match, this is the most specific one. */
export interface MatchedFilter {
  readonly id: number;
  readonly action: FilterAction;
  readonly filter_type: FilterType;
  readonly value: string;
}
/** `pass` with a filter: it allows, so that the lists do not count. */
type FilterEvidence = { result: 'pass' | 'skipped'; filter: null } | { result: 'pass' | 'fail'; filter: MatchedFilter };

export interface DisposableEvidence {
  /** `unknown`: only the suspicion tier of the lists names it. `skipped`: nothing to look up. */
  readonly result: CheckResult;
  /** The list entry or mail host that decided. */
  readonly matched: string | null;
  readonly by: 'list' | 'mail_host' | null;
}

export interface MxRecord {
  readonly host: string;
  readonly priority: number;
}

/** A mail host with the addresses that may be dialled: only publicly routable ones, unless private ones are allowed. */
export interface MailHost extends MxRecord {
  readonly addresses: readonly string[];
}

export type DnsFinding =
  | 'mx'
  | 'implicit_mx'
  /** NXDOMAIN for the top-level domain, which no list has either: the address is malformed. */
  | 'tld_not_found'
  | 'domain_not_found'
  | 'no_mx_records'
  | 'null_mx'
  | 'mx_unusable'
  /** This domain's name servers fail while the resolver answers for other domains. */
  | 'dns_failure'
  /** The resolver answers for no domain, or only falsely: there is no verdict at all. */
  | 'resolver_unavailable';

export interface DnsEvidence {
  readonly finding: DnsFinding;
  /** For `dns_failure` and `resolver_unavailable`, it says how the last query failed. */
  readonly failure: DnsFailure | null;
  /**
   * They are as published, sorted by preference; for an implicit MX (RFC 5321 §5.1), it is the domain itself at
   * priority 0.
   */
  readonly records: readonly MxRecord[];
  /** Hosts to dial, by preference, equal ones shuffled. Empty unless the finding is `mx` or `implicit_mx`. */
  readonly hosts: readonly MailHost[];
  /** Why MX records are unusable. */
  readonly unusable: readonly { host: string; why: UnusableMx }[];
  readonly provider: { name: string; kind: ProviderKind } | null;
}
/** How answers are false: see dns/trust.ts. */
export type Distrust = 'denies_every_name' | 'answers_every_name';
/** Why a reply is not used. `unconfirmed`: a denial, while the control queries fail. */
export type Untrusted = Distrust | 'unconfirmed';
export type DnsFailure = 'servfail' | 'refused' | 'timeout' | 'malformed' | 'network' | Untrusted;
export type UnusableMx = 'ip_literal' | 'localhost' | 'invalid_name' | 'no_address' | 'not_routable' | 'dns_failure';

/** Where in the dialogue an answer was given (RFC 5321 §4.1.1). `probe` is the RCPT of a random local part. */
export type SmtpStage = 'connect' | 'banner' | 'ehlo' | 'starttls' | 'mail' | 'rset' | 'rcpt' | 'probe';

export type SmtpFinding =
  | 'accepted'
  | 'mailbox_not_found'
  /** A 5xx says that it is permanently full. */
  | 'mailbox_full'
  /** 4xx: full for now, so the mailbox exists. */
  | 'mailbox_full_temporarily'
  | 'mailbox_disabled'
  | 'relay_denied'
  | 'greylisted'
  | 'smtp_temporary_failure'
  | 'smtp_timeout'
  | 'smtp_unreachable'
  | 'smtp_blocked'
  | 'smtp_unverifiable';

export interface TranscriptLine {
  /** Milliseconds since the dialogue began. */
  readonly at: number;
  readonly from: TranscriptWriter;
  readonly text: string;
}

/**
 * Where an SMTP finding comes from. `server`: a reply. `dialogue`: how the connection ended. `operator`: what is known
 * of the operator. `throttle`: our own rate limit or circuit breaker. `host`: this host cannot connect to mail servers.
 * `cancelled`: the caller disconnected.
 */
export type SmtpSource = 'server' | 'dialogue' | 'operator' | 'throttle' | 'host' | 'cancelled';

/** One mail host that was asked, or was to be. */
export interface HostAttempt {
  readonly host: string;
  readonly address: string;
  readonly stage: SmtpStage | null;
  readonly code: number | null;
  readonly rule: string | null;
  readonly next: AttemptNext | null;
}

export interface SmtpEvidence {
  readonly finding: SmtpFinding;
  readonly host: string | null;
  readonly address: string | null;
  /** Name of the egress from which it was asked, or was to be; null: none was chosen. */
  readonly egress: string | null;
  readonly stage: SmtpStage | null;
  readonly code: number | null;
  /** RFC 3463. */
  readonly enhancedCode: string | null;
  /** What the server said with that code, as `blankedText` returns it; null if no reply decided. */
  readonly message: string | null;
  readonly tls: boolean;
  /** What decided: a classification rule, or what happened instead of a reply. */
  readonly rule: string | null;
  readonly decidedBy: SmtpSource;
  /** Null if no reply decided. */
  readonly readBy: ReadBy | null;
  /** That the mailbox cannot be reached, as the model saw that reply, from 0 to 1; null if it was not asked. */
  readonly probability: number | null;
  /** Seconds until a retry makes sense; null when the server announced nothing. */
  readonly retryAfterSeconds: number | null;
  /** Attempts are in order of time; the last one need not be the one that decided. */
  readonly attempts: readonly HostAttempt[];
  /** The lines are made when they are read. */
  readonly transcript: { readonly lines: readonly TranscriptLine[] };
}

export interface CatchAllEvidence {
  /** `fail`: the host accepts any mailbox. `pass`: it refused a random one. */
  readonly result: CheckResult;
  /** For `unknown`, it is the outcome of the probe. */
  readonly why: SmtpFinding | null;
  /** Seconds until the probe makes sense again; null when the server announced nothing. */
  readonly retryAfterSeconds: number | null;
  readonly cached: boolean;
  /** When the host answered about a random mailbox, perhaps to an earlier check: `Clock.now()` ms; null: never. */
  readonly checkedAt: number | null;
}

export interface Evidence {
  readonly requested: Level;
  readonly email: string;
  readonly syntax: SyntaxEvidence;
  readonly filter: FilterEvidence;
  /** Mail of the account to it bounced, which is all that it needs to know. */
  readonly bounced?: true;
  readonly disposable: DisposableEvidence;
  readonly dns: DnsEvidence | null;
  readonly smtp: SmtpEvidence | null;
  readonly catchAll: CatchAllEvidence | null;
  /** The version is the date of the disposable list. */
  readonly listVersion: string;
  /** The flags come from the lists; null if the syntax left nothing to look up. */
  readonly flags: { role: boolean; free: boolean; relay: boolean } | null;
  /** Who runs the relay, of an address at one. */
  readonly relayOperator: string | null;
  readonly didYouMean: string | null;
}
