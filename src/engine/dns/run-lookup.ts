/** Runs an MX lookup: by querying the resolver, or from its cache alone. */
import type { Clock } from '../../kernel/clock.ts';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import type { DnsEvidence } from '../evidence.ts';
import type { Question } from './message.ts';
import { lookUpMailServers, type MxLookup, type MxLookupOptions } from './mx-lookup.ts';
import { type DnsAnswer, isUntrusted, type Untrusted } from './records.ts';
import { ASK_MS, type Limit, type Resolver } from './resolver.ts';

/** Milliseconds to wait for the other lookups of a batch once one address has arrived. */
const GRACE_MS = 1500;
/** Milliseconds of waiting after which the resolver's liveness is probed in parallel. */
const LIVENESS_PROBE_AFTER_MS = 1000;

const TIMEOUT: DnsAnswer = { kind: 'timeout' };

const failed = ({ kind }: DnsAnswer): boolean => kind !== 'records' && kind !== 'nodata' && kind !== 'nxdomain';

/**
 * Runs the lookup with `resolver.ask`; rejects only with a fault of ours. Timeouts cost at most 5 s in total, and the
 * caller's patience as long as the resolver is alive: time spent on one is subtracted from what later queries may wait.
 * If queries failed and the others were inconclusive, `dns_failure` means that the resolver is alive, so this domain's
 * servers are failing; `resolver_unavailable` that it is not, that it lies, or that the caller disconnected.
 */
export async function runLookup(
  lookup: MxLookup,
  resolver: Resolver,
  limit: Limit & { clock: Clock },
): Promise<DnsEvidence> {
  const { clock, signal } = limit;
  let remainingMs = ASK_MS;
  let patienceMs = limit.patienceMs ?? 0;
  // Probed once, when the first queries fail; later failures share the result.
  const asked: { alive: Promise<boolean> | null } = { alive: null };
  let hadFailure = false;
  let untrusted: Untrusted | null = null;
  let step = lookup.next();
  while (!step.done) {
    // Most hosts are known already: nothing to wait for, nor to time.
    const cached = answersFromCache(step.value, resolver);
    if (cached !== null) {
      step = lookup.next(cached.map(({ answer }) => answer));
      continue;
    }
    const since = clock.elapsed();
    const probeLiveness = (): Promise<boolean> => {
      asked.alive ??= resolver.alive({ deadline: Math.min(limit.deadline, since + ASK_MS), since }).then(
        (isAlive) => {
          // A resolver that is silent for everybody is not waited for any longer.
          if (!isAlive) patienceMs = 0;
          return isAlive;
        },
        (fault: unknown) => {
          warnOfFault(fault);
          return false;
        },
      );
      return asked.alive;
    };
    const usualDeadline = Math.min(limit.deadline, since + remainingMs);
    const deadline = Math.min(limit.deadline, since + remainingMs + patienceMs);
    const how = { deadline, usualDeadline, patienceMs, clock, signal, probeLiveness };
    const answers = await askBatch(step.value, resolver, how);
    hadFailure ||= answers.some(failed);
    for (const { kind } of answers) untrusted = isUntrusted(kind) ? kind : untrusted;
    asked.alive = hadFailure ? probeLiveness() : null;
    if (answers.some(({ kind }) => kind === 'timeout')) {
      remainingMs -= clock.elapsed() - since;
      patienceMs = Math.max(0, patienceMs + Math.min(0, remainingMs));
      remainingMs = Math.max(0, remainingMs);
    }
    step = lookup.next(answers);
  }
  if (step.value.finding !== 'dns_failure') return step.value;
  if (untrusted !== null) return { ...step.value, finding: 'resolver_unavailable', failure: untrusted };
  const theirs = !signal?.aborted && (await asked.alive) === true;
  return theirs ? step.value : { ...step.value, finding: 'resolver_unavailable' };
}

type Answered = Question & { readonly answer: DnsAnswer };

/** Evidence that the cache gave, and what it was made of. */
interface Known {
  readonly options: MxLookupOptions;
  readonly used: readonly Answered[];
  readonly evidence: DnsEvidence;
}

