import {
  is,
  isNoun,
  type LexiconToken,
  NOUNS,
  type Noun,
  type Segment,
  type Statement,
  saidBy,
  type Word,
} from './lexicon.ts';

/** What a clause is about: a noun, whose `user` counts as the recipient; `none` if it does not say. */
export type Subject = Exclude<Noun, 'user'> | 'none';
export const SUBJECTS: readonly Subject[] = [...NOUNS.filter((noun) => noun !== 'user'), 'none'];

const BIT = Object.fromEntries(NOUNS.map((noun, at) => [noun, 1 << at])) as Readonly<Record<Noun, number>>;
const hasNoun = (nouns: number, noun: Noun): boolean => (nouns & BIT[noun]) !== 0;

type Negation = 'not' | 'none' | 'such' | 'lacks';
const isNegation = (kind: string): kind is Negation =>
  kind === 'not' || kind === 'none' || kind === 'such' || kind === 'lacks';

/** An element is a noun phrase, a predicate or a connecting word, in the order of the segment. */
interface Element {
  readonly kind: 'phrase' | 'word' | 'gap' | Negation | 'hedge' | 'advice';
  /** Combines bits of `BIT`. */
  nouns: number;
  /** What a phrase speaks of. */
  subject: Subject;
  readonly word: Word | null;
  readonly tokens: LexiconToken[];
  /** Introduced by a preposition: not what the clause is about. */
  readonly oblique: boolean;
  readonly agent: boolean;
  /** The server has turned to it, as in "connect to 10.0.0.5". */
  readonly onward: boolean;
  /** A preposition stands before the word, so it belongs to what follows: "mail from unknown senders". */
  readonly after: boolean;
  negated: boolean;
  dropped: boolean;
  /** A negated noun has it, as in "no such user". */
  negates: Element | null;
}

const element = (kind: Element['kind'], token: LexiconToken, more: Partial<Element> = {}): Element => ({
  kind,
  nouns: 0,
  subject: 'none',
  word: null,
  tokens: [token],
  oblique: false,
  agent: false,
  onward: false,
  after: false,
  negated: false,
  dropped: false,
  negates: null,
  ...more,
});

const isPlaceholder = ({ text }: LexiconToken): boolean => text.startsWith('@');
/** An address or a name alone, as servers put them behind anything they say. */
const isEcho = (one: Element | undefined): one is Element => one?.kind === 'phrase' && one.tokens.every(isPlaceholder);

/** An address or a name that is not known to be ours. */
const isAnyHost = ({ text }: LexiconToken): boolean => /^(?:(?:host|server) )?@(?:ip|host)(?: @ip)?$/.test(text);
const areHosts = (tokens: readonly LexiconToken[]): boolean => tokens.every(isAnyHost);

/** "email content", too, although an email may be an address. */
const isMessage = ({ tokens }: Pick<Element, 'tokens'>): boolean =>
  tokens.every(({ slots }) => slots.includes('message'));

/** Splits a segment's tokens into phrases and words; fillers vanish. */
function elementsOf(tokens: readonly LexiconToken[], colon: boolean, isOnward: boolean): Element[] {
  const elements: Element[] = [];
  let open: Element | null = null;
  let joined = false;
  let [oblique, agent, onward, from] = [false, false, isOnward, false];
  for (const token of tokens) {
    if (token.slots.length === 0) {
      // "no such student": at RCPT nothing else is looked for than the recipient.
      const looked = elements.at(-1)?.kind === 'such';
      if (looked) elements.push(element('phrase', token, { nouns: BIT.user }));
      if (looked) continue;
      elements.push(element('gap', token));
      [open, oblique, agent] = [null, false, false];
      continue;
    }
    for (const slot of token.slots) {
      if (isNoun(slot)) {
        // "the address you sent to": another phrase.
        const pronoun = slot === 'you';
        // "message content <someone@example.com>", "your address <someone@example.com>" too.
        const address: boolean =
          isPlaceholder(token) && open !== null && (isMessage(open) || hasNoun(open.nouns, 'you'));
        if (open === null || pronoun || address || (oblique && !joined)) {
          open = element('phrase', token, { oblique, agent, onward });
          // "write from an address that we know": the sender's.
          if (from && (slot === 'user' || slot === 'domain')) open.nouns |= BIT.sender;
          elements.push(open);
        } else if (!open.tokens.includes(token)) open.tokens.push(token);
        open.nouns |= BIT[slot];
        [oblique, agent, joined, onward, from] = [false, false, false, isOnward, false];
      } else if (slot === 'filler') continue;
      else if (slot === 'toward') onward = true;
      else if (slot === 'of') joined = open !== null;
      else if (slot === 'prep' || slot === 'by') {
        [open, oblique, agent] = [null, true, slot === 'by'];
        from = token.text === 'from';
      } else if (slot === 'cut') open = null;
      else {
        const after = joined || oblique;
        [open, joined] = [null, false];
        if (isNegation(slot) || slot === 'hedge' || slot === 'advice') {
          elements.push(element(slot, token));
        } else elements.push(element('word', token, { word: slot, after }));
      }
    }
  }
  // "From: domain is invalid"
  const last = tokens.at(-1);
  if (colon && last?.text === 'from') elements.push(element('phrase', last, { nouns: BIT.sender }));
  for (const one of elements) if (one.kind === 'phrase') one.subject = subjectOf(one);
  return elements;
}

