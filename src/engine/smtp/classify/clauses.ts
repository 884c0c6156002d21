import { areHosts, type Element, elementsOf, hasNoun, isEmail, isNegation, negate, phraseFor } from './elements.ts';
import { ASSERTED, NOT_ADVICE, POLARITY, type Predicate, STANDS_ALONE, type Subject } from './predicates.ts';
import type { Word } from './slots.ts';
import type { Segment, Token } from './tokens.ts';

export interface Clause {
  readonly subject: Subject;
  readonly predicate: Predicate;
  /** "Client host rejected: …": what follows is the reason. */
  readonly general: boolean;
  /** Words of the lexicon that it was read from, in the order of the text. */
  readonly words: readonly Token[];
}

interface Before {
  /** What the segment before was about, for a predicate without a noun. */
  readonly phrase: Element | null;
  /** It named the sender or the client and said nothing of it yet: "verify@…: user unknown". */
  readonly open: boolean;
}

interface Statements {
  readonly clauses: readonly Clause[];
  /** What is named, in whatever role. */
  readonly named: ReadonlySet<Subject>;
  /** The clauses are those of another server's reply: "host a.example said: …". */
  readonly isQuoting: boolean;
}
const OF_US: ReadonlySet<Subject> = new Set<Subject>(['sender', 'client', 'you']);

/** Reads the clauses of a text. */
export function clausesOf(segments: readonly Segment[]): Statements {
  const named = new Set<Subject>();
  let quoted = 0;
  const clauses: Clause[] = [];
  const onward = onwardHosts(segments);
  let before: Before = { phrase: null, open: false };
  segments.forEach((segment, index) => {
    if (segment.before === 'stop') before = { phrase: null, open: false };
    // One segment in seven: ids, URLs, unknown words.
    const saysNothing = segment.tokens.every(({ slots: [slot = 'filler'] }) => slot === 'filler');
    for (const part of saysNothing ? [] : partsOf(segment)) {
      const colon = segments[index + 1]?.before === 'colon';
      const elements = elementsOf(part, colon, onward.has(index));
      negate(elements);
      for (const { kind, subject } of elements) if (kind === 'phrase') named.add(subject);
      const found = read(elements, before, colon);
      nameLater(clauses, elements);
      clauses.push(...found);
      const phrase = mainPhrase(elements);
      if (phrase !== null) before = { phrase, open: found.length === 0 };
      else if (found.length > 0) before = { ...before, open: false };
    }
    // "host mx.example.com[192.0.2.1] said: …" quotes another server.
    if (segment.tokens.at(-1)?.text === 'said') {
      before = { phrase: null, open: false };
      quoted = clauses.length;
    }
  });
  // What is quoted decides, not what it led to.
  const isQuoting = quoted > 0 && quoted < clauses.length;
  const kept = clauses.filter(({ subject }, at) => at >= quoted || OF_US.has(subject));
  const said = isQuoting ? kept : clauses;
  // "cannot receive mail, only send": an exception, wherever it stands.
  const isOnly = said.some(({ predicate }) => predicate === 'only');
  return { clauses: isOnly ? said.map(exceptional) : said, named, isQuoting };
}

/**
 * The segments that name a host that the server itself turned to: "connect to a.example[10.0.0.5]:25: Connection
 * refused", "host a.example[10.0.0.5] said: …", and all of those before "could not complete recipient verify callout".
 */
function onwardHosts(segments: readonly Segment[]): ReadonlySet<number> {
  const onward = new Set<number>();
  segments.forEach(({ tokens }, at) => {
    const toward = tokens.find(({ slots }) => slots.includes('toward'));
    if (toward !== undefined) {
      const from = toward.slots.includes('verify') ? 0 : at + 1;
      for (let i = from; i < segments.length && (i < at || areHosts(segments[i]?.tokens ?? [])); i++) onward.add(i);
    }
    const quotes = tokens.findIndex(({ text }) => text === 'said' || text === 'refused to talk');
    if (quotes >= 0 && areHosts(tokens.slice(0, quotes))) {
      onward.add(at);
      for (let i = at - 1; i >= 0 && areHosts(segments[i]?.tokens ?? []); i--) onward.add(i);
    }
  });
  return onward;
}

/** The sender or the client if one is named, else what is named first. */
function mainPhrase(elements: readonly Element[]): Element | null {
  let first: Element | null = null;
  for (const one of elements) {
    if (one.kind !== 'phrase' || one.oblique) continue;
    if (one.subject === 'sender' || one.subject === 'client') return one;
    first ??= one;
  }
  return first;
}

