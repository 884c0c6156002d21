import type { Clause } from './clauses.ts';
import type { Reading, RuleId } from './decide.ts';
import { CLASSES, type Class, isDead, type Prediction } from './model.ts';
import type { Predicate, Subject } from './predicates.ts';
import { isBadFinding } from './weigh.ts';

/**
 * Probabilities that the mailbox cannot be reached: from `dead` on, the model says so of a reply that no rule reads, or
 * only a weak one; from `wordless` on, if no known word denies or refuses anything; from `sure` on, against a refusal
 * or a rule that names nobody, and of a reply that names an IP address. Below `doubt`, it denies what a rule says.
 * `other`: the share of a class from which it names that one. Chosen on replies of sources that the model had not seen,
 * so that none about the client or the server is taken for a dead mailbox (docs/classification.md).
 */
export const THRESHOLDS = { dead: 0.7, wordless: 0.8, sure: 0.95, doubt: 0.2, other: 0.5 } as const;

const RULE_OF: Readonly<Record<Class, RuleId>> = {
  not_found: 'model.not-found',
  disabled: 'model.disabled',
  full: 'model.full',
  domain: 'model.domain',
  blocked: 'model.blocked',
  rate: 'model.rate',
  greylisted: 'model.temporary',
  temporary: 'model.temporary',
  syntax: 'model.syntax',
  other: 'model.other',
};

/** Rules that are sure, but not of whom: a limit, a refusal, trouble, a syntax. */
const OF_NOBODY: ReadonlySet<string> = new Set<RuleId>([
  'rate.limited',
  'us.message-refused',
  'remote.trouble',
  'remote.later',
  'protocol.syntax',
]);

/** How sure the rules are. `none`: none matched. `nobody`: they are sure, or it is a refusal, but not of whom. */
export type Certainty = 'bad' | 'none' | 'weak' | 'nobody' | 'sure';

export function certaintyOf({ rule, finding, matched, confidence, meaning }: Reading): Certainty {
  if (isBadFinding(finding)) return 'bad';
  if (!matched) return 'none';
  if (confidence === 'low') return meaning.startsWith('us_') ? 'nobody' : 'weak';
  return OF_NOBODY.has(rule) ? 'nobody' : 'sure';
}

/** What a reply says, as far as it bears on whether the model may call its mailbox dead. */
export interface Said {
  readonly named: ReadonlySet<Subject>;
  readonly clauses: readonly Pick<Clause, 'subject' | 'predicate'>[];
  /** Some word denies, refuses or misses something. */
  readonly denies: boolean;
}

const OTHERS: readonly Subject[] = ['sender', 'you', 'group', 'count'];
const NOT_MAILBOXES: ReadonlySet<Subject> = new Set<Subject>([...OTHERS, 'server', 'message', 'client']);
const STATES: ReadonlySet<Predicate> = new Set<Predicate>(['disabled', 'full']);

/** Whether a reply is of somebody else: it names the sender, or says that something else than a mailbox is closed. */
const isOfOthers = ({ named, clauses }: Said): boolean =>
  OTHERS.some((one) => named.has(one)) ||
  clauses.some(({ subject, predicate }) => NOT_MAILBOXES.has(subject) && STATES.has(predicate));

/** What the model decides about a reply that the rules read with this certainty; null: it leaves that alone. */
export function opinionOf({ classes, dead }: Prediction, certainty: Certainty, said: Said): RuleId | null {
  const shareOf = (name: Class): number => classes[CLASSES.indexOf(name)] ?? 0;
  const likeliest = (fits: (name: Class) => boolean): Class =>
    CLASSES.filter(fits).reduce((best, name) => (shareOf(name) > shareOf(best) ? name : best));
  const alive = likeliest((name) => !isDead(name));
  if (certainty === 'bad') return dead < THRESHOLDS.doubt ? RULE_OF[alive] : null;
  if (certainty === 'sure' || (dead >= THRESHOLDS.dead && isOfOthers(said))) return null;
  const isDoubtful = certainty === 'nobody' || said.named.has('client');
  const needed = isDoubtful ? THRESHOLDS.sure : said.denies ? THRESHOLDS.dead : THRESHOLDS.wordless;
  if (dead >= needed) return RULE_OF[likeliest(isDead)];
  const names = alive !== 'other' && certainty !== 'nobody' && shareOf(alive) >= THRESHOLDS.other;
  return names ? RULE_OF[alive] : null;
}
