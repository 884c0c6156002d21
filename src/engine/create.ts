import { networkInterfaces } from 'node:os';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { randomInt } from '../kernel/ids.ts';
import { registrableDomain } from './address/domain.ts';
import { createResolver, type Server, systemServers } from './dns/resolver.ts';
import { ownAddresses, routable } from './dns/routable.ts';
import type { SmtpEvidence } from './evidence.ts';
import type { Lists } from './lists/lists.ts';
import { createClassifier } from './smtp/classify.ts';
import { createMailboxCheck, type MailboxCheck } from './smtp/mailbox.ts';
import { createUnmatched, type Unmatched } from './smtp/unmatched.ts';
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
}

export interface Engine extends Tools {
  /** Null where there is no asker. */
  readonly mailboxStats: () => ReturnType<MailboxCheck['stats']> | null;
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
  const mailbox = options.asker === null ? null : createAsker(options.asker, { clock, own, allowPrivate, unmatched });
  return {
    clock,
    resolver,
    lists: options.lists,
    mailbox: mailbox ?? cannotAsk,
    allowPrivate,
    random: () => randomInt(2 ** 32) / 2 ** 32,
    ownAddresses: own,
    mailboxStats: () => mailbox?.stats() ?? null,
    unmatched,
    close() {
      mailbox?.close();
      resolver.close();
    },
  };
}

function createAsker(
  asker: AskerOptions,
  world: { clock: Clock; own: ReadonlySet<string>; allowPrivate: boolean; unmatched: Unmatched },
): MailboxCheck {
  const { clock, own, allowPrivate, unmatched } = world;
  const classifier = createClassifier();
  return createMailboxCheck({
    clock,
    random: randomInt,
    classify(request) {
      const reading = classifier.classify(request);
      if (reading.rule.startsWith('unmatched.')) unmatched.note(classifier.fingerprint(request), request.reply);
      return reading;
    },
    mayDial: (ip) => routable(ip, { allowPrivate, own }),
    registrableDomain,
    port: asker.port,
    helo: asker.helo,
    sender: asker.from,
    bind: asker.bind,
    connectionsPerHost: asker.connectionsPerHost,
    ratePerOperator: asker.ratePerOperator,
    breakerSeconds: asker.breakerSeconds,
    ownIps: Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address)),
    anyHelo: allowPrivate,
  });
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
