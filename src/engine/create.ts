import { networkInterfaces } from 'node:os';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { randomInt } from '../kernel/ids.ts';
import { createResolver, type Server, systemServers } from './dns/resolver.ts';
import { ownAddresses } from './dns/routable.ts';
import type { SmtpEvidence } from './evidence.ts';
import type { Lists } from './lists/lists.ts';
import type { MailboxCheck, Tools } from './verify.ts';

export interface EngineOptions {
  /** Null or left out: the system's. */
  readonly dnsServers?: readonly Server[] | null;
  /** Milliseconds for one try; two tries a server. */
  readonly dnsTimeoutMs?: number;
  /** Laboratories only: mail hosts may be loopback, private or otherwise special addresses. */
  readonly allowPrivateNetworks?: boolean;
  readonly lists: () => Lists;
  /** Left out: the `smtp` level answers `smtp_unverifiable`. */
  readonly mailbox?: MailboxCheck;
  readonly clock?: Clock;
}

/** The world as the engine sees it, made of this machine's resolver, clock and random numbers. */
export function createTools(options: EngineOptions): Tools & { close(): void } {
  const clock = options.clock ?? systemClock;
  const resolver = createResolver({
    servers: options.dnsServers ?? systemServers(),
    timeoutMs: options.dnsTimeoutMs ?? 2000,
    clock,
  });
  return {
    clock,
    resolver,
    lists: options.lists,
    mailbox: options.mailbox ?? cannotAsk,
    allowPrivate: options.allowPrivateNetworks ?? false,
    random: () => randomInt(2 ** 32) / 2 ** 32,
    ownAddresses: ownAddresses(networkInterfaces()),
    close: () => resolver.close(),
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
  rule: 'asker.not_configured',
  retryAfter: null,
  transcript: [],
};

/** Stands in where this host has no name to introduce itself with: honest, and never the mailbox's fault. */
export const cannotAsk: MailboxCheck = {
  check: () => Promise.resolve({ smtp: NOT_ASKED, catchAll: { result: 'skipped', why: null, cached: false } }),
};