/** "Address verification failed: verify@…": what follows the colon says whose address. */
function nameLater(clauses: Clause[], elements: readonly Element[]): void {
  const [last, only] = [clauses.at(-1), elements[0]];
  if (
    last === undefined ||
    !(last.general || last.subject === 'domain') ||
    only?.kind !== 'phrase' ||
    elements.length > 1
  )
    return;
  const subject = only.subject;
  if (subject !== 'sender' && subject !== 'client') return;
  if (last.subject === 'recipient' || last.subject === 'domain') {
    if (!last.words.some(({ slots }) => slots.includes('recipient')))
      clauses[clauses.length - 1] = { ...last, subject };
  }
}

/** A segment, split where "because" or "but" begins another statement. */
function partsOf({ tokens }: Segment): readonly (readonly Token[])[] {
  if (!tokens.some(({ slots }) => slots[0] === 'cut')) return [tokens];
  let last: Token[] = [];
  const parts = [last];
  for (const token of tokens) {
    if (token.slots[0] === 'cut') {
      last = [];
      parts.push(last);
    } else last.push(token);
  }
  return parts;
}

/** "Relaying denied", "unable to relay", not "the relay is busy". */
const refusesRelay = (elements: readonly Element[]): boolean =>
  elements.some(
    ({ kind, word, tokens }) =>
      isNegation(kind) ||
      REFUSING.has(word ?? 'later') ||
      /^(?:as|open|local|rcpthosts|non|not|may|cannot)\b/.test(tokens[0]?.text ?? ''),
  );
const REFUSING: ReadonlySet<Word> = new Set<Word>(['refused', 'declines', 'failed', 'auth', 'absent', 'disabled']);

/** "relaying not allowed", "not allowed to relay" */
const beside = (elements: readonly Element[], at: number, word: Word): boolean =>
  elements.some((one, i) => one.word === word && Math.abs(i - at) <= 2);

/** "bandwidth quota": an unknown word in front says of what it is, and nothing that it is the recipient's. */
const isOtherQuota = (elements: readonly Element[]): boolean =>
  elements.some(
    ({ subject, tokens }, at) =>
      (subject === 'quota' || tokens[0]?.text.startsWith('quota') === true) && elements[at - 1]?.kind === 'gap',
  ) && !elements.some(({ kind, subject }) => kind === 'phrase' && subject === 'recipient');

const ABILITY = /(?:accept|receiv)\w* (?:e )?(?:mail|email|messages)$/;
const isAbility = ({ predicate, words }: Pick<Clause, 'predicate' | 'words'>): boolean =>
  predicate === 'disabled' && ABILITY.test(words.at(-1)?.text ?? '');
const exceptional = (clause: Clause): Clause => (isAbility(clause) ? { ...clause, predicate: 'declines' } : clause);
const OURS = /^@(?:sender|us|ourip)\b/;
const isMessage = (one: Element): boolean => one.kind === 'phrase' && one.subject === 'message' && !one.oblique;

/** Whether a negated word stands in front of an unknown word and a user. */
function isKindOfUser(elements: readonly Element[], at: number): boolean {
  const [before, gap, noun] = [elements[at - 1], elements[at + 1], elements[at + 2]];
  return (
    before?.kind === 'not' &&
    gap?.kind === 'gap' &&
    noun?.kind === 'phrase' &&
    !noun.oblique &&
    noun.subject === 'recipient' &&
    !noun.tokens.every(({ text }) => text.startsWith('@'))
  );
}