const isPolarElement = ({ kind, word }: Element): boolean =>
  kind === 'word' && word !== null && saidBy(word, false) === null;
const isNegator = (word: Word | null): boolean => word === 'failed';

/** Attaches every negation to the predicate or noun that it negates. */
function negate(elements: readonly Element[]): void {
  elements.forEach((negation, i) => {
    const { kind, word } = negation;
    if (!isNegation(kind) && !isNegator(word)) return;
    const target = negatedBy(elements, i);
    negation.negates = target;
    if (target === null || target.kind === 'phrase') return;
    target.negated = true;
    negation.dropped = word === 'failed';
  });
}

/** "nu account": letters that happen to be a negation in some language, which does not negate English nouns. */
const isOfTwoLanguages = (negation: Element | undefined, { tokens: [noun] }: Element): boolean =>
  negation?.kind === 'not' && negation.tokens[0]?.language !== 'en' && noun?.language === 'en';

/** What the negation at this place negates: a polar word after it, a noun next to it, a polar word before it. */
function negatedBy(elements: readonly Element[], at: number): Element | null {
  const kind = elements[at]?.kind ?? 'gap';
  for (let i = at + 1; i < elements.length && i <= at + 4; i++) {
    const one = elements[i];
    if (one === undefined) break;
    // "not known whether the user exists"
    if (isNegation(one.kind) || one.kind === 'hedge') break;
    if (isPolarElement(one)) return one;
    if (one.kind === 'word') break;
  }
  // "izniniz yok <someone@example.com>"
  const echoed = kind === 'lacks' && at > 0 && at + 2 === elements.length && isEcho(elements[at + 1]);
  const next = echoed ? undefined : elements[at + 1];
  if (isNegation(kind) && next?.kind === 'phrase' && !next.oblique && !isOfTwoLanguages(elements[at], next))
    return next;
  for (let i = at - 1; i >= 0 && i >= at - 3; i--) {
    const one = elements[i];
    if (one === undefined) break;
    if (isPolarElement(one)) return one;
    // "사용자가 이 서버에 없습니다": missed on the server, not the server.
    if (one.kind === 'phrase' && kind === 'lacks' && next === undefined && one.subject !== 'server') return one;
    if (one.kind === 'word' || one.kind === 'hedge') break;
  }
  return null;
}

/** What a noun phrase speaks of: "sender's address" of the sender, "recipient's domain" of the domain. */
function subjectOf({ nouns, tokens, onward }: Element): Subject {
  if (onward && areHosts(tokens)) return 'server';
  if (hasNoun(nouns, 'sender')) return 'sender';
  if (hasNoun(nouns, 'client')) return 'client';
  if (isMessage({ tokens })) return 'message';
  const someone = hasNoun(nouns, 'recipient') || hasNoun(nouns, 'user');
  if (hasNoun(nouns, 'you')) {
    if (hasNoun(nouns, 'message')) return 'message';
    if (hasNoun(nouns, 'quota')) return hasNoun(nouns, 'count') ? 'count' : 'quota';
    return hasNoun(nouns, 'recipient') ? 'recipient' : 'you';
  }
  if (hasNoun(nouns, 'count')) return 'count';
  if (hasNoun(nouns, 'group')) return 'group';
  if (hasNoun(nouns, 'server')) return 'server';
  // "your message quota"
  if (hasNoun(nouns, 'quota') && hasNoun(nouns, 'message') && !someone)
    return tokens.some(({ text }) => text.startsWith('your ')) ? 'count' : 'message';
  if (hasNoun(nouns, 'quota')) return 'quota';
  // "user at example.com": the user.
  const named = tokens.every(({ text, slots }) => !slots.includes('domain') || text.startsWith('@'));
  if (hasNoun(nouns, 'domain') && !(someone && named)) return 'domain';
  if (someone) return 'recipient';
  return hasNoun(nouns, 'message') ? 'message' : 'none';
}

