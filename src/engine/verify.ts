/**
 * The pipeline: syntax → filters → disposable → dns → smtp. Stages collect evidence; the first conclusive one ends the
 * run; `judge` reads what was found.
 */
import type { Clock } from '../kernel/clock.ts';
import { type Address, parseAddress } from './address/parse.ts';
import { didYouMean, didYouMeanText } from './address/suggest.ts';
import { mailServers, runStage, runStageNow } from './dns/mx.ts';
import type { Resolver } from './dns/resolver.ts';
import type { CatchAllEvidence, DnsEvidence, Evidence, FilterMatch, Level, SmtpEvidence } from './evidence.ts';
import type { Lists } from './lists/lists.ts';
import { disposableByHost, disposableByName } from './stages/disposable.ts';

/** The mailbox question (smtp/mailbox.ts): asks the hosts in `dns` about one address, never throws. */
export interface MailboxQuestion {
  check(
    subject: { address: Address; dns: DnsEvidence },
    limit: { deadline: number; signal?: AbortSignal },
  ): Promise<{ smtp: SmtpEvidence; catchAll: CatchAllEvidence }>;
}

/** The world, handed in as functions. */
export interface Tools {
  readonly clock: Clock;
  readonly resolver: Resolver;
  /** Read anew for each run, so that lists can be replaced while the process lives. */
  readonly lists: () => Lists;
  readonly mailbox: MailboxQuestion;
  /** Laboratories only: mail hosts may be loopback or private, and special-use TLDs are names like others. */
  readonly allowPrivate: boolean;
  /** 0 ≤ random < 1; shuffles mail hosts of equal preference. */
  readonly random: () => number;
  /** This host's own addresses: never dialled. */
  readonly ownAddresses: ReadonlySet<string>;
}

/** Milliseconds kept back of a budget, so that the reply leaves before the caller gives up. */
const REPLY_MARGIN_MS = 50;
const HOSTS_WANTED: Readonly<Record<Level, number>> = { mx: 1, smtp: 3 };

/** What needs no network: syntax and lists. `syntax.result` and `disposable.result` tell whether that was conclusive. */
export function begin(email: string, requested: Level, tools: Tools): Evidence {
  const lists = tools.lists();
  const parsed = parseAddress(email, { allowReserved: tools.allowPrivate });
  const common = { requested, email, dns: null, smtp: null, catchAll: null, listVersion: lists.version };
  if (!parsed.ok) {
    return {
      ...common,
      syntax: { result: 'fail', error: parsed.error, index: parsed.index },
      filter: { result: 'skipped' },
      disposable: { result: 'skipped', matched: null, by: null },
      flags: null,
      // A TLD that does not exist is most often a slip: jane@gmail.con.
      didYouMean: parsed.error === 'unknown_tld' ? didYouMeanText(email, lists) : null,
    };
  }
  const { address } = parsed;
  return {
    ...common,
    syntax: { result: 'pass', address },
    filter: { result: 'pass' },
    disposable: disposableByName(address.domain, lists),
    flags: {
      role: lists.role(address.localPart) === 'role',
      free: lists.isFree(address.domain),
      relay: lists.isRelay(address.domain),
    },
    didYouMean: didYouMean(address, lists),
  };
}

/** The account's filter that matched ends the run: nothing after it was checked. */
export const withFilter = (e: Evidence, filter: FilterMatch): Evidence => ({
  ...e,
  filter: { result: 'fail', filter },
  disposable: { result: 'skipped', matched: null, by: null },
});

const conclusive = (e: Evidence): boolean =>
  e.syntax.result === 'fail' || e.filter.result === 'fail' || e.disposable.result === 'fail';

const addressOf = (e: Evidence): Address => {
  if (e.syntax.result === 'fail') throw new TypeError('an address that does not parse has no later stages');
  return e.syntax.address;
};

function dnsStage(e: Evidence, tools: Tools) {
  return mailServers(addressOf(e).domain, {
    hostsWanted: HOSTS_WANTED[e.requested],
    allowPrivate: tools.allowPrivate,
    own: tools.ownAddresses,
    random: tools.random,
    lists: tools.lists(),
  });
}

/** Evidence of the dns stage, and what the mail hosts themselves say about being disposable. */
const withDns = (e: Evidence, dns: DnsEvidence, tools: Tools): Evidence => ({
  ...e,
  dns,
  disposable: disposableByHost(e.disposable, addressOf(e).domain, dns, tools.lists()),
});

/** The whole evidence when nothing has to be waited for (offline stages, cached DNS), else null. */
export function finishNow(e: Evidence, tools: Tools): Evidence | null {
  if (conclusive(e)) return e;
  const dns = runStageNow(dnsStage(e, tools), tools.resolver);
  if (dns === null) return null;
  const found = withDns(e, dns, tools);
  return e.requested === 'smtp' && asksMailbox(found) ? null : found;
}

/** Runs what is left. `timeoutMs` is the whole budget; what is not known by then is reported as unknown. */
export async function finish(
  e: Evidence,
  limit: { timeoutMs: number; signal?: AbortSignal },
  tools: Tools,
): Promise<Evidence> {
  if (conclusive(e)) return e;
  const deadline = tools.clock.elapsed() + limit.timeoutMs - REPLY_MARGIN_MS;
  const bound = limit.signal ? { deadline, signal: limit.signal } : { deadline };
  const found = withDns(e, await runStage(dnsStage(e, tools), tools.resolver, { ...bound, clock: tools.clock }), tools);
  if (e.requested !== 'smtp' || !asksMailbox(found)) return found;
  const answer = await tools.mailbox.check({ address: addressOf(e), dns: found.dns! }, bound);
  return { ...found, ...answer };
}

const asksMailbox = (e: Evidence): boolean =>
  e.disposable.result !== 'fail' && (e.dns?.finding === 'mx' || e.dns?.finding === 'implicit_mx');
