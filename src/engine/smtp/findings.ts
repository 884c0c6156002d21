import { isIP } from 'node:net';
import type { CatchAllEvidence, DnsEvidence, SmtpEvidence, SmtpFinding } from '../evidence.ts';
import type { SmtpLimits } from './limits.ts';
import type { Outcome } from './outcome.ts';

/** One address of one mail host, to be dialled. */
export interface Candidate {
  readonly host: string;
  readonly address: string;
  readonly family: 4 | 6;
}

/**
 * Whom to dial, in order: hosts by preference, of each one IPv4 and one IPv6 address where it has both. IPv4 first:
 * reverse DNS and reputation of a sending host are more often in order there. `reachable(family)`: whether there is an
 * egress address for it.
 */
export function candidates(
  dns: DnsEvidence,
  limits: SmtpLimits,
  reachable: (family: 4 | 6) => boolean,
): readonly Candidate[] {
  const list: Candidate[] = [];
  for (const { host, addresses } of dns.hosts.slice(0, limits.hosts)) {
    const of = (family: 4 | 6) => addresses.filter((a) => isIP(a) === family && reachable(family));
    const [v4, v6] = [of(4), of(6)];
    const mixed = [...v4.slice(0, 1), ...v6.slice(0, 1), ...v4.slice(1), ...v6.slice(1)];
    for (const address of mixed.slice(0, limits.addressesPerHost)) {
      list.push({ host, address, family: isIP(address) === 6 ? 6 : 4 });
    }
  }
  return list;
}

/** When no host answered: the finding that tells most. */
const TELLING: readonly SmtpFinding[] = [
  'smtp_blocked',
  'greylisted',
  'smtp_temporary_failure',
  'smtp_unverifiable',
  'smtp_timeout',
  'smtp_unreachable',
];
export const tellsMore = (a: SmtpFinding, b: SmtpFinding): boolean => TELLING.indexOf(a) < TELLING.indexOf(b);

export type Found = Omit<SmtpEvidence, 'transcript'>;

/** The evidence of one outcome; `host` and `address` null when nobody was dialled. */
export function foundBy(outcome: Outcome, where: { host: string; address: string; secure: boolean }): Found {
  const heard = outcome.kind === 'answered' ? outcome.rcpt : outcome.heard;
  return {
    finding: outcome.finding,
    host: where.host,
    address: where.address,
    stage: outcome.kind === 'answered' ? outcome.rcpt.stage : outcome.stage,
    code: heard?.reply.code ?? null,
    enhancedCode: heard?.reply.enhanced ?? null,
    tls: where.secure,
    rule: outcome.kind === 'answered' ? outcome.rcpt.reading.rule : outcome.rule,
    retryAfter: heard?.reading.retryAfter ?? null,
  };
}

/** A finding without a dialogue. */
export const notAsked = (finding: SmtpFinding, rule: string, retryAfter: number | null = null): Found => ({
  finding,
  host: null,
  address: null,
  stage: null,
  code: null,
  enhancedCode: null,
  tls: false,
  rule,
  retryAfter,
});

export const CATCH_ALL_SKIPPED: CatchAllEvidence = { result: 'skipped', why: null, cached: false };

/**
 * What the answer to the random recipient says of the domain, given that the real one was accepted. Any refusal that is
 * about the recipient tells the two apart, in whatever words; one about us, or for now, tells nothing.
 */
export function catchAllOf(finding: SmtpFinding | 'reconnect'): CatchAllEvidence {
  switch (finding) {
    case 'accepted':
      return { result: 'fail', why: null, cached: false };
    case 'mailbox_not_found':
    case 'mailbox_disabled':
    case 'relay_denied':
      return { result: 'pass', why: null, cached: false };
    case 'reconnect':
      return { result: 'unknown', why: 'smtp_temporary_failure', cached: false };
    default:
      return { result: 'unknown', why: finding, cached: false };
  }
}