/** An "email" is a message, or an address. */
const isEmail = ({ tokens }: Element): boolean =>
  tokens.length === 1 && tokens.every(({ slots }) => slots.includes('message') && slots.includes('user'));

/** How far a predicate may be from its noun, in unknown words. */
const REACH = 8;

/** Those that can be missing; a server or a message is only where it is missed. */
const CAN_MISS: ReadonlySet<Subject> = new Set<Subject>(['recipient', 'domain', 'sender', 'client', 'you', 'group']);
const canMiss = (phrase: Element): boolean =>
  (CAN_MISS.has(phrase.subject) && phrase.nouns !== BIT.you) || isEmail(phrase);

/** The phrase that a word is said of. */
function phraseFor(elements: readonly Element[], at: number, predicate: Statement): Element | null {
  const fits = (one: Element | undefined): one is Element =>
    one?.kind === 'phrase' && !one.agent && (predicate !== 'absent' || canMiss(one));
  let back = at - 1;
  while (isNegation(elements[back]?.kind ?? 'gap')) back--;
  const [previous, next] = [elements[back], elements[at + 1]];
  const after = elements[at]?.after ?? false;
  if ((predicate === 'too_many' || after) && fits(next)) return next;
  if (fits(previous) && !previous.oblique && !after) return previous;
  if (fits(next) && !next.oblique) return next;
  // "invalid message content" says nothing of whom the segment before named.
  if (next?.kind === 'phrase' && !next.oblique && !next.agent) return next;
  let aside: Element | null = fits(previous) ? previous : null;
  for (let i = at - 1; i >= 0 && i >= at - REACH; i--) {
    const one = elements[i];
    if (one === undefined) break;
    if (!fits(one)) continue;
    if (!one.oblique) return one;
    aside ??= one;
  }
  if (aside !== null) return aside;
  for (let i = at + 1; i < elements.length && i <= at + REACH; i++) {
    const one = elements[i];
    if (one === undefined) break;
    // "bad properties <someone@example.com>"
    if (next?.kind === 'gap' && isEcho(one)) continue;
    if (fits(one) && !one.oblique) return one;
    if (fits(one)) aside ??= one;
  }
  return aside;
}

export interface Clause {
  readonly subject: Subject;
  readonly predicate: Statement;
  /** "Client host rejected: …": what follows is the reason. */
  readonly general: boolean;
  /** Words of the lexicon that it was read from, in the order of the text. */
  readonly words: readonly LexiconToken[];
}

interface SegmentBefore {
  /** What the segment before was about, for a predicate without a noun. */
  readonly phrase: Element | null;
  /** It named the sender or the client and said nothing of it yet: "verify@…: user unknown". */
  readonly open: boolean;
}

interface ClauseStatements {
  readonly clauses: readonly Clause[];
  /** What is named, in whatever role. */
  readonly named: ReadonlySet<Subject>;
}

