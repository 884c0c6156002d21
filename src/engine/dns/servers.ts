/** The DNS servers to use, from an option or from the system; the order of queries to them, retries and timeouts. */
import { getServers } from 'node:dns';
import type { Clock } from '../../kernel/clock.ts';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import { DNS_PORT } from '../../kernel/facts/limits.ts';
import { parseHostPort } from '../../kernel/ip.ts';
import { LinkedList } from '../../kernel/linked-list.ts';
import type { DnsFailure } from '../evidence.ts';
import { type DnsQuestion, type DnsReply, isDistrust } from './message.ts';
import { createDnsTransport, type DnsServer, type DnsTransport, type QueryOutcome } from './transport.ts';
import { type CheckedTransport, createCheckedTransport, type TrustState } from './trust.ts';

const parseServer = (text: string): DnsServer | null => parseHostPort(text, DNS_PORT);

/**
 * The servers in a comma-separated list; the default port is 53. On a fault: the first entry that is not `ip[:port]` or
 * `[ipv6][:port]`, as written.
 */
export function parseServers(text: string): { ok: true; servers: DnsServer[] } | { ok: false; entry: string } {
  const servers: DnsServer[] = [];
  for (const entry of text.split(',')) {
    const server = parseServer(entry.trim());
    if (!server) return { ok: false, entry: entry.trim() };
    servers.push(server);
  }
  return { ok: true, servers };
}

/** The system's servers (resolv.conf and its like); 127.0.0.1 when it names no usable one. */
export function systemServers(): DnsServer[] {
  const servers = getServers()
    .map(parseServer)
    .filter((server) => server !== null);
  return servers.length > 0 ? servers : [{ address: '127.0.0.1', port: DNS_PORT }];
}

export interface ServerHealth {
  readonly address: string;
  readonly port: number;
  /** They count attempts: all, with NOERROR or NXDOMAIN, timed out, failed otherwise. */
  readonly asked: number;
  readonly answered: number;
  readonly timeouts: number;
  readonly failures: number;
  /** When it last sent NOERROR or NXDOMAIN, in `Clock.elapsed()` ms; null before the first. */
  readonly lastAnswerAt: number | null;
  /** Whether it tells the truth; `unchecked` for ever without control names. */
  readonly trust: TrustState;
}

interface AskTime {
  /** All attempts together have this budget. */
  readonly budgetMs: number;
  /** The caller's remaining time: the shorter, the sooner the next server is tried. */
  readonly paceMs: number;
  /** How much longer than usual an attempt stays open for a late reply. */
  readonly extraWaitMs: number;
}

/** Each server gets this many attempts when none answers. */
const ROUNDS = 2;

/** When attempts fail differently, the first of these is reported: it says most about the name. */
const MOST_INFORMATIVE: readonly DnsFailure[] = [
  'servfail',
  'malformed',
  'timeout',
  'refused',
  'unconfirmed',
  'answers_every_name',
  'denies_every_name',
  'network',
];

const moreInformative = (a: DnsFailure | null, b: DnsFailure): DnsFailure =>
  a !== null && MOST_INFORMATIVE.indexOf(a) < MOST_INFORMATIVE.indexOf(b) ? a : b;

/**
 * Milliseconds between the starts of two attempts. Attempts overlap, so that all of them fit into the budget with their
 * full timeout: with two servers, 2 s per attempt and 5 s in total, one starts every second.
 */
export function attemptInterval(tries: number, timeoutMs: number, ms: number): number {
  return Math.min(timeoutMs, Math.max(ms - timeoutMs, ms / 2) / Math.max(1, tries - 1));
}

interface PoolMember {
  readonly server: DnsServer;
  readonly transport: DnsTransport;
  /** The checked transport is null without control names. */
  readonly checked: CheckedTransport | null;
  asked: number;
  answered: number;
  timeouts: number;
  failures: number;
  lastAnswerAt: number | null;
}

export interface TrustChange {
  readonly server: DnsServer;
  readonly from: TrustState;
  readonly to: TrustState;
}

function transportTo(
  server: DnsServer,
  { onTrust, ...options }: Parameters<typeof createServerPool>[0],
): Pick<PoolMember, 'transport' | 'checked'> {
  const transport = createDnsTransport(server);
  if (options.controls.length === 0) return { transport, checked: null };
  const onChange = (from: TrustState, to: TrustState) => onTrust({ server, from, to });
  const checked = createCheckedTransport(transport, { ...options, onChange });
  return { transport: checked, checked };
}

