/** What the doctor needs of the world, and what it says. Nothing here opens a socket, a file or a store by itself. */
import type { Clock } from '../../kernel/clock.ts';
import type { DnsAnswer, RecordType, Resolver } from '../dns/resolver.ts';
import type { Greeting } from '../smtp/control.ts';

export type Check =
  | 'resolver'
  | 'port'
  | 'helo'
  | 'egress'
  | 'ptr'
  | 'spf'
  | 'blocklists'
  | 'lists'
  | 'store'
  | 'clock';

/** One line of the doctor's report. */
export interface Finding {
  readonly check: Check;
  readonly result: 'pass' | 'warn' | 'fail';
  /** A sentence. May hold what strangers wrote, such as a banner. */
  readonly found: string;
  /** What to do, as a sentence; null when there is nothing to do. */
  readonly fix: string | null;
}

/** A DNS blocklist: one row of data/dnsbl.json. Looked up as RFC 5782 has it. */
export interface Blocklist {
  readonly name: string;
  readonly zone: string;
  readonly families: readonly (4 | 6)[];
  /** How bad it is to be on it. */
  readonly listed: 'fail' | 'warn';
  /** What an address in 127.0.0.0/8 means. */
  readonly codes: Readonly<Record<string, string>>;
  /** Answers that say nothing of the address looked up, but that the question is not answered. */
  readonly refusals: Readonly<Record<string, string>>;
  readonly delist: string;
  readonly source: string;
}

export interface World {
  readonly clock: Clock;
  /** Milliseconds that one check may take: `CHECK_MS`. */
  readonly checkMs: number;
  /** A whole number below n. */
  readonly random: (n: number) => number;
  readonly resolver: Pick<Resolver, 'ask' | 'alive'>;
  readonly asker: {
    /** Null: there is none. */
    readonly helo: string | null;
    /** `user@host` or `<>`; null without a HELO name. */
    readonly from: string | null;
    readonly port: number;
    readonly bind: readonly string[];
  };
  /** control.ts `greet` on the configured port, under our HELO name. */
  readonly greet: (address: string, options: { withinMs: number; bind: string | null }) => Promise<Greeting>;
  readonly mayDial: (address: string) => boolean;
  /** Whether an address can be that by which strangers see us: publicly routable, ours or not. */
  readonly isPublic: (address: string) => boolean;
  /** Domains of which somebody's mail hosts are always up. */
  readonly controls: readonly string[];
  readonly blocklists: readonly Blocklist[];
  /** Version of the disposable list (its date), and why a downloaded one is not in use. */
  readonly lists: { readonly version: string; readonly problem: string | null };
  /** Opens the store, writes to it, and says in a few words which it is; throws with a sentence when that fails. */
  readonly store: () => Promise<string>;
  /** The Date and Age headers (RFC 9110 §6.6.1, RFC 9111 §5.1) of a fresh reply from the Internet, and who gave it. */
  readonly httpDate: () => Promise<{
    readonly from: string;
    readonly date: string | null;
    readonly age: string | null;
  }>;
}

/** What people wait for without wondering; a resolver's whole patience (ASK_MS) fits in. */
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

/** Questions that leave a little of the check's time for the sentence about them. */
export function askOf(world: World): Ask {
  const deadline = world.clock.elapsed() + world.checkMs * 0.94;
  return (name, type) => world.resolver.ask(name, type, { deadline });
}

/** The answer is none: neither records nor "there are none". */
export const isFailure = (answer: DnsAnswer): boolean =>
  answer.kind !== 'records' && answer.kind !== 'nodata' && answer.kind !== 'nxdomain';
