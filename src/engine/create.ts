import { networkInterfaces } from 'node:os';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { randomInt } from '../kernel/ids.ts';
import { registrableDomain } from './address/domain.ts';
import { createResolver, type Resolver, type Server, systemServers } from './dns/resolver.ts';
import { ownAddresses, routable } from './dns/routable.ts';
import type { SmtpEvidence } from './evidence.ts';
import type { Lists } from './lists/lists.ts';
import { type AskerState, type WatchedAsker, watchAsker } from './smtp/asker.ts';
import { type Classifier, createClassifier, loadRules, type Reading } from './smtp/classify.ts';
import { askControls } from './smtp/control-hosts.ts';
import { createMailboxCheck, type MailboxCheck, type ReadRequest } from './smtp/mailbox.ts';
import { operatorKey } from './smtp/operators.ts';
import { createUnmatched, type Unmatched, type UnmatchedReply } from './smtp/unmatched.ts';
import type { MailboxQuestion, Tools } from './verify.ts';

/** How this host introduces itself to mail servers, and how gently it asks. */
export interface AskerOptions {
  /** Qualified name for EHLO. */
  readonly helo: string;
  /** `user@host`, or `<>`. */
  readonly from: string;
  readonly port: number;
  readonly bind: readonly string[];
  readonly connectionsPerHost: number;
  readonly ratePerOperator: number;
  readonly breakerSeconds: number;
}

export interface EngineOptions {
  /** Null or left out: the system's. */
  readonly dnsServers?: readonly Server[] | null;
  /** Milliseconds for one try; two tries a server. */
  readonly dnsTimeoutMs?: number;
  /** Laboratories only: mail hosts may be loopback, private or otherwise special addresses. */
  readonly allowPrivateNetworks?: boolean;
  readonly lists: () => Lists;
  /** Null: this host has no name to introduce itself with; the `smtp` level answers `smtp_unverifiable`. */
  readonly asker: AskerOptions | null;
  readonly clock?: Clock;
  /** Told of the first reply of each kind that no classification rule matched. */
  readonly onUnmatched?: (reply: Omit<UnmatchedReply, 'count'>) => void;
}

export interface Engine extends Tools {
  /** Null where there is no asker. */
  readonly mailboxStats: () => ReturnType<MailboxCheck['stats']> | null;
  /** Whether this host can ask at all; null where there is no asker. */
  readonly askerState: () => AskerState | null;
  /** Replies that no classification rule matched. */
  readonly unmatched: Unmatched;
  close(): void;
}

/** The world as the engine sees it, made of this machine's resolver, sockets, clock and random numbers. */
export function createEngine(options: EngineOptions): Engine {
  const clock = options.clock ?? systemClock;
  const resolver = createResolver({
    servers: options.dnsServers ?? systemServers(),
    timeoutMs: options.dnsTimeoutMs ?? 2000,
    clock,
  });
  const own = ownAddresses(networkInterfaces());
  const unmatched = createUnmatched();
  const allowPrivate = options.allowPrivateNetworks ?? false;
  const onUnmatched = options.onUnmatched ?? (() => {});
  const world: AskerWorld = { clock, resolver, own, allowPrivate, unmatched, onUnmatched };
  const asker = options.asker === null ? null : createAsker(options.asker, world);
  return {
    clock,
    resolver,
    lists: options.lists,
    mailbox: asker?.watched ?? cannotAsk,
    allowPrivate,
    random: () => randomInt(2 ** 32) / 2 ** 32,
    ownAddresses: own,
    mailboxStats: () => asker?.mailbox.stats() ?? null,
    askerState: () => asker?.watched.state() ?? null,
    unmatched,
    close() {
      asker?.close();
      resolver.close();
    },
  };
}

interface AskerWorld {
  readonly clock: Clock;
  readonly resolver: Resolver;
  readonly own: ReadonlySet<string>;
  readonly allowPrivate: boolean;
  readonly unmatched: Unmatched;
  readonly onUnmatched: NonNullable<EngineOptions['onUnmatched']>;
}

/** The mailbox check, and around it the watch that answers for it while this host cannot ask. */
function createAsker(
  asker: AskerOptions,
  world: AskerWorld,
): { mailbox: MailboxCheck; watched: WatchedAsker; close(): void } {
  const { clock, resolver, own, allowPrivate } = world;
  const { helo, port, bind } = asker;
  const rules = loadRules();
  const aboutOurIp = new Set(rules.rows.filter(({ meaning }) => meaning === 'us_ip').map(({ id }) => id));
  const mayDial = (ip: string) => routable(ip, { allowPrivate, own });
  const mailbox = createMailboxCheck({
    clock,
    random: randomInt,
    classify: countingUnmatched(createClassifier(rules), world),
    mayDial,
    registrableDomain,
    port,
    helo,
    sender: asker.from,
    bind,
    connectionsPerHost: asker.connectionsPerHost,
    ratePerOperator: asker.ratePerOperator,
    breakerSeconds: asker.breakerSeconds,
    ownIps: [...own],
    anyHelo: allowPrivate,
  });
  const closing = new AbortController();
  const watched = watchAsker(mailbox, {
    clock,
    operatorOf: (dns) => operatorKey(dns, registrableDomain),
    aboutOurIp: (rule) => aboutOurIp.has(rule),
    stopsWhenRefused: asker.breakerSeconds > 0,
    askControls: () => askControls({ clock, resolver, mayDial, port, helo, bind }, closing.signal),
  });
  const close = () => {
    closing.abort();
    mailbox.close();
  };
  return { mailbox, watched, close };
}

function countingUnmatched(classifier: Classifier, { unmatched, onUnmatched }: AskerWorld) {
  return (request: ReadRequest): Reading => {
    const reading = classifier.classify(request);
    if (!reading.rule.startsWith('unmatched.')) return reading;
    const { code, enhanced } = request.reply;
    const [fingerprint, text] = [classifier.fingerprint(request), classifier.plain(request)];
    if (unmatched.note(fingerprint, { code, enhanced, text })) onUnmatched({ fingerprint, code, enhanced, text });
    return reading;
  };
}

const NOT_ASKED: SmtpEvidence = {
  finding: 'smtp_unverifiable',
  host: null,
  address: null,
  stage: null,
  code: null,
  enhancedCode: null,
  tls: false,
  rule: 'asker.no_helo_name',
  retryAfter: null,
  transcript: [],
};

/** Stands in where this host has no name to introduce itself with: honest, and never the mailbox's fault. */
const cannotAsk: MailboxQuestion = {
  check: () => Promise.resolve({ smtp: NOT_ASKED, catchAll: { result: 'skipped', why: null, cached: false } }),
};
