import { type Element, elementsOf, hasNoun, isEmail, isNegation, negate, phraseFor, subjectOf } from './elements.ts';
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

/** Reads the clauses of a text. */
export function clausesOf(segments: readonly Segment[]): readonly Clause[] {
  const clauses: Clause[] = [];
  let before: Before = { phrase: null, open: false };
  segments.forEach((segment, index) => {
    if (segment.before === 'stop') before = { phrase: null, open: false };
    for (const part of partsOf(segment)) {
      const colon = segments[index + 1]?.before === 'colon';
      const elements = elementsOf(part, colon);
      negate(elements);
      const found = read(elements, before, colon);
      nameLater(clauses, elements);
      clauses.push(...found);
      const phrases = elements.filter(({ kind, oblique }) => kind === 'phrase' && !oblique);
      const phrase = phrases.find((one) => ['sender', 'client'].includes(subjectOf(one))) ?? phrases[0] ?? null;
      if (phrase !== null) before = { phrase, open: found.length === 0 };
      else if (found.length > 0) before = { ...before, open: false };
    }
    // "host mx.example.com[192.0.2.1] said: …" quotes another server.
    if (segment.tokens.at(-1)?.text === 'said') before = { phrase: null, open: false };
  });
  return clauses;
}

/** "Address verification failed: verify@…": what follows the colon says whose address. */
function nameLater(clauses: Clause[], elements: readonly Element[]): void {
  const [last, [only, ...others]] = [clauses.at(-1), elements];
  if (
    last === undefined ||
    !(last.general || last.subject === 'domain') ||
    only?.kind !== 'phrase' ||
    others.length > 0
  )
    return;
  const subject = subjectOf(only);
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
      /^(?:as|open|local|rcpthosts|non|not|cannot)\b/.test(tokens[0]?.text ?? ''),
  );
const REFUSING: ReadonlySet<Word> = new Set<Word>(['refused', 'declines', 'failed', 'auth', 'absent', 'disabled']);

const OURS = /^@(?:sender|us|ourip)\b/;
const isMessage = (one: Element): boolean => one.kind === 'phrase' && subjectOf(one) === 'message' && !one.oblique;

/** Whether a negated word stands in front of an unknown word and a user. */
function isKindOfUser(elements: readonly Element[], at: number): boolean {
  const [before, gap, noun] = [elements[at - 1], elements[at + 1], elements[at + 2]];
  return (
    before?.kind === 'not' &&
    gap?.kind === 'gap' &&
    noun?.kind === 'phrase' &&
    !noun.oblique &&
    subjectOf(noun) === 'recipient' &&
    !noun.tokens.every(({ text }) => text.startsWith('@'))
  );
}

function read(elements: readonly Element[], before: Before, colon: boolean): Clause[] {
  const clauses: Clause[] = [];
  if (!elements.some(({ kind }) => kind === 'word' || isNegation(kind))) return clauses;
  const has = (word: Word): boolean => elements.some((one) => one.word === word && !one.dropped);
  const named = new Set(elements.filter(({ kind }) => kind === 'phrase').map(subjectOf));
  const many = has('too_many');
  const asked = many && elements.some(({ word, negated }) => word === 'absent' || (word === 'exists' && negated));
  // "no user here will get your mail" tells what happens to the message, not who is there.
  const nobodyGets = elements.some(
    ({ kind }, at) => kind === 'none' && elements[at + 1]?.kind === 'phrase' && elements.slice(at + 2).some(isMessage),
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
    let subject: Subject = about === null ? 'none' : subjectOf(about);
    // A message is not missing where none was sent yet: "email does not exist".
    if (one.word === 'exists' && phrase !== null && isEmail(phrase)) subject = 'recipient';
    if (
      before.open &&
      (subject === 'recipient' || subject === 'domain') &&
      before.phrase !== null &&
      !(phrase !== null && hasNoun(phrase.nouns, 'recipient'))
    ) {
      const earlier = subjectOf(before.phrase);
      if (earlier === 'sender' || earlier === 'client') subject = earlier;
    }
    if (one.word === 'exceeded') {
      if (named.has('count') || named.has('sender') || named.has('client') || named.has('you')) subject = 'count';
      else if (named.has('quota') || subject === 'quota') [subject, predicate] = ['quota', 'full'];
      else return;
    }
    if (predicate === 'relay' && !refusesRelay(elements)) return;
    const said = one.tokens[0]?.text ?? '';
    // "temporarily locked"
    if (predicate === 'disabled' && has('passing') && said.startsWith('lock')) return;
    // "recipient not accepted" is what servers say of any refusal.
    if (predicate === 'declines' && said === 'accepted') predicate = 'refused';
    if (predicate === 'refused' || predicate === 'declines') {
      const agent = elements.find((el) => el.agent && subjectOf(el) === 'recipient');
      if (agent !== undefined) [subject, predicate] = ['recipient', 'declines'];
      else if (subject === 'recipient' && (named.has('message') || named.has('you') || named.has('sender'))) {
        predicate = 'declines';
      }
      const accepting = one.word === 'accepts' || (one.word === 'allowed' && said === 'accepted');
      if (subject === 'domain' && accepting && !named.has('sender') && !named.has('client')) {
        predicate = named.has('you') ? 'declines' : 'not_hosted';
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
      if (next?.kind === 'phrase' && next.tokens.every(({ text }) => OURS.test(text))) subject = subjectOf(next);
    }
    // "your return address has no mailbox"
    if (predicate === 'absent' && subject === 'recipient') {
      if (named.has('sender')) subject = 'sender';
      else if (named.has('client')) subject = 'client';
    }
    if (phrase === null && STANDS_ALONE.has(predicate)) subject = 'none';
    const words = phrase === null ? one.tokens : [...phrase.tokens, ...one.tokens];
    clauses.push({ subject, predicate, general: colon && at >= elements.length - 2, words });
  });
  return clauses;
}
