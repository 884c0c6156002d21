import { POLARITY, type Predicate, type Subject } from './predicates.ts';
import { isNoun, type Noun, type Word } from './slots.ts';
import type { Token } from './tokens.ts';

const BIT: Readonly<Record<Noun, number>> = {
  recipient: 1 << 0,
  user: 1 << 1,
  domain: 1 << 2,
  sender: 1 << 3,
  client: 1 << 4,
  you: 1 << 5,
  message: 1 << 6,
  server: 1 << 7,
  group: 1 << 8,
  quota: 1 << 9,
  count: 1 << 10,
};
export const hasNoun = (nouns: number, noun: Noun): boolean => (nouns & BIT[noun]) !== 0;

type Negation = 'not' | 'none' | 'such' | 'lacks';
export const isNegation = (kind: string): kind is Negation =>
  kind === 'not' || kind === 'none' || kind === 'such' || kind === 'lacks';

/** A noun phrase, or a predicate or a connecting word, in the order of the segment. */
export interface Element {
  readonly kind: 'phrase' | 'word' | 'gap' | Negation | 'hedge' | 'advice';
  /** Bits of `BIT`. */
  nouns: number;
  /** What a phrase speaks of. */
  subject: Subject;
  readonly word: Word | null;
  readonly tokens: Token[];
  /** Introduced by a preposition: not what the clause is about. */
  readonly oblique: boolean;
  readonly agent: boolean;
  /** The server turned to it: "connect to 10.0.0.5". */
  readonly onward: boolean;
  /** For a word: a preposition stands before it, so it belongs to what follows: "mail from unknown senders". */
  readonly after: boolean;
  negated: boolean;
  dropped: boolean;
  /** For a negated noun: "no such user". */
  negates: Element | null;
}

const element = (kind: Element['kind'], token: Token, more: Partial<Element> = {}): Element => ({
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

const isPlaceholder = ({ text }: Token): boolean => text.startsWith('@');
/** An address or a name alone, as servers put them behind anything they say. */
const isEcho = (one: Element | undefined): one is Element => one?.kind === 'phrase' && one.tokens.every(isPlaceholder);

/** An address or a name that is not known to be ours. */
const isAnyHost = ({ text }: Token): boolean => /^(?:(?:host|server) )?@(?:ip|host)(?: @ip)?$/.test(text);
export const areHosts = (tokens: readonly Token[]): boolean => tokens.every(isAnyHost);

/** "email content", too, although an email may be an address. */
const isMessage = ({ tokens }: Pick<Element, 'tokens'>): boolean =>
  tokens.every(({ slots }) => slots.includes('message'));

/** Splits a segment's tokens into phrases and words; fillers vanish. */
export function elementsOf(tokens: readonly Token[], colon: boolean, isOnward = false): Element[] {
  const elements: Element[] = [];
  let open: Element | null = null;
  let joined = false;
  let [oblique, agent, onward, from] = [false, false, isOnward, false];
  for (const token of tokens) {
    if (token.slots.length === 0) {
      if (/\d/.test(token.text) && token.text.length < 5) continue;
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

const isPolar = ({ kind, word }: Element): boolean =>
  kind === 'word' && word !== null && POLARITY[word].plain === null && !isNegator(word);
const isNegator = (word: Word | null): boolean => word === 'failed';

/** Attaches every negation to the predicate or noun that it negates. */
export function negate(elements: readonly Element[]): void {
  elements.forEach((negation, i) => {
    const { kind, word } = negation;
    if (!isNegation(kind) && !isNegator(word)) return;
    // "not unknown", "not rejected": asserts nothing.
    const next = elements[i + 1];
    if (kind === 'not' && next?.kind === 'word' && next.word !== null && ASSERTED_WORDS.has(next.word)) {
      next.dropped = true;
      return;
    }
    const target = negatedBy(elements, i);
    negation.negates = target;
    if (target === null || target.kind === 'phrase') return;
    target.negated = true;
    negation.dropped = word === 'failed';
  });
}

/** What the negation at this place negates: a polar word after it, a noun next to it, a polar word before it. */
function negatedBy(elements: readonly Element[], at: number): Element | null {
  const kind = elements[at]?.kind ?? 'gap';
  for (let i = at + 1; i < elements.length && i <= at + 4; i++) {
    const one = elements[i];
    if (one === undefined) break;
    // "not known whether the user exists"
    if (isNegation(one.kind) || one.kind === 'hedge') break;
    if (isPolar(one)) return one;
    if (one.kind === 'word') break;
  }
  // "izniniz yok <someone@example.com>"
  const echoed = kind === 'lacks' && at > 0 && at + 2 === elements.length && isEcho(elements[at + 1]);
  const next = echoed ? undefined : elements[at + 1];
  if (kind === 'not' && next?.kind === 'phrase' && isListOfRecipients(next) && at + 2 === elements.length) return next;
  if (isNegation(kind) && next?.kind === 'phrase' && !next.oblique) return next;
  for (let i = at - 1; i >= 0 && i >= at - 3; i--) {
    const one = elements[i];
    if (one === undefined) break;
    if (isPolar(one)) return one;
    // "사용자가 이 서버에 없습니다": missed on the server, not the server.
    if (one.kind === 'phrase' && kind === 'lacks' && next === undefined && one.subject !== 'server') return one;
    if (one.kind === 'word' || one.kind === 'hedge') break;
  }
  return null;
}
const ASSERTED_WORDS: ReadonlySet<Word> = new Set<Word>(['absent', 'disabled', 'full', 'unavailable', 'refused']);

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
  if (hasNoun(nouns, 'quota')) {
    if (!hasNoun(nouns, 'message') || someone) return 'quota';
    // "your message quota"
    return tokens.some(({ text }) => text.startsWith('your ')) ? 'count' : 'message';
  }
  // "user at example.com": the user.
  const named = tokens.every(({ text, slots }) => !slots.includes('domain') || text.startsWith('@'));
  if (hasNoun(nouns, 'domain') && !(someone && named)) return 'domain';
  if (someone) return 'recipient';
  return hasNoun(nouns, 'message') ? 'message' : 'none';
}

/** "recipient list", "user database" */
const isListOfRecipients = ({ nouns }: Element): boolean =>
  hasNoun(nouns, 'server') &&
  (hasNoun(nouns, 'recipient') || hasNoun(nouns, 'user')) &&
  (nouns & (BIT.sender | BIT.client | BIT.you | BIT.message)) === 0;

/** "email": a message, or an address. */
export const isEmail = ({ tokens }: Element): boolean =>
  tokens.length === 1 && tokens.every(({ slots }) => slots.includes('message') && slots.includes('user'));

/** How far a predicate may be from its noun, in unknown words. */
const REACH = 8;

/** Those that can be missing; a server or a message is only where it is missed. */
const CAN_MISS: ReadonlySet<Subject> = new Set<Subject>(['recipient', 'domain', 'sender', 'client', 'you', 'group']);
const canMiss = (phrase: Element): boolean =>
  (CAN_MISS.has(phrase.subject) && phrase.nouns !== BIT.you) || isEmail(phrase);

/** The phrase that a word is said of. */
export function phraseFor(elements: readonly Element[], at: number, predicate: Predicate): Element | null {
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