const isDistrusted = ({ checked }: PoolMember): boolean => checked !== null && isDistrust(checked.trust());

export function createServerPool(options: {
  servers: readonly DnsServer[];
  /** One attempt has this time. */
  timeoutMs: number;
  clock: Clock;
  /** Runs at each NOERROR or NXDOMAIN. */
  onAnswer: (question: DnsQuestion, reply: DnsReply) => void;
  /** Control names; empty: every reply is believed. */
  controls: readonly DnsQuestion[];
  /** See Trust. */
  laboratory: boolean;
  onTrust: (change: TrustChange) => void;
}) {
  const members: PoolMember[] = options.servers.map((server) => ({
    server,
    ...transportTo(server, options),
    asked: 0,
    answered: 0,
    timeouts: 0,
    failures: 0,
    lastAnswerAt: null,
  }));
  const running = new LinkedList<() => void>();
  // The server that answered last is tried first, so that a dead one costs its delay once, not with every query.
  let first = 0;
  let closed = false;

  function count(member: PoolMember, question: DnsQuestion, outcome: QueryOutcome): void {
    if (outcome.kind === 'reply') {
      member.answered++;
      member.lastAnswerAt = options.clock.elapsed();
      first = members.indexOf(member);
      options.onAnswer(question, outcome.reply);
    } else if (outcome.kind === 'timeout') member.timeouts++;
    else member.failures++;
  }

  /** Returns the server that answered last, then the others; those with false answers come at the end. */
  function inOrder(): readonly PoolMember[] {
    const order = first === 0 ? members : [...members.slice(first), ...members.slice(0, first)];
    if (members.length === 1 || !members.some(isDistrusted)) return order;
    return [...order.filter((member) => !isDistrusted(member)), ...order.filter(isDistrusted)];
  }

  function ask(question: DnsQuestion, time: AskTime, done: (outcome: QueryOutcome) => void): void {
    if (closed) {
      queueMicrotask(contain(warnOfFault, () => done({ kind: 'network' })));
      return;
    }
    const tries = members.length * ROUNDS;
    const order = inOrder();
    const intervalMs = attemptInterval(tries, options.timeoutMs, Math.min(time.budgetMs, time.paceMs));
    // One or a few: an array takes less than a Set, which every query would allocate.
    const open: (() => void)[] = [];
    let begun = 0;
    let worst: DnsFailure | null = null;
    const endsAt = options.clock.elapsed() + time.budgetMs;
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;

    function finish(outcome: QueryOutcome): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      running.remove(place);
      for (const cancel of open) cancel();
      open.length = 0;
      done(outcome);
    }
    function begin(): void {
      const member = order[begun++ % order.length];
      if (member === undefined) return;
      member.asked++;
      const onOutcome = (outcome: QueryOutcome) => {
        const at = open.indexOf(cancel);
        if (at < 0) return;
        open.splice(at, 1);
        count(member, question, outcome);
        if (outcome.kind === 'reply') return finish(outcome);
        worst = moreInformative(worst, outcome.kind);
        if (begun < tries) begin();
        else if (open.length === 0) finish({ kind: worst });
      };
      const cancel = member.transport.ask(question, options.timeoutMs + time.extraWaitMs, contain(onFault, onOutcome));
      open.push(cancel);
      arm();
    }
    function onFault(fault: unknown): void {
      warnOfFault(fault);
      finish({ kind: 'network' });
    }
    /** One timer serves for the next attempt, or for the end. */
    function arm(): void {
      clearTimeout(timer);
      const left = Math.max(0, endsAt - options.clock.elapsed());
      const isNext = begun < tries && intervalMs < left;
      timer = setTimeout(contain(onFault, isNext ? begin : giveUp), isNext ? intervalMs : left);
    }
    const giveUp = (): void => finish({ kind: moreInformative(worst, 'timeout') });
    const shut = (): void => finish({ kind: 'network' });
    const place = running.add(shut);
    begin();
  }

  return {
    /** Queries servers until one answers. `done` is called exactly once, never synchronously. */
    ask,
    /** Sends control queries to the servers that were not checked yet. */
    check: () => {
      for (const { checked } of closed ? [] : members) checked?.check();
    },
    health: () =>
      members.map(({ server, transport: _, checked, ...counters }) => ({
        ...server,
        ...counters,
        trust: checked?.trust() ?? 'unchecked',
      })),
    /** Pending queries settle with `network`. */
    close: () => {
      closed = true;
      for (const { value: shut } of [...running]) shut();
      for (const { transport } of members) transport.close();
    },
  };
}
