/** The mailbox check with real sockets and the real classifier; loopback allowed. */
import { type Address, parseAddress, registrableDomain } from '../../src/engine/address/parse.ts';
import type { CatchAllEvidence, DnsEvidence, SmtpEvidence } from '../../src/engine/evidence.ts';
import { createClassifier } from '../../src/engine/smtp/classify.ts';
import { createMailboxCheck, type MailboxCheck, type MailboxCheckOptions } from '../../src/engine/smtp/mailbox.ts';
import type { HostOwners } from '../../src/engine/smtp/operators.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { type Egress, egressesOf } from '../../src/kernel/egress.ts';
import { randomInt } from '../../src/kernel/ids.ts';

const { classify } = createClassifier();

/** Of the providers that tests mention. */
export const labOwners: HostOwners = {
  registrableDomain,
  providerOf: (host) => (host.endsWith('.google.com') ? 'google' : null),
};

export const labEgresses = (bind: readonly string[], more: Partial<Egress> = {}): Egress[] =>
  egressesOf({ helo: 'verify.mailvet.test', from: 'verify@verify.mailvet.test', bind }).map((one) => ({
    ...one,
    ...more,
  }));

export function labCheck(port: number, options: Partial<MailboxCheckOptions> = {}): MailboxCheck {
  return createMailboxCheck({
    clock: systemClock,
    random: (n) => randomInt(n),
    classify,
    mayDial: (ip) => ip.startsWith('127.'),
    ...labOwners,
    port,
    egresses: labEgresses([]),
    connectionsPerHost: 5,
    ratePerOperator: 0,
    breakerSeconds: 0,
    ...options,
  });
}

/** Mail hosts as found by the DNS stage: `{ 'mx1.example.test': ['127.0.0.1'] }`. */
export function labHosts(
  hosts: Readonly<Record<string, readonly string[]>>,
  provider: string | null = null,
): DnsEvidence {
  const list = Object.entries(hosts).map(([host, addresses], i) => ({ host, priority: 10 * (i + 1), addresses }));
  return {
    finding: 'mx',
    failure: null,
    records: list,
    hosts: list,
    unusable: [],
    provider: provider === null ? null : { name: provider, kind: 'mailbox' },
  };
}

export function labAddress(text: string): Address {
  const parsed = parseAddress(text, { allowReserved: true });
  if (!parsed.ok) throw new TypeError(`${text}: ${parsed.error}`);
  return parsed.address;
}

interface Asked {
  readonly email?: string;
  readonly dns?: DnsEvidence;
  readonly ms?: number;
  readonly startMs?: number;
  readonly signal?: AbortSignal;
  readonly tenant?: string;
  /** From which it was deferred before. */
  readonly egress?: string;
}

export function ask(check: MailboxCheck, asked: Asked): Promise<{ smtp: SmtpEvidence; catchAll: CatchAllEvidence }> {
  const { email = 'good@example.test', dns = labHosts({ 'mx.example.test': ['127.0.0.1'] }), ms = 5_000 } = asked;
  const { signal, startMs, tenant = '', egress = null } = asked;
  const now = systemClock.elapsed();
  const limit = {
    deadlineMs: now + ms,
    tenant,
    egress,
    ...(signal === undefined ? {} : { signal }),
    ...(startMs === undefined ? {} : { startByMs: now + startMs }),
  };
  return check.check({ address: labAddress(email), dns }, limit);
}
