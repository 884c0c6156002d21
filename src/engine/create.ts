import { networkInterfaces } from 'node:os';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { warnOfFault } from '../kernel/contain.ts';
import { DNS_CONTROL_NAMES } from '../kernel/control-names.ts';
import type { Advice } from '../kernel/doctor-checks.ts';
import type { Egress } from '../kernel/egress.ts';
import { DNS_TIMEOUT_MS } from '../kernel/facts/limits.ts';
import { randomInt } from '../kernel/ids.ts';
import type { DomainData } from './data/domain-data.ts';
import { createResolver, type Resolver } from './dns/resolver.ts';
import { ownAddresses, routable } from './dns/routable.ts';
import { systemServers, type TrustChange } from './dns/servers.ts';
import type { DnsServer } from './dns/transport.ts';
import type { SmtpEvidence } from './evidence.ts';
import { type Classifier, createClassifier, type RuleReading } from './smtp/classify.ts';
import {
  askCanaries,
  askOperator,
  type EgressHealth,
  type EgressShares,
  type MonitoredMailboxCheck,
  monitorEgress,
  probeConnectivity,
  probeProxy,
  problemsOf,
} from './smtp/egress.ts';
import {
  CATCH_ALL_SKIPPED,
  createMailboxCheck,
  type MailboxCheck,
  type MailboxQuestion,
  type ReadRequest,
  resultWithoutDialogue,
} from './smtp/mailbox.ts';
import { domainsOfOperator, hostOwners, type OperatorUse, OTHER_OPERATORS } from './smtp/operators.ts';
import type { SharedRatesOptions } from './smtp/shared-rates.ts';
import { countUncertainReplies, type UncertainReplyCounter } from './smtp/uncertain.ts';
import type { EngineDeps } from './verify.ts';

/** From where and as who mail servers are asked, and the rate limits towards them. */
interface SmtpIdentity {
  /** There is at least one. */
  readonly egresses: readonly Egress[];
  readonly port: number;
  readonly connectionsPerHost: number;
  readonly ratePerOperator: number;
  readonly breakerSeconds: number;
}

interface EngineOptions {
  /** By default, and for null, they are the system's. */
  readonly dnsServers?: readonly DnsServer[] | null;
  /** Each attempt may take this long, and each server gets two. */
  readonly dnsTimeoutMs?: number;
  /**
   * Names that cannot be missing, by which false answers are recognized; empty: every server is believed. Default:
   * DNS_CONTROL_NAMES.
   */
  readonly dnsControlNames?: readonly string[];
  /** Called at each change of what is known of a DNS server. */
  readonly onDnsTrust?: (change: TrustChange) => void;
  /** Test setups only: mail hosts may have loopback, private or other special addresses. */
  readonly allowPrivateNetworks?: boolean;
  readonly domainData: () => DomainData;
  /** Null: this host has no EHLO name; the `smtp` level answers `smtp_unverifiable`. */
  readonly smtp: SmtpIdentity | null;
  /** Null, the default, means that nobody else connects from the same address. */
  readonly sharedRates?: SharedRatesOptions | null;
  readonly clock?: Clock;
}

interface EgressRow {
  readonly name: string;
  readonly state: EgressHealth['state'] | 'resting';
  /** When the connectivity took its state, in `Clock.now()` ms. */
  readonly since: number;
  /** Seconds; 0: it does not rest. */
  readonly restsForSeconds: number;
  readonly hour: EgressShares;
  readonly day: EgressShares;
  /** Mail operators that refuse it. */
  readonly breakersOpen: number;
  /** State and answers say this against it. */
  readonly problems: readonly Advice[];
}

export interface VerificationEngine extends EngineDeps {
  /** Returns null without an SMTP identity. */
  readonly mailboxStats: () => ReturnType<MailboxCheck['stats']> | null;
  /** Returns the most active known providers, and all other operators together; empty without an SMTP identity. */
  readonly useByOperator: () => readonly OperatorUse[];
  /** Whether this host can connect to mail servers; null without an SMTP identity. */
  readonly egressHealth: () => EgressHealth | null;
  /** Returns one for each egress, in the order of the configuration; empty without an SMTP identity. */
  readonly egressRows: () => readonly EgressRow[];
  /** New dialogues begin from these; those under way end as they began. Without an SMTP identity, this does nothing. */
  reloadEgresses(egresses: readonly Egress[]): void;
  /** Replies that no rule matched, or only a weak one. */
  readonly uncertain: UncertainReplyCounter;
  /** Resolves when nothing is left to do. */
  close(): Promise<void>;
}

/** Operators that metrics tell by name. */
const NAMED_OPERATORS = 50;

