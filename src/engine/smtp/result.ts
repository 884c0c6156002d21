import { isIPv6 } from 'node:net';
import type { CatchAllEvidence, DnsEvidence, SmtpEvidence, SmtpFinding, SmtpSource } from '../evidence.ts';
import { SMTP_FINDINGS } from '../findings.ts';
import type { SmtpLimits } from './limits.ts';
import type { Heard, Outcome } from './outcome.ts';
import type { Served, Service } from './waiting-lines.ts';

/** One address of one mail host, to be dialled. */
export interface Candidate {
  readonly host: string;
  readonly address: string;
}

/**
 * Addresses to dial, in order: hosts by preference, with one IPv4 and one IPv6 address each if available. IPv4 first:
 * reverse DNS and reputation of a sending host are more often set up correctly there. `reachable(family)`: whether
 * there is an egress address for it.
 */
export function candidates(
  dns: DnsEvidence,
  limits: SmtpLimits,
  reachable: (family: 4 | 6) => boolean,
): readonly Candidate[] {
  const list: Candidate[] = [];
  for (const { host, addresses } of dns.hosts.slice(0, limits.hosts)) {
    const usable = addresses.filter((address) => reachable(isIPv6(address) ? 6 : 4));
    for (const address of mixed(usable).slice(0, limits.addressesPerHost)) list.push({ host, address });
  }
  return list;
}

function mixed(addresses: readonly string[]): readonly string[] {
  if (addresses.length < 2) return addresses;
  const [v4, v6] = [addresses.filter((address) => !isIPv6(address)), addresses.filter(isIPv6)];
  return [...v4.slice(0, 1), ...v6.slice(0, 1), ...v4.slice(1), ...v6.slice(1)];
}

/** Whether `a` is the finding to report when one host ended in `a` and another in `b`. */
export const outranks = (a: SmtpFinding, b: SmtpFinding): boolean => SMTP_FINDINGS[a].rank < SMTP_FINDINGS[b].rank;

export type SmtpResult = Omit<SmtpEvidence, 'transcript'>;

/** The reply that decided it; null if none did. */
export const heardIn = (outcome: Outcome): Heard | null => (outcome.kind === 'answered' ? outcome.rcpt : outcome.heard);

/** The evidence of one outcome; `host` and `address` null if no host was dialled. */
export function resultOf(outcome: Outcome, where: Omit<Served, 'outcome'>): SmtpResult {
  const heard = heardIn(outcome);
  return {
    finding: outcome.finding,
    host: where.host,
    address: where.address,
    egress: where.egress,
    stage: outcome.kind === 'answered' ? outcome.rcpt.stage : outcome.stage,
    code: heard?.reply.code ?? null,
    enhancedCode: heard?.reply.enhanced ?? null,
    tls: where.secure,
    rule: outcome.kind === 'answered' ? outcome.rcpt.reading.rule : outcome.rule,
    decidedBy: heard !== null ? 'server' : outcome.kind === 'failed' && outcome.cancelled ? 'cancelled' : 'dialogue',
    readBy: heard?.reading.readBy ?? null,
    probability: heard?.reading.probability ?? null,
    retryAfter: heard?.reading.retryAfter ?? null,
  };
}

/** A finding without a dialogue. */
export const resultWithoutDialogue = (
  decidedBy: SmtpSource,
  finding: SmtpFinding,
  rule: string,
  retryAfter: number | null = null,
): SmtpResult => ({
  finding,
  host: null,
  address: null,
  egress: null,
  stage: null,
  code: null,
  enhancedCode: null,
  tls: false,
  rule,
  decidedBy,
  readBy: null,
  probability: null,
  retryAfter,
});

export type Refused = Extract<Service, { refused: string }>['refused'];

export const NOT_DIALLED: Readonly<Record<Refused, (retryAfter: number | null) => SmtpResult>> = {
  blocked: (retryAfter) => resultWithoutDialogue('throttle', 'smtp_blocked', 'pace.breaker', retryAfter),
  address_blocked: (retryAfter) => resultWithoutDialogue('throttle', 'smtp_blocked', 'pace.breaker', retryAfter),
  late: (retryAfter) => resultWithoutDialogue('throttle', 'smtp_timeout', 'pace.deadline', retryAfter),
  cancelled: (retryAfter) => resultWithoutDialogue('cancelled', 'smtp_timeout', 'dialogue.cancelled', retryAfter),
};

export const CATCH_ALL_SKIPPED: CatchAllEvidence = { result: 'skipped', why: null, retryAfter: null, cached: false };

export const catchAllFromCache = (result: 'pass' | 'fail'): CatchAllEvidence => ({
  ...{ result, why: null, retryAfter: null },
  cached: true,
});

/**
 * The catch-all result from the reply to the random recipient, after the real one was accepted. `reconnect`: even a
 * session of its own gave no answer.
 */
export function catchAllOf(finding: SmtpFinding | 'reconnect', heard: Heard | null): CatchAllEvidence {
  const why = finding === 'reconnect' ? 'smtp_temporary_failure' : finding;
  const { asProbe } = SMTP_FINDINGS[why];
  return typeof asProbe === 'string'
    ? { result: asProbe, why: null, retryAfter: null, cached: false }
    : { result: 'unknown', why, retryAfter: heard?.reading.retryAfter ?? null, cached: false };
}
