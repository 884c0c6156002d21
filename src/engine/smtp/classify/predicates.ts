import { NOUNS, type Noun, type Statement, type Word } from './slots.ts';

/** What a clause is about: a noun, whose `user` counts as the recipient; `none` if it does not say. */
export type Subject = Exclude<Noun, 'user'> | 'none';
export const SUBJECTS: readonly Subject[] = [...NOUNS.filter((noun) => noun !== 'user'), 'none'];

/** What a clause says, negations resolved: "not found" is `absent`, "not verified" is `unverified`. */
export type Predicate = Statement | 'unverified';

/** A polar word with a negation; `plain`: without one. Null: says nothing. */
interface Polarity {
  readonly plain: Predicate | null;
  readonly negated: Predicate | null;
}
const same = (predicate: Predicate): Polarity => ({ plain: predicate, negated: null });
const onlyNegated = (negated: Predicate | null): Polarity => ({ plain: null, negated });

export const POLARITY: Readonly<Record<Word, Polarity>> = {
  absent: same('absent'),
  disabled: same('disabled'),
  full: same('full'),
  unavailable: same('unavailable'),
  refused: same('refused'),
  declines: same('declines'),
  demands: { plain: 'demands', negated: null },
  only: { plain: 'only', negated: null },
  listed: { plain: 'listed', negated: 'listed' },
  forged: { plain: 'forged', negated: 'forged' },
  nameless: { plain: 'nameless', negated: 'nameless' },
  spam: { plain: 'spam', negated: 'spam' },
  policy: { plain: 'policy', negated: 'policy' },
  auth: { plain: 'auth', negated: 'auth' },
  tls: { plain: 'tls', negated: 'tls' },
  relay: { plain: 'relay', negated: 'relay' },
  not_hosted: { plain: 'not_hosted', negated: 'not_hosted' },
  too_many: { plain: 'too_many', negated: null },
  too_fast: { plain: 'too_fast', negated: 'too_fast' },
  used_up: { plain: 'used_up', negated: 'used_up' },
  later: { plain: 'later', negated: 'later' },
  passing: { plain: 'passing', negated: 'passing' },
  greylisted: { plain: 'greylisted', negated: 'greylisted' },
  trouble: { plain: 'trouble', negated: 'trouble' },
  error: same('error'),
  syntax: { plain: 'syntax', negated: 'syntax' },
  sequence: { plain: 'sequence', negated: 'sequence' },
  exists: onlyNegated('absent'),
  active: onlyNegated('disabled'),
  available: onlyNegated('unavailable'),
  accepts: onlyNegated('declines'),
  allowed: onlyNegated('declines'),
  delivers: onlyNegated(null),
  verify: onlyNegated('unverified'),
  failed: { plain: 'error', negated: null },
  exceeded: { plain: 'too_fast', negated: null },
};

/** Predicates that hold without a subject; the others take the noun next to them. */
export const STANDS_ALONE: ReadonlySet<Predicate> = new Set<Predicate>([
  'only',
  'listed',
  'forged',
  'nameless',
  'spam',
  'policy',
  'auth',
  'tls',
  'relay',
  'not_hosted',
  'used_up',
  'later',
  'passing',
  'greylisted',
  'syntax',
  'sequence',
]);
/** What a supposition ("if the user does not exist") does not assert. */
export const ASSERTED: ReadonlySet<Predicate> = new Set<Predicate>([
  'absent',
  'disabled',
  'full',
  'unavailable',
  'unverified',
  'not_hosted',
]);
/** What advice ("please check that your policy allows it") does not assert either. */
export const NOT_ADVICE: ReadonlySet<Predicate> = new Set<Predicate>([
  ...ASSERTED,
  'refused',
  'later',
  'passing',
  'policy',
  'trouble',
  'error',
  'too_many',
  'too_fast',
  'relay',
  'syntax',
  'sequence',
]);