/** Reads the clauses of a text. */
export function clausesOf(segments: readonly Segment[]): ClauseStatements {
  const named = new Set<Subject>();
  const clauses: Clause[] = [];
  const onward = onwardHosts(segments);
  let before: SegmentBefore = { phrase: null, open: false };
  segments.forEach((segment, index) => {
    if (segment.before === 'stop') before = { phrase: null, open: false };
    // One segment in seven has only ids, URLs, unknown words.
    if (segment.tokens.every(({ slots: [slot = 'filler'] }) => slot === 'filler')) return;
    const colon = segments[index + 1]?.before === 'colon';
    const elements = elementsOf(segment.tokens, colon, onward.has(index));
    negate(elements);
    for (const { kind, subject, nouns } of elements) {
      if (kind === 'phrase') named.add(subject);
      // "your connection quota"
      if (hasNoun(nouns, 'you') && (subject === 'quota' || subject === 'count')) named.add('you');
    }
    // "not a registered gateway user": it is not one of a group.
    if (elements.some((one, at) => one.negated && isKindOfUser(elements, at))) named.add('group');
    const found = readClauses(elements, before, colon);
    nameLater(clauses, elements);
    clauses.push(...found);
    const phrase = mainPhrase(elements);
    if (phrase !== null) before = { phrase, open: found.length === 0 };
    else if (found.length > 0) before = { ...before, open: false };
  });
  // "cannot receive mail, only send": an exception, wherever it stands.
  const isOnly = clauses.some(({ predicate }) => predicate === 'only');
  return { clauses: isOnly ? clauses.map(exceptional) : clauses, named };
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

/** "Domain does not exist: probe.example.net", "Address verification failed: verify@…": what follows says whose. */
function nameLater(clauses: Clause[], elements: readonly Element[]): void {
  const [last, only] = [clauses.at(-1), elements[0]];
  if (last === undefined || only?.kind !== 'phrase' || elements.length > 1) return;
  const isOpen = last.subject === 'domain' || (last.subject === 'recipient' && last.general);
  const isOurs = only.subject === 'sender' || only.subject === 'client';
  if (isOpen && isOurs && !last.words.some(({ slots }) => slots.includes('recipient')))
    clauses[clauses.length - 1] = { ...last, subject: only.subject };
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

/** "bandwidth quota", "quota SMTP journalier": an unknown word says of what, and nothing that it is the recipient's. */
const isOtherQuota = (elements: readonly Element[]): boolean =>
  elements.some(
    ({ subject, tokens }, at) =>
      (subject === 'quota' || tokens[0]?.text.startsWith('quota') === true) &&
      (elements[at - 1]?.kind === 'gap' || elements[at + 1]?.kind === 'gap'),
  ) && !elements.some(({ kind, subject }) => kind === 'phrase' && subject === 'recipient');

const ABILITY = /(?:accept|receiv)\w* (?:e )?(?:mail|email|messages)$/;
const exceptional = (clause: Clause): Clause =>
  clause.predicate === 'disabled' && ABILITY.test(clause.words.at(-1)?.text ?? '')
    ? { ...clause, predicate: 'declines' }
    : clause;
const OURS = /^@(?:sender|us|ourip)\b/;

/** Whether a negated word stands in front of unknown words and a user. */
function isKindOfUser(elements: readonly Element[], at: number): boolean {
  if (elements[at - 1]?.kind !== 'not') return false;
  let next = at + 1;
  while (elements[next]?.kind === 'gap') next++;
  const noun = elements[next];
  const isUser = noun?.kind === 'phrase' && !noun.oblique && noun.subject === 'recipient';
  return next > at + 1 && isUser && !noun.tokens.every(({ text }) => text.startsWith('@'));
}

/** What `one` says something of: its phrase, or what came before it. */
function subjectIn(before: SegmentBefore, one: Element, phrase: Element | null): Subject {
  // A message is not missing where none was sent yet: "email does not exist".
  const about = phrase ?? before.phrase;
  const isMissingEmail = one.word === 'exists' && phrase !== null && isEmail(phrase);
  const subject = isMissingEmail ? 'recipient' : about === null ? 'none' : about.subject;
  if (!before.open || before.phrase === null || (subject !== 'recipient' && subject !== 'domain')) return subject;
  if (phrase !== null && hasNoun(phrase.nouns, 'recipient')) return subject;
  const earlier = before.phrase.subject;
  return earlier === 'sender' || earlier === 'client' ? earlier : subject;
}

function readClauses(elements: readonly Element[], before: SegmentBefore, colon: boolean): Clause[] {
  const clauses: Clause[] = [];
  if (!elements.some(({ kind }) => kind === 'word' || isNegation(kind))) return clauses;
  const has = (word: Word): boolean => elements.some((one) => one.word === word && !one.dropped);
  const named = (subject: Subject): boolean => elements.some((one) => one.kind === 'phrase' && one.subject === subject);
  const many = has('too_many') || (has('exceeded') && named('count'));
  const asked = many && elements.some(({ word, negated }) => word === 'absent' || (word === 'exists' && negated));
  // "no user here will get your mail" tells what happens to the message, not who is there.
  const nobody = elements.findIndex(({ kind }, at) => kind === 'none' && elements[at + 1]?.kind === 'phrase');
  const nobodyGets =
    nobody >= 0 && elements.some((one, at) => at > nobody + 1 && one.subject === 'message' && !one.oblique);
  let [supposed, advised] = [false, false];
  elements.forEach((one, at) => {
    if (one.kind === 'hedge') supposed = true;
    else if (one.kind === 'advice') advised = true;
    if (one.dropped) return;
    let predicate: Statement | null = null;
    let phrase: Element | null = null;
    if (isNegation(one.kind)) {
      if (one.negates?.kind !== 'phrase') return;
      phrase = one.negates;
      // "no room left"
      predicate = hasNoun(phrase.nouns, 'quota') ? 'full' : 'absent';
    } else if (one.word !== null) {
      predicate = saidBy(one.word, one.negated);
      if (predicate === null) return;
      phrase = phraseFor(elements, at, predicate);
    } else return;
    if ((supposed && is(predicate, 'asserted')) || (advised && is(predicate, 'advised'))) return;
    if (many && (is(predicate, 'asserted') || predicate === 'declines')) return;
    // "too many unknown recipients": the server counts what the client asks.
    if (asked && predicate === 'too_many') {
      clauses.push({ subject: 'you', predicate: 'declines', general: false, words: one.tokens });
      return;
    }
    // "not a registered gateway user": denies what kind of user it is.
    if (one.negated && isKindOfUser(elements, at)) return;
    let subject = subjectIn(before, one, phrase);
    if (one.word === 'exceeded') {
      if (named('count') || named('sender') || named('client') || named('you')) subject = 'count';
      else if (named('quota') || subject === 'quota') [subject, predicate] = ['quota', 'full'];
      // "SMTP tickets exceeded": who knows of what.
      else if (elements[at - 1]?.kind === 'gap') subject = 'count';
      else return;
    }
    // "throttling quota exceeded": what is full is not the mailbox.
    if (predicate === 'full' && (has('too_fast') || isOtherQuota(elements))) subject = 'count';
    // "closed, but for members only"
    if (has('only') && is(predicate, 'asserted') && (subject === 'recipient' || subject === 'domain')) {
      predicate = 'declines';
    }
    if (predicate === 'relay' && !refusesRelay(elements)) return;
    const wording = one.tokens[0]?.text ?? '';
    // "has closed their inbox to strangers"
    if (predicate === 'disabled' && subject === 'recipient' && named('sender')) predicate = 'declines';
    // "does not accept mail" holds for everybody, unless it names a sender, a message, a time or an exception.
    if (predicate === 'disabled' && ABILITY.test(wording)) {
      if (has('passing') || has('later')) return;
      const more = elements.slice(at + 1).some((el) => el.kind === 'gap' || el.oblique);
      if (more || has('only') || named('sender') || named('client') || named('you')) predicate = 'declines';
    }
    // "<someone@example.com>: relaying not allowed", "you are not allowed to relay": said of relaying.
    if (one.word === 'allowed' && has('relay') && (subject === 'recipient' || subject === 'you')) return;
    if (predicate === 'refused' && subject === 'recipient' && (named('message') || named('you') || named('sender')))
      predicate = 'declines';
    if (predicate === 'absent' && (subject === 'recipient' || subject === 'domain')) {
      // "domain does not exist probe.example.net"
      const next = elements[at + 1];
      if (next?.kind === 'phrase' && next.tokens.every(({ text }) => OURS.test(text))) subject = next.subject;
    }
    if (predicate === 'absent' && (one.negated || one.negates !== null) && nobodyGets) return;
    // "your return address has no mailbox"
    if (predicate === 'absent' && subject === 'recipient') {
      if (named('sender')) subject = 'sender';
      else if (named('client')) subject = 'client';
      // "you are not a member"
      else if (one.kind === 'not' && named('you')) subject = 'you';
    }
    const words = phrase === null ? one.tokens : [...phrase.tokens, ...one.tokens];
    clauses.push({ subject, predicate, general: colon && at >= elements.length - 2, words });
  });
  return clauses;
}
