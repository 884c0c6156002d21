/**
 * Mailvet as a library, @mailvet/engine: the engine without a server, a store or a charge.
 *
 *     import { createVerifier } from '@mailvet/engine';
 *     const verifier = createVerifier();
 *     const { status, reason } = await verifier.verify('jane@example.com');
 *     verifier.close();
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createEngine } from './engine/create.ts';
import { watchDomainData } from './engine/data/domain-data.ts';
import { RESOLVER_PROBLEMS, resolverProblem } from './engine/dns/resolver.ts';
import { parseServers } from './engine/dns/servers.ts';
import type { SmtpEvidence } from './engine/evidence.ts';
import { decideVerdict } from './engine/findings.ts';
import { type Report, report } from './engine/report.ts';
import { runOffline, runOnline } from './engine/verify.ts';
import { DAY_MS, systemClock } from './kernel/clock.ts';
import { warnOfFault } from './kernel/contain.ts';
import { type Egress, egressesOf } from './kernel/egress.ts';
import {
  DNS_TIMEOUT_MS,
  type Range,
  SMTP_BREAKER_SECONDS,
  SMTP_CONNECTIONS_PER_HOST,
  SMTP_PORT,
  SMTP_RATE_PER_OPERATOR,
  TIMEOUT_MS,
} from './kernel/facts/limits.ts';
import { DEFAULT_LEVEL, LEVELS, type Level } from './kernel/facts/plans.ts';
import { REASONS } from './kernel/facts/reasons.ts';
import { choice, span } from './kernel/format.ts';
import { newId } from './kernel/ids.ts';
import { canonicalIp } from './kernel/ip.ts';

export type { Checks, Report, ReportedEvidence } from './engine/report.ts';
export type { Egress, SocksServer } from './kernel/egress.ts';
export type { Deliverability, Reason, Status } from './kernel/facts/reasons.ts';
export type { Level };

export interface VerifierOptions {
  /** Resolvers as `ip` or `ip:port`; the system's by default. */
  dnsServers?: readonly string[];
  /** Milliseconds for one try, two tries a server; 2,000 by default. */
  dnsTimeoutMs?: number;
  /**
   * Names that cannot be missing, queried to recognize a resolver that denies or invents every name: top-level domains
   * and mail domains; seven well-known ones by default. Empty: the resolver is always believed.
   */
  dnsControlNames?: readonly string[];
  /** Lets mail hosts be loopback, private or otherwise special addresses. For laboratories only. */
  allowPrivateNetworks?: boolean;
  /** How to ask mail servers; without it the level `smtp` answers `smtp_unverifiable`. */
  smtp?: SmtpOptions;
  /** A folder that `mailvet disposable update` keeps current; the lists of this package by default. */
  listsDir?: string;
}

export interface SmtpOptions {
  /** Qualified name for EHLO; it should resolve to the address that mail servers see. */
  helo: string;
  /** The envelope sender may be `<>`; by default, it is `verify@` the HELO name. */
  from?: string;
  /** Mail servers are dialled on this port; 25 by default. */
  port?: number;
  /** Local addresses to ask from; each domain always from the same one. */
  bind?: readonly string[];
  /**
   * Where to ask from instead: several addresses and SOCKS servers, each with its own `helo` and `from`; `helo`, `from`
   * and `bind` are then not used.
   */
  egresses?: readonly Egress[];
  /** One mail host, by name and by address, gets at most this many open dialogues; 5 by default. */
  connectionsPerHost?: number;
  /**
   * One operator's hosts, and one address, get at most this many new dialogues per second; 2 by default, 0 means no
   * bound.
   */
  ratePerOperator?: number;
  /** Seconds for which an operator that refused our IP is not dialled again; 3,600 by default, 0 = never. */
  breakerSeconds?: number;
}

export interface VerifyOptions {
  /** The level is `mx` by default. */
  level?: Level;
  /** The whole budget is in milliseconds, from 1,000 to 30,000; 10,000 by default. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Adds `evidence` to the result: the mail hosts and, for `smtp`, the transcript. */
  evidence?: boolean;
  /**
   * Milliseconds for which it may wait and ask again, beyond `timeoutMs`, where the server asked to try later
   * (greylisting, a temporary failure with an announced delay). 0 by default: the first answer is the result.
   */
  wait?: number;
}