/** Makes the engine on this machine's resolver, sockets, clock and random numbers. */
export function createEngine(options: EngineOptions): VerificationEngine {
  const clock = options.clock ?? systemClock;
  const resolver = createResolver({
    servers: options.dnsServers ?? systemServers(),
    timeoutMs: options.dnsTimeoutMs ?? DNS_TIMEOUT_MS.default,
    controlNames: options.dnsControlNames ?? DNS_CONTROL_NAMES,
    laboratory: options.allowPrivateNetworks ?? false,
    onTrust(change) {
      // Verdicts on catch-all domains came from the hosts that it had invented.
      if (change.to === 'answers_every_name') smtp?.mailbox.forgetCatchAll();
      options.onDnsTrust?.(change);
    },
    clock,
  });
  const own = ownAddresses(networkInterfaces());
  const uncertain = countUncertainReplies();
  const allowPrivate = options.allowPrivateNetworks ?? false;
  const deps: SmtpDeps = { clock, resolver, domainData: options.domainData, own, allowPrivate, uncertain };
  const smtp = options.smtp === null ? null : createSmtpCheck(options.smtp, deps, options.sharedRates ?? null);
  return {
    clock,
    resolver,
    domainData: options.domainData,
    mailbox: smtp?.watched ?? NO_SMTP_CHECK,
    allowPrivate,
    random,
    ownAddresses: own,
    mailboxStats: () => smtp?.mailbox.stats() ?? null,
    useByOperator: () => {
      const { providerNames } = options.domainData();
      return smtp?.mailbox.useByOperator({ isNamed: (name) => providerNames.has(name), most: NAMED_OPERATORS }) ?? [];
    },
    egressHealth: () => (smtp === null ? null : healthOfAll([...smtp.watched.states().values()])),
    egressRows: () => smtp?.rows() ?? [],
    reloadEgresses: (egresses) => smtp?.watched.reload(egresses),
    uncertain,
    async close() {
      resolver.close();
      await smtp?.close();
    },
  };
}

/** One egress that works is enough; else how and when the last one failed. */
function healthOfAll(states: readonly EgressHealth[]): EgressHealth | null {
  const better = (a: EgressHealth, b: EgressHealth) => (a.state === 'ok' && b.state !== 'ok' ? a : b);
  const [first = null, ...others] = states.toSorted((a, b) => a.since - b.since);
  return first === null ? null : others.reduce(better, first);
}

const random = (): number => randomInt(2 ** 32) / 2 ** 32;

interface SmtpDeps {
  readonly clock: Clock;
  readonly resolver: Resolver;
  readonly domainData: () => DomainData;
  readonly own: ReadonlySet<string>;
  readonly allowPrivate: boolean;
  readonly uncertain: UncertainReplyCounter;
}

/** The mailbox check, and the egress monitor that answers for it while this host cannot connect. */
function createSmtpCheck(
  smtp: SmtpIdentity,
  deps: SmtpDeps,
  sharedRates: SharedRatesOptions | null,
): {
  mailbox: MailboxCheck;
  watched: MonitoredMailboxCheck;
  rows(): readonly EgressRow[];
  close(): Promise<void>;
} {
  const { clock, resolver, domainData, own, allowPrivate } = deps;
  const { egresses, port } = smtp;
  const classifier = createClassifier();
  const mayDial = (ip: string) => routable(ip, { allowPrivate, own });
  const owners = hostOwners(domainData);
  const mailbox = createMailboxCheck({
    clock,
    random: randomInt,
    classify: countingUncertain(classifier, deps),
    mayDial,
    ...owners,
    port,
    egresses,
    connectionsPerHost: smtp.connectionsPerHost,
    ratePerOperator: smtp.ratePerOperator,
    breakerSeconds: smtp.breakerSeconds,
    ownIps: [...own],
    anyHelo: allowPrivate,
    sharedRates,
    probeProxy: (egress, reached) => probeProxy({ clock, resolver, mayDial, port, egress }, reached, closing.signal),
    askOperator(operator, egress) {
      const asked = { operator, domains: domainsOfOperator(operator, domainData()), egress };
      askOperator(unmonitored(), owners, asked, closing.signal).catch(warnOfFault);
    },
  });
  const closing = new AbortController();
  /** Our own questions are asked whether or not the egress works. */
  const unmonitored = (): EngineDeps => ({
    clock,
    resolver,
    domainData,
    mailbox,
    allowPrivate,
    random,
    ownAddresses: own,
  });
  const watched = monitorEgress(mailbox, {
    clock,
    owners,
    aboutOurIp: classifier.isAboutOurIp,
    stopsWhenRefused: smtp.breakerSeconds > 0,
    egresses,
    probeConnectivity: (egress) => probeConnectivity({ clock, resolver, mayDial, port, egress }, closing.signal),
    askCanaries: (egress) => askCanaries(unmonitored(), egress, closing.signal),
  });
  const close = () => {
    closing.abort();
    return mailbox.close();
  };
  const rows = () =>
    [...watched.states()].flatMap(([name, health]): readonly EgressRow[] => {
      const record = watched.records().get(name);
      if (record === undefined) return [];
      const restsForSeconds = mailbox.restsForSeconds(name);
      const state = restsForSeconds > 0 ? 'resting' : health.state;
      const day = record.shares(24);
      const breakersOpen = mailbox.breakersOpen(name);
      const { since } = health;
      const problems = problemsOf(state, day);
      return [{ name, state, since, restsForSeconds, hour: record.shares(1), day, breakersOpen, problems }];
    });
  return { mailbox, watched, rows, close };
}

function countingUncertain(classifier: Classifier, { uncertain }: SmtpDeps) {
  return (request: ReadRequest): RuleReading => {
    const reading = classifier.classify(request);
    const { rule, finding, confidence } = reading;
    if (confidence === 'high') return reading;
    const { code, enhanced } = request.reply;
    const { fingerprint, text: template } = classifier.template(request);
    uncertain.note({
      operator: request.operator ?? OTHER_OPERATORS,
      fingerprint,
      code,
      enhanced,
      template,
      rule,
      finding,
    });
    return reading;
  };
}

const NOT_CONFIGURED: SmtpEvidence = {
  ...resultWithoutDialogue('host', 'smtp_unverifiable', 'egress.no_helo_name'),
  attempts: [],
  transcript: { lines: [] },
};

/** Used when this host has no EHLO name. */
const NO_SMTP_CHECK: MailboxQuestion = {
  check: () => Promise.resolve({ smtp: NOT_CONFIGURED, catchAll: CATCH_ALL_SKIPPED }),
};