/** By the lists, so that replaced ones are not kept, and by the answer about the domain. */
const known = new WeakMap<MxLookupOptions['lists'], WeakMap<DnsAnswer, Known>>();

/**
 * The evidence if everything is cached; null at the first miss. For the same answers it is made once, so hosts of equal
 * preference keep their order meanwhile.
 */
export function lookUpFromCache(domain: string, options: MxLookupOptions, resolver: Resolver): DnsEvidence | null {
  const mx = resolver.peek(domain, 'MX');
  if (mx === undefined) return null;
  const ofLists = known.get(options.lists) ?? new WeakMap<DnsAnswer, Known>();
  const before = ofLists.get(mx);
  if (before !== undefined && isCurrent(before, options, resolver)) return before.evidence;
  const used: Answered[] = [];
  const lookup = lookUpMailServers(domain, options);
  let step = lookup.next();
  while (!step.done) {
    const answers = answersFromCache(step.value, resolver);
    if (answers === null) return null;
    // The answer about the domain is the one by which this is found.
    used.push(...answers.filter(({ answer }) => answer !== mx));
    step = lookup.next(answers.map(({ answer }) => answer));
  }
  known.set(options.lists, ofLists.set(mx, { options, used, evidence: step.value }));
  return step.value;
}

const isCurrent = ({ options: by, used }: Known, options: MxLookupOptions, resolver: Resolver): boolean =>
  by.hostsWanted === options.hostsWanted &&
  by.own === options.own &&
  by.allowPrivate === options.allowPrivate &&
  used.every(({ name, type, answer }) => resolver.peek(name, type) === answer);

/** Null at the first miss. */
function answersFromCache(questions: readonly Question[], resolver: Resolver): Answered[] | null {
  const answers: Answered[] = [];
  for (const { name, type } of questions) {
    const answer = resolver.peek(name, type);
    if (answer === undefined) return null;
    answers.push({ name, type, answer });
  }
  return answers;
}

interface BatchOptions {
  readonly deadline: number;
  /** The deadline without the caller's patience, which is not for a resolver that is silent for everybody. */
  readonly usualDeadline: number;
  readonly patienceMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Called when the answers are slow. */
  readonly probeLiveness: () => Promise<boolean>;
}

/** Sends all queries at once. Those that exceed the grace period count as timed out. */
function askBatch(questions: readonly Question[], resolver: Resolver, how: BatchOptions): Promise<DnsAnswer[]> {
  const answers = questions.map(() => TIMEOUT);
  const { deadline, patienceMs, signal } = how;
  const limit = signal ? { deadline, patienceMs, signal } : { deadline, patienceMs };
  let open = questions.length;
  let grace: NodeJS.Timeout | undefined;
  let usualEnd: NodeJS.Timeout | undefined;
  // Half of a short deadline: the liveness probe needs time too.
  const doubtMs = Math.max(0, Math.min(LIVENESS_PROBE_AFTER_MS, (how.deadline - how.clock.elapsed()) / 2));
  return new Promise((resolve, reject) => {
    let done = false;
    const giveUpUnless = (isAlive: boolean): void => {
      if (isAlive || done || patienceMs === 0) return;
      usualEnd = setTimeout(finish, Math.max(0, how.usualDeadline - how.clock.elapsed()));
    };
    const doubt = (): void => {
      how.probeLiveness().then(contain(reject, giveUpUnless), reject);
    };
    const probeLiveness = setTimeout(contain(reject, doubt), doubtMs);
    const finish = contain(reject, (): void => {
      done = true;
      clearTimeout(probeLiveness);
      clearTimeout(grace);
      clearTimeout(usualEnd);
      resolve([...answers]);
    });
    const fail = (fault: unknown): void => {
      clearTimeout(probeLiveness);
      reject(fault);
    };
    questions.forEach(({ name, type }, i) => {
      const onAnswer = (answer: DnsAnswer): void => {
        answers[i] = answer;
        open--;
        if (open === 0) finish();
        else if (answer.kind === 'records') grace ??= setTimeout(finish, GRACE_MS);
      };
      resolver.ask(name, type, limit).then(contain(fail, onAnswer), fail);
    });
  });
}