function read(elements: readonly Element[], before: Before, colon: boolean): Clause[] {
  const clauses: Clause[] = [];
  if (!elements.some(({ kind }) => kind === 'word' || isNegation(kind))) return clauses;
  const has = (word: Word): boolean => elements.some((one) => one.word === word && !one.dropped);
  const named = (subject: Subject): boolean => elements.some((one) => one.kind === 'phrase' && one.subject === subject);
  const many = has('too_many') || (has('exceeded') && named('count'));
  const asked = many && elements.some(({ word, negated }) => word === 'absent' || (word === 'exists' && negated));
  // "no user here will get your mail" tells what happens to the message, not who is there.
  const nobodyGets = elements.some(
    ({ kind }, at) =>
      kind === 'none' && elements[at + 1]?.kind === 'phrase' && elements.some((el, i) => i > at + 1 && isMessage(el)),
  );
  let [supposed, advised] = [false, false];
  elements.forEach((one, at) => {
    if (one.kind === 'hedge') supposed = true;
    else if (one.kind === 'advice') advised = true;
    if (one.dropped) return;
    let predicate: Predicate | null = null;
    let phrase: Element | null = null;
    if (isNegation(one.kind)) {
      if (one.negates?.kind !== 'phrase') return;
      phrase = one.negates;
      // "no room left"
      predicate = hasNoun(phrase.nouns, 'quota') ? 'full' : 'absent';
    } else if (one.word !== null) {
      const { plain, negated } = POLARITY[one.word];
      predicate = one.negated ? negated : plain;
      if (predicate === null) return;
      phrase = phraseFor(elements, at, predicate);
    } else return;
    if ((supposed && (ASSERTED.has(predicate) || predicate === 'auth')) || (advised && NOT_ADVICE.has(predicate)))
      return;
    if (many && (ASSERTED.has(predicate) || predicate === 'declines' || (asked && predicate === 'too_many'))) {
      // "too many unknown recipients": the server counts what the client asks.
      if (asked && predicate === 'too_many')
        clauses.push({ subject: 'you', predicate: 'declines', general: false, words: one.tokens });
      return;
    }
    // "not a registered gateway user": denies what kind of user it is.
    if (one.negated && isKindOfUser(elements, at)) return;
    const about = phrase ?? before.phrase;
    let subject: Subject = about === null ? 'none' : about.subject;
    // A message is not missing where none was sent yet: "email does not exist".
    if (one.word === 'exists' && phrase !== null && isEmail(phrase)) subject = 'recipient';
    if (
      before.open &&
      (subject === 'recipient' || subject === 'domain') &&
      before.phrase !== null &&
      !(phrase !== null && hasNoun(phrase.nouns, 'recipient'))
    ) {
      const earlier = before.phrase.subject;
      if (earlier === 'sender' || earlier === 'client') subject = earlier;
    }
    if (one.word === 'exceeded') {
      if (named('count') || named('sender') || named('client') || named('you')) subject = 'count';
      else if (named('quota') || subject === 'quota') [subject, predicate] = ['quota', 'full'];
      else return;
    }
    // "throttling quota exceeded": what is full is not the mailbox.
    if (predicate === 'full' && (has('too_fast') || isOtherQuota(elements))) subject = 'count';
    // "closed, but for members only"
    if (has('only') && ASSERTED.has(predicate) && (subject === 'recipient' || subject === 'domain')) {
      predicate = 'declines';
    }
    if (predicate === 'relay' && !refusesRelay(elements)) return;
    const said = one.tokens[0]?.text ?? '';
    // "temporarily locked"
    if (predicate === 'disabled' && has('passing') && said.startsWith('lock')) return;
    // "does not accept mail" holds for everybody, unless it names a sender, a message, a time or an exception.
    if (predicate === 'disabled' && ABILITY.test(said)) {
      if (has('passing') || has('later')) return;
      const more = elements.slice(at + 1).some((el) => el.kind === 'gap' || el.oblique);
      if (more || has('only') || named('sender') || named('client') || named('you')) predicate = 'declines';
    }
    // "recipient not accepted" is what servers say of any refusal.
    if (predicate === 'declines' && said === 'accepted') predicate = 'refused';
    // "<someone@example.com>: relaying not allowed", "you are not allowed to relay": said of relaying.
    if (predicate === 'declines' && one.word === 'allowed' && beside(elements, at, 'relay')) {
      if (subject === 'recipient' || subject === 'you') return;
    }
    if (predicate === 'refused' || predicate === 'declines') {
      const agent = elements.find((el) => el.agent && el.subject === 'recipient');
      if (agent !== undefined) [subject, predicate] = ['recipient', 'declines'];
      else if (subject === 'recipient' && (named('message') || named('you') || named('sender'))) {
        predicate = 'declines';
      }
      const accepting = one.word === 'accepts' || (one.word === 'allowed' && said === 'accepted');
      if (subject === 'domain' && accepting && !named('sender') && !named('client')) {
        predicate = named('you') ? 'declines' : 'not_hosted';
      }
    }
    if (one.word === 'exists' && (has('policy') || has('listed') || has('spam'))) {
      // "not on the allow list": the client is missing from it.
      [subject, predicate] = [subject === 'sender' || subject === 'client' ? subject : 'you', 'declines'];
    }
    if (predicate === 'absent' && (one.negated || one.negates !== null) && nobodyGets) return;
    if (predicate === 'absent' && (subject === 'recipient' || subject === 'domain')) {
      // "domain does not exist probe.example.net"
      const next = elements[at + 1];
      if (next?.kind === 'phrase' && next.tokens.every(({ text }) => OURS.test(text))) subject = next.subject;
    }
    // "your return address has no mailbox"
    if (predicate === 'absent' && subject === 'recipient') {
      if (named('sender')) subject = 'sender';
      else if (named('client')) subject = 'client';
      // "you are not a member"
      else if (one.kind === 'not' && named('you')) subject = 'you';
    }
    if (phrase === null && STANDS_ALONE.has(predicate)) subject = 'none';
    const words = phrase === null ? one.tokens : [...phrase.tokens, ...one.tokens];
    clauses.push({ subject, predicate, general: colon && at >= elements.length - 2, words });
  });
  return clauses;
}
