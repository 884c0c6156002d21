/** The doctor's dependencies and findings. */
import type { Clock } from '../../kernel/clock.ts';
import type { DoctorCheck } from '../../kernel/doctor-checks.ts';
import type { DnsAnswer, RecordType } from '../dns/message.ts';
import type { Resolver } from '../dns/resolver.ts';
import type { Greeting } from '../smtp/connectivity-probe.ts';

export type Check = DoctorCheck;

/** One line of the doctor's report. */
export interface Finding {
  readonly check: Check;
  readonly result: 'pass' | 'warn' | 'fail';
  /** A sentence. May contain untrusted text, such as a banner. */
  readonly found: string;
  /** The remedy, as a sentence; null when nothing needs fixing. */
  readonly fix: string | null;
}

/** A DNS blocklist: one row of data/dnsbl.json. Queried according to RFC 5782. */
export interface Blocklist {
  readonly name: string;
  readonly zone: string;
  readonly families: readonly (4 | 6)[];
  /** Severity of a listing. */
  readonly listed: 'fail' | 'warn';
  /** Meanings of return codes in 127.0.0.0/8. */
  readonly codes: Readonly<Record<string, string>>;
  /** Return codes that mean that the query was refused, not that the address is listed. */
  readonly refusals: Readonly<Record<string, string>>;
  readonly delist: string;
  readonly source: string;
}

export interface DoctorDeps {
  readonly clock: Clock;
  /** Milliseconds that one check may take: `CHECK_MS`. */
  readonly checkMs: number;
  /** An integer x, 0 ≤ x < n. */
  readonly random: (n: number) => number;
  readonly resolver: Pick<Resolver, 'ask' | 'alive'>;
  readonly sender: {
    /** Null if not configured. */
    readonly helo: string | null;
    /** `user@host` or `<>`; null without a HELO name. */
    readonly from: string | null;
    readonly port: number;
    readonly bind: readonly string[];
  };
  /** `probeGreeting` of smtp/connectivity-probe.ts, on the configured port and under our HELO name. */
  readonly probeGreeting: (address: string, options: { withinMs: number; bind: string | null }) => Promise<Greeting>;
  readonly mayDial: (address: string) => boolean;
  /** Whether an address can be our public address: publicly routable, ours or not. */
  readonly isPublic: (address: string) => boolean;
  /** Domains of large providers whose mail hosts are always up. */
  readonly canaryDomains: readonly string[];
  readonly blocklists: readonly Blocklist[];
  /** Version of the disposable list (its date), and why a downloaded one is not in use. */
  readonly lists: { readonly version: string; readonly problem: string | null };
  /** Opens the store and writes to it; throws with a sentence when that fails. Neither creates nor migrates it. */
  readonly store: () => Promise<StoreState | { readonly notReady: string }>;
  /** The Date and Age headers (RFC 9110 §6.6.1, RFC 9111 §5.1) of a fresh reply from the Internet, and its source. */
  readonly httpDate: () => Promise<{
    readonly from: string;
    readonly date: string | null;
    readonly age: string | null;
  }>;
}

/** Of a store that accepts writes. */
interface StoreState {
  /** A short description. */
  readonly name: string;
  /** Files with permissions for other users of the host, each with the command that fixes it. */
  readonly looseModes: readonly { readonly path: string; readonly mode: string; readonly fix: string }[];
  /** `aheadMs`: this host's clock against the store's. `stepMs`: the store's against the last time that it was used. */
  readonly clock: { readonly aheadMs: number; readonly stepMs: number };
}

/** Long enough for a resolver's full timeout (ASK_MS), short enough for interactive use. */
export const CHECK_MS = 5_000;

export const pass = (check: Check, found: string): Finding => ({ check, result: 'pass', found, fix: null });
export const warn = (check: Check, found: string, fix: string | null): Finding => ({
  check,
  result: 'warn',
  found,
  fix,
});
export const fail = (check: Check, found: string, fix: string): Finding => ({ check, result: 'fail', found, fix });

/** A DNS question under the deadline of a check. */
export type Ask = (name: string, type: RecordType) => Promise<DnsAnswer>;

/** Queries end shortly before the check does, so that it can report their failure. */
export function askOf(deps: DoctorDeps): Ask {
  const deadline = deps.clock.elapsed() + deps.checkMs * 0.94;
  return (name, type) => deps.resolver.ask(name, type, { deadline });
}

/** Neither records nor a negative answer. */
export const isFailure = (answer: DnsAnswer): boolean =>
  answer.kind !== 'records' && answer.kind !== 'nodata' && answer.kind !== 'nxdomain';
