/** Why the resolver is of no use, as sentences for `/readyz`, error replies, the command line and the doctor. */
import type { DnsFailure, Untrusted } from './records.ts';
import { isUntrusted } from './records.ts';

/** `silent`: no server answers, or only with failures. */
export type ResolverProblem = 'silent' | Untrusted;

interface Row {
  /** Completes a sentence; lower case, without a period. */
  readonly found: string;
  readonly fix: string;
}

export const RESOLVER_PROBLEMS: Readonly<Record<ResolverProblem, Row>> = {
  silent: {
    found: 'no DNS resolver answers',
    fix: 'Run a resolver on this host (such as unbound), or set MAILVET_DNS_SERVERS to one that answers.',
  },
  denies_every_name: {
    found: 'the DNS resolver denies names that exist',
    fix:
      'It has no way out to the Internet: give this host or container access to one that does, by MAILVET_DNS_SERVERS. If ' +
      'it should know only internal names, set MAILVET_DNS_CONTROL_NAMES.',
  },
  answers_every_name: {
    found: 'the DNS resolver invents an address for every name',
    fix: 'Leave the captive portal, or set MAILVET_DNS_SERVERS to a resolver that returns NXDOMAIN for names that do not exist.',
  },
  unconfirmed: {
    found: 'the DNS resolver denies names, but does not answer control queries',
    fix: 'Set MAILVET_DNS_SERVERS to a resolver that resolves com and gmail.com, or set MAILVET_DNS_CONTROL_NAMES.',
  },
};

export const problemOf = (failure: DnsFailure | null): ResolverProblem =>
  failure !== null && isUntrusted(failure) ? failure : 'silent';