export interface Verifier {
  /**
   * One verdict. A malformed or dead address is a result, not an error; `credits_used` is 0, since nobody is charged.
   * Throws VerificationUnavailableError when no resolver answers anybody, or only falsely; VerifierClosedError after
   * `close`; TypeError for arguments of a wrong type.
   */
  verify(email: string, options?: VerifyOptions): Promise<Report>;
  /** Ends sockets, caches and running checks. */
  close(): void;
}

/** No DNS resolver answers, or only falsely: there is no verdict, and none was guessed. */
export class VerificationUnavailableError extends Error {
  override readonly name = 'VerificationUnavailableError';
}

/** `verify` was called after `close`, or was still running then. */
export class VerifierClosedError extends Error {
  override readonly name = 'VerifierClosedError';
  constructor() {
    super('The verifier is closed: create another one with createVerifier().');
  }
}

/** What an option may be: `wants` completes "… must be". */
interface OptionCheck {
  readonly fits: (value: unknown) => boolean;
  readonly wants: string;
}
/** There is one check for each option. */
type OptionChecks<Options> = Readonly<Record<keyof Options, OptionCheck>>;

const isText = (value: unknown): value is string => typeof value === 'string';
const areTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);

const TEXT_CHECK: OptionCheck = { fits: isText, wants: 'a string' };
const TEXTS_CHECK: OptionCheck = { fits: areTexts, wants: 'an array of strings' };
const FLAG: OptionCheck = { fits: (value) => typeof value === 'boolean', wants: 'true or false' };
const numberWithin = (range: Range): OptionCheck => ({
  fits: (value) => typeof value === 'number' && value >= range.min && value <= range.max,
  wants: `a number from ${span(range)}`,
});

/**
 * Throws a TypeError for options that are no object, an option that does not exist, since a misspelled one would
 * silently be a default, and a value that does not fit. `taker`: whose options they are. Undefined values count as
 * absent.
 */
function checkOptions(taker: string, given: unknown, checks: Readonly<Record<string, OptionCheck>>): void {
  if (typeof given !== 'object' || given === null) throw new TypeError(`${taker}: the options must be an object.`);
  for (const [name, value] of Object.entries(given)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined)
      throw new TypeError(`${taker} has no option ${name}; it has ${Object.keys(checks).join(', ')}.`);
    if (value !== undefined && !check.fits(value)) throw new TypeError(`${taker}: ${name} must be ${check.wants}.`);
  }
}

const VERIFIER_OPTIONS: OptionChecks<VerifierOptions> = {
  dnsServers: TEXTS_CHECK,
  dnsTimeoutMs: numberWithin(DNS_TIMEOUT_MS),
  dnsControlNames: TEXTS_CHECK,
  allowPrivateNetworks: FLAG,
  smtp: { fits: (value) => typeof value === 'object' && value !== null, wants: 'an object' },
  listsDir: TEXT_CHECK,
};
const SMTP_OPTIONS: OptionChecks<SmtpOptions> = {
  helo: TEXT_CHECK,
  from: TEXT_CHECK,
  port: numberWithin({ min: 1, max: 65_535 }),
  bind: {
    fits: (value) => areTexts(value) && value.every((ip) => canonicalIp(ip) !== null),
    wants: 'an array of IP addresses',
  },
  egresses: { fits: (value) => Array.isArray(value) && value.length > 0, wants: 'an array with at least one egress' },
  connectionsPerHost: numberWithin(SMTP_CONNECTIONS_PER_HOST),
  ratePerOperator: numberWithin(SMTP_RATE_PER_OPERATOR),
  breakerSeconds: numberWithin(SMTP_BREAKER_SECONDS),
};
const VERIFY_OPTIONS: OptionChecks<VerifyOptions> = {
  level: { fits: (value) => LEVELS.some((level) => level === value), wants: choice(LEVELS) },
  timeoutMs: numberWithin(TIMEOUT_MS),
  signal: { fits: (value) => value instanceof AbortSignal, wants: 'an AbortSignal' },
  evidence: FLAG,
  wait: numberWithin({ min: 0, max: DAY_MS }),
};

