/** Runs the dns stage: with questions that are waited for, or with what the cache holds. */
import type { Clock } from '../../kernel/clock.ts';
import type { DnsEvidence } from '../evidence.ts';
import type { Question } from './message.ts';
import type { Stage } from './mx.ts';
import type { DnsAnswer } from './records.ts';
import { ASK_MS, type Limit, type Resolver } from './resolver.ts';

/** Once one address is there, milliseconds that the other look-ups of the same group are still waited for. */
const GRACE_MS = 1500;
/** Milliseconds of waiting after which it is asked, meanwhile, whether the resolver lives at all. */
const DOUBT_MS = 1000;

const TIMEOUT: DnsAnswer = { kind: 'timeout' };

const failed = ({ kind }: DnsAnswer): boolean => kind !== 'records' && kind !== 'nodata' && kind !== 'nxdomain';

/**
 * Answers the stage's questions with `ask`; never rejects. Silence costs at most 5 s over the whole stage: time that
 * ended in a timeout is taken off what later questions may wait. When questions failed and no finding came of the others,
 * `dns_failure` says that the resolver answers meanwhile, so that it is this domain's servers that fail;
 * `resolver_unavailable` that nobody is answered, or that the caller has gone.
 */
export async function runStage(
  stage: Stage,
  resolver: Resolver,
  limit: Limit & { clock: Clock },
): Promise<DnsEvidence> {
  const { clock, signal } = limit;
  let patience = ASK_MS;
  // Asked once, when the first questions fail; what fails after them shares its time.
  const asked: { alive: Promise<boolean> | null } = { alive: null };
  let troubled = false;
  let step = stage.next();
  while (!step.done) {
    const since = clock.elapsed();
    const doubt = (): Promise<boolean> => {
      asked.alive ??= resolver.alive({ deadline: Math.min(limit.deadline, since + ASK_MS), since });
      return asked.alive;
    };
    const deadline = Math.min(limit.deadline, since + patience);
    const answers = await askTogether(step.value, resolver, { deadline, clock, signal, doubt });
    troubled ||= answers.some(failed);
    if (troubled) void doubt();
    else asked.alive = null;
    if (answers.some(({ kind }) => kind === 'timeout')) patience -= clock.elapsed() - since;
    step = stage.next(answers);
  }
  if (step.value.finding !== 'dns_failure') return step.value;
  const theirs = !signal?.aborted && (await asked.alive) === true;
  return theirs ? step.value : { ...step.value, finding: 'resolver_unavailable' };
}

/** The evidence when everything it takes is in the cache; null at the first question that is not. */
export function runStageNow(stage: Stage, resolver: Resolver): DnsEvidence | null {
  let step = stage.next();
  while (!step.done) {
    const answers: DnsAnswer[] = [];
    for (const { name, type } of step.value) {
      const answer = resolver.peek(name, type);
      if (answer === undefined) return null;
      answers.push(answer);
    }
    step = stage.next(answers);
  }
  return step.value;
}

interface Together {
  readonly deadline: number;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Called when the answers take long. */
  readonly doubt: () => unknown;
}

/** Asks all questions at once. Those that keep the others waiting for more than the grace count as timed out. */
function askTogether(questions: readonly Question[], resolver: Resolver, how: Together): Promise<DnsAnswer[]> {
  const answers = questions.map(() => TIMEOUT);
  const limit = how.signal ? { deadline: how.deadline, signal: how.signal } : { deadline: how.deadline };
  let open = questions.length;
  let grace: NodeJS.Timeout | undefined;
  // Half of a short deadline: the answer to the doubt needs time too.
  const doubtMs = Math.max(0, Math.min(DOUBT_MS, (how.deadline - how.clock.elapsed()) / 2));
  return new Promise((resolve) => {
    const doubt = setTimeout(how.doubt, doubtMs);
    const finish = (): void => {
      clearTimeout(doubt);
      clearTimeout(grace);
      resolve([...answers]);
    };
    questions.forEach(({ name, type }, i) => {
      void resolver.ask(name, type, limit).then((answer) => {
        answers[i] = answer;
        open--;
        if (open === 0) finish();
        else if (answer.kind === 'records') grace ??= setTimeout(finish, GRACE_MS);
      });
    });
  });
}
