/** What a reply can speak of. `user` and `domain` are the recipient's unless the words around say otherwise. */
export const NOUNS = [
  'recipient',
  'user',
  'domain',
  'sender',
  'client',
  'you',
  'message',
  'server',
  /** A mailing list or a group of recipients: closed, it still exists. */
  'group',
  /** Storage that fills up. */
  'quota',
  /** What is counted per connection, hour or day. */
  'count',
] as const;
export type Noun = (typeof NOUNS)[number];

/** What can be said of it; a clause says the same (predicates.ts). */
const STATEMENTS = [
  'absent',
  'disabled',
  'full',
  'unavailable',
  'refused',
  'declines',
  /** "must", "requires", "needs": what the asker has to do or to have. */
  'demands',
  /** "members only" */
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
  'too_many',
  'too_fast',
  'used_up',
  'later',
  'passing',
  'greylisted',
  'trouble',
  'error',
  'syntax',
  'sequence',
] as const;
export type Statement = (typeof STATEMENTS)[number];

/** What means something only with a negation or together with another word. */
const POLAR = [
  'exists',
  'active',
  'available',
  'accepts',
  'allowed',
  'delivers',
  'verify',
  'failed',
  'exceeded',
] as const;
export type Word = Statement | (typeof POLAR)[number];

/** Words that connect the others. */
const GLUE = [
  /** Negates a predicate next to it, or a noun: "not found", "nicht gefunden", "not a user". */
  'not',
  /** Negates the noun after it: "no such", "kein". */
  'none',
  /** The same for a noun that the lexicon may not have: "no such student", "kein solcher". */
  'such',
  /** Denies the existence of the noun next to it, also at the end: "нет", "yok", "ありません". */
  'lacks',
  /** Makes the segment a supposition: "if", "may". */
  'hedge',
  /** Joins two nouns into one phrase: "domain of the sender". */
  'of',
  /** Introduces the one who did it. */
  'by',
  /** Introduces what the server itself turned to: "connect to". */
  'toward',
  /** Introduces a noun that is not what the sentence is about: "in the directory". */
  'prep',
  /** Says nothing. */
  'filler',
  /** Ends what went before: "because". */
  'cut',
  /** Begins a segment that gives advice: "please check". */
  'advice',
] as const;
type Glue = (typeof GLUE)[number];

export type Slot = Noun | Word | Glue;
const SLOTS: ReadonlySet<string> = new Set([...NOUNS, ...STATEMENTS, ...POLAR, ...GLUE]);
export const isSlot = (name: string): name is Slot => SLOTS.has(name);
const NOUN_SET: ReadonlySet<string> = new Set(NOUNS);
export const isNoun = (slot: Slot): slot is Noun => NOUN_SET.has(slot);
