/**
 * Mailvet as a library: the engine without a server, a store or a charge.
 *
 *     import { createVerifier } from 'mailvet';
 *     const verifier = createVerifier();
 *     const { status, reason } = await verifier.verify('jane@example.com');
 *     verifier.close();
 */
import { createEngine } from './engine/create.ts';
import { parseServers } from './engine/dns/servers.ts';
import { judge } from './engine/judge.ts';
import { watchLists } from './engine/lists/watch.ts';
import { type Report, report } from './engine/report.ts';
import { begin, finish } from './engine/verify.ts';
import { systemClock } from './kernel/clock.ts';
import { newId } from './kernel/ids.ts';
import type { Level } from './kernel/plans.ts';

export type { Deliverability, Reason, Status } from './engine/judge.ts';
export type { Checks, Report, ReportedEvidence } from './engine/report.ts';
export type { Level };

export interface VerifierOptions {
  /** Resolvers as `ip` or `ip:port`; left out, the system's. */
  dnsServers?: readonly string[];
  /** Milliseconds for one try, two tries a server; 2,000 when left out. */
  dnsTimeoutMs?: number;
  /** Lets mail hosts be loopback, private or otherwise special addresses. For laboratories only. */
  allowPrivateNetworks?: boolean;
  /** How to ask mail servers; without it the level `smtp` answers `smtp_unverifiable`. */
  smtp?: SmtpOptions;
  /** A folder that `mailvet lists update` keeps current; left out, the lists of this package. */
  listsDir?: string;
}

export interface SmtpOptions {
  /** Qualified name for EHLO; it should resolve to the address that mail servers see. */
  helo: string;
  /** Sender of the question, or `<>`; `verify@` the HELO name when left out. */
  from?: string;
  /** Port of the mail servers; 25 when left out. */
  port?: number;
  /** Local addresses to ask from, in turn. */
  bind?: readonly string[];
  /** Dialogues open at once to one mail host; 5 when left out. */
  connectionsPerHost?: number;
  /** Dialogues begun per second with one operator's hosts; 2 when left out, 0 = no bound. */
  ratePerOperator?: number;
  /** Seconds for which an operator that refused our IP is not dialled again; 3,600 when left out, 0 = never. */
  breakerSeconds?: number;
}

export interface VerifyOptions {
  /** `mx` when left out. */
  level?: Level;
  /** The whole budget in milliseconds, 1,000 to 30,000; 10,000 when left out. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Adds `evidence` to the result: the mail hosts and, for `smtp`, the transcript. */
  evidence?: boolean;
  /**
   * Milliseconds for which it may wait and ask again, beyond `timeoutMs`, where the server asked for patience
   * (greylisting, a temporary failure with an announced delay). 0 when left out: the first answer is the result.
   */
  wait?: number;
}

export interface Verifier {
  /**
   * One verdict. A malformed or dead address is a result, not an error; `credits_used` is 0, since nobody is charged.
   * Throws VerificationUnavailableError when no resolver answers anybody, TypeError for arguments of a wrong type.
   */
  verify(email: string, options?: VerifyOptions): Promise<Report>;
  /** Ends sockets and caches. */
  close(): void;
}

/** No DNS resolver answers: there is no verdict, and none was guessed. */
export class VerificationUnavailableError extends Error {
  override readonly name = 'VerificationUnavailableError';
}

export function createVerifier(options: VerifierOptions = {}): Verifier {
  const tools = createEngine({
    dnsServers: readServers(options.dnsServers),
    ...(options.dnsTimeoutMs === undefined ? {} : { dnsTimeoutMs: options.dnsTimeoutMs }),
    allowPrivateNetworks: options.allowPrivateNetworks ?? false,
    lists: listsOf(options.listsDir),
    asker: askerOf(options.smtp),
  });
  async function once(
    email: string,
    ask: Required<Omit<VerifyOptions, 'signal' | 'wait'>> & { signal: AbortSignal | null },
  ) {
    const { level, timeoutMs, signal, evidence: withEvidence } = ask;
    const started = systemClock.elapsed();
    const found = await finish(begin(email, level, tools), signal ? { timeoutMs, signal } : { timeoutMs }, tools);
    const verdict = judge(found);
    if (verdict === null && signal?.aborted) throw signal.reason;
    if (verdict === null) throw new VerificationUnavailableError('No DNS resolver answers; there is no verdict.');
    const at = systemClock.now();
    const stamp = { id: newId('ver', at), durationMs: systemClock.elapsed() - started, at, withEvidence };
    return report(found, { ...verdict, credits: 0 }, stamp);
  }
  return {
    async verify(email, { level = 'mx', timeoutMs = 10_000, signal, evidence = false, wait = 0 } = {}) {
      if (typeof email !== 'string') throw new TypeError('email must be a string');
      if (level !== 'mx' && level !== 'smtp') throw new TypeError('level must be "mx" or "smtp"');
      if (!(timeoutMs >= 1000 && timeoutMs <= 30_000)) throw new TypeError('timeoutMs must be from 1,000 to 30,000');
      if (!(wait >= 0 && wait <= MAX_WAIT_MS)) throw new TypeError(`wait must be from 0 to ${MAX_WAIT_MS}`);
      const until = systemClock.elapsed() + wait;
      for (;;) {
        const result = await once(email, { level, timeoutMs, signal: signal ?? null, evidence });
        const pause = patience(result);
        if (pause === null || systemClock.elapsed() + pause > until || signal?.aborted) return result;
        await sleep(pause, signal);
      }
    },
    close: () => tools.close(),
  };
}

/** What a server that greylists lets pass most often, where it announces nothing. */
const USUAL_GREYLISTING_MS = 300_000;
const MAX_WAIT_MS = 86_400_000;

/** Milliseconds after which asking again makes sense, or null where the answer will not change by waiting. */
function patience(result: Report): number | null {
  // Our own breaker and pace are no request of the server's.
  if (result.checks.smtp.rule?.startsWith('pace.')) return null;
  if (result.retry_after !== null) return result.retry_after * 1000 + 500;
  return result.reason === 'greylisted' ? USUAL_GREYLISTING_MS : null;
}

/** Returns early when the caller no longer wants to wait. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}

function askerOf(smtp: SmtpOptions | undefined) {
  if (smtp === undefined) return null;
  const { helo, from = `verify@${helo}`, port = 25, bind = [] } = smtp;
  const { connectionsPerHost = 5, ratePerOperator = 2, breakerSeconds = 3600 } = smtp;
  return { helo, from, port, bind, connectionsPerHost, ratePerOperator, breakerSeconds };
}

function readServers(texts: readonly string[] | undefined) {
  if (texts === undefined) return null;
  const parsed = parseServers(texts.join(','));
  if (!parsed.ok)
    throw new TypeError(`dnsServers: ${JSON.stringify(parsed.entry)} is not an IP address with an optional port`);
  return parsed.servers;
}

function listsOf(dir: string | undefined) {
  const holder = watchLists(dir ?? null, systemClock);
  return () => holder.current;
}
