/**
 * What was learned about mail servers, by their address and the egress from which they were asked: what they offer and
 * cannot do, so that it is not tried again for each recipient. Bounded in time and number, and forgotten with the
 * process.
 */
import { LRUCache } from 'lru-cache';
import { type Clock, HOUR_MS } from '../../kernel/clock.ts';
import { sha256Hex } from '../../kernel/ids.ts';

export interface LearnedHost {
  /** Whether several commands sent together were answered in step. */
  readonly pipelining: 'untried' | 'works' | 'broken';
  /** `up_to_1_2`: the handshake ended where TLS 1.3 was offered. `none`: no handshake succeeds, clear text does. */
  readonly tls: 'any' | 'up_to_1_2' | 'none';
  /** It refuses us, so that a recipient whom another host deferred is not brought to it. */
  readonly refusesUs: boolean;
}

interface AskedHost {
  /** Name of the egress: what a server does for one says nothing of another. */
  readonly egress: string;
  readonly address: string;
}
const hostKey = ({ egress, address }: AskedHost): string => `${egress}\n${address}`;

interface AskedRecipient {
  readonly egress: string;
  /** What stands between the angle brackets of RCPT. */
  readonly path: string;
}
const recipientHash = ({ egress, path }: AskedRecipient): string => sha256Hex(`${egress}\n${path}`);

export const NOTHING_LEARNED: LearnedHost = { pipelining: 'untried', tls: 'any', refusesUs: false };

const LEARNED_KEPT_MS = HOUR_MS;
const MOST_HOSTS = 10_000;
/** How long a greylisting server remembers a deferred recipient: most do for hours. */
export const GREYLISTED_MS = 2 * HOUR_MS;
const MOST_GREYLISTED = 50_000;

export class LearnedHosts {
  readonly #perf: { now(): number };
  // Both are created with the first entry (docs/architecture.md#what-v8-does).
  #hosts: LRUCache<string, LearnedHost> | null = null;
  #greylisted: LRUCache<string, string> | null = null;

  constructor(clock: Clock) {
    this.#perf = { now: () => clock.elapsed() };
  }

  of(host: AskedHost): LearnedHost {
    return this.#hosts?.get(hostKey(host)) ?? NOTHING_LEARNED;
  }

  learn(host: AskedHost, what: Partial<LearnedHost>): void {
    const known = this.of(host);
    const learned = { ...known, ...what };
    if (learned.pipelining === known.pipelining && learned.tls === known.tls && learned.refusesUs === known.refusesUs)
      return;
    this.#hosts ??= new LRUCache({ max: MOST_HOSTS, ttl: LEARNED_KEPT_MS, perf: this.#perf, ttlResolution: 0 });
    this.#hosts.set(hostKey(host), learned);
  }

  /** Returns the host that greylisted the recipient first, asked from the egress; null for none. */
  greylistedAt(recipient: AskedRecipient): string | null {
    return this.#greylisted?.get(recipientHash(recipient)) ?? null;
  }

  /** Only a hash of the recipient is kept. */
  noteGreylisted(recipient: AskedRecipient, host: string): void {
    this.#greylisted ??= new LRUCache({
      max: MOST_GREYLISTED,
      ttl: GREYLISTED_MS,
      perf: this.#perf,
      ttlResolution: 0,
    });
    this.#greylisted.set(recipientHash(recipient), host);
  }
}