/** Throws a TypeError for options that do not exist, have the wrong type or are out of range. */
export function createVerifier(options: VerifierOptions = {}): Verifier {
  checkOptions('createVerifier', options, VERIFIER_OPTIONS);
  if (options.smtp !== undefined) checkOptions('smtp', options.smtp, SMTP_OPTIONS);
  const engine = createEngine({
    dnsServers: readServers(options.dnsServers),
    ...(options.dnsTimeoutMs === undefined ? {} : { dnsTimeoutMs: options.dnsTimeoutMs }),
    ...(options.dnsControlNames === undefined ? {} : { dnsControlNames: options.dnsControlNames }),
    allowPrivateNetworks: options.allowPrivateNetworks ?? false,
    domainData: domainDataOf(options.listsDir),
    smtp: smtpIdentityOf(options.smtp),
  });
  let closed = false;
  async function once(
    email: string,
    ask: Required<Omit<VerifyOptions, 'signal' | 'wait'>> & { signal: AbortSignal | null },
  ) {
    const { level, timeoutMs, signal, evidence: withEvidence } = ask;
    if (closed) throw new VerifierClosedError();
    const started = systemClock.elapsed();
    const found = await runOnline(
      runOffline(email, level, engine),
      signal ? { timeoutMs, signal, tenant: '' } : { timeoutMs, tenant: '' },
      engine,
    );
    const verdict = decideVerdict(found);
    if (verdict === null && signal?.aborted) throw signal.reason;
    if (closed) throw new VerifierClosedError();
    if (verdict === null) {
      const problem = RESOLVER_PROBLEMS[resolverProblem(found.dns?.failure ?? null)];
      throw new VerificationUnavailableError(`There is no verdict: ${problem.found}. ${problem.fix}`);
    }
    const at = systemClock.now();
    const stamp = { id: newId('ver', at), durationMs: systemClock.elapsed() - started, at, withEvidence };
    const result = report(found, { ...verdict, credits: 0 }, stamp);
    return { result, pauseMs: retryMs(result, found.smtp) };
  }
  return {
    async verify(email, asked = {}) {
      checkOptions('verify', asked, VERIFY_OPTIONS);
      const { level = DEFAULT_LEVEL, timeoutMs = TIMEOUT_MS.default, signal, evidence = false, wait = 0 } = asked;
      if (typeof email !== 'string') throw new TypeError('email must be a string');
      const untilMs = systemClock.elapsed() + wait;
      for (;;) {
        const { result, pauseMs } = await once(email, { level, timeoutMs, signal: signal ?? null, evidence });
        if (pauseMs === null || systemClock.elapsed() + pauseMs > untilMs || signal?.aborted) return result;
        // Who no longer wants to wait has the next attempt end at once.
        await sleep(pauseMs, undefined, { signal }).catch((error: unknown) => {
          if (!signal?.aborted) throw error;
        });
      }
    },
    close() {
      closed = true;
      // Dialogues say goodbye meanwhile; nobody has to wait for it.
      engine.close().catch(warnOfFault);
    },
  };
}

/** Milliseconds after which a retry makes sense, or null where waiting would not change the answer. */
function retryMs(result: Report, smtp: SmtpEvidence | null): number | null {
  // A wait counts only if the server asked for it, not one of our own rate limit or circuit breaker.
  if (smtp?.decidedBy === 'throttle') return null;
  if (result.retry_after !== null) return result.retry_after * 1000 + 500;
  const usual = result.reason === null ? null : REASONS[result.reason].usualRetrySeconds;
  return usual === null ? null : usual * 1000;
}

function smtpIdentityOf(smtp: SmtpOptions | undefined) {
  if (smtp === undefined) return null;
  // JavaScript may leave it out.
  if (smtp.helo === undefined) throw new TypeError('smtp: helo is missing, the name of this host for EHLO.');
  const { helo, from = `verify@${helo}`, port = SMTP_PORT, bind = [] } = smtp;
  const {
    connectionsPerHost = SMTP_CONNECTIONS_PER_HOST.default,
    ratePerOperator = SMTP_RATE_PER_OPERATOR.default,
    breakerSeconds = SMTP_BREAKER_SECONDS.default,
  } = smtp;
  const egresses = smtp.egresses ?? egressesOf({ helo, from, bind });
  return { egresses, port, connectionsPerHost, ratePerOperator, breakerSeconds };
}

function readServers(texts: readonly string[] | undefined) {
  if (texts === undefined) return null;
  const parsed = parseServers(texts.join(','));
  if (!parsed.ok)
    throw new TypeError(`dnsServers: ${JSON.stringify(parsed.entry)} is not an IP address with an optional port`);
  return parsed.servers;
}

function domainDataOf(dir: string | undefined) {
  const holder = watchDomainData(dir ?? null, systemClock);
  return () => holder.current;
}
