/**
 * Replies whose words mean nothing: codes, a noun or two, made-up words. A model that reads them as dead mailboxes
 * guesses from the place, since most refusals at RCPT are about a mailbox. The same seed makes the same replies.
 */
import type { SourceRow } from './rows.ts';

/** Mulberry32: numbers from 0 to below 1. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const NOUNS =
  'account user mailbox recipient address mail host domain server message email sender delivery customer inbox the your for this it'.split(
    ' ',
  );
const CODES = [550, 550, 550, 550, 551, 552, 553, 554, 554];
const STATUS = [null, null, null, '5.1.1', '5.1.1', '5.1.0', '5.1.2', '5.2.1', '5.2.2', '5.7.1', '5.0.0'];

export function nonsense(count: number, seed: number): SourceRow[] {
  const next = random(seed);
  const pick = <T>(of: ArrayLike<T>): T => of[Math.floor(next() * of.length)] as T;
  const syllable = (): string =>
    pick('bcdfghjklmnpqrstvwxz') + pick('aeiouy') + (next() < 0.5 ? pick('bdfgklmnprstvxz') : '');
  const word = (): string => Array.from({ length: 1 + Math.floor(next() * 3) }, syllable).join('');
  return Array.from({ length: count }, (_, index) => {
    const words = Array.from({ length: 1 + Math.floor(next() * 5) }, word);
    const nouns = Math.floor(next() * 3);
    for (let i = 0; i < nouns; i++) words.splice(Math.floor(next() * (words.length + 1)), 0, pick(NOUNS));
    if (next() < 0.2) words.unshift('<someone@example.com>:');
    return {
      ...{ id: `nonsense${index}`, set: 'smtp-reply-forms.json', source: 'nonsense', weight: 1 },
      ...{ code: pick(CODES), enhanced: pick(STATUS), text: words.join(' '), label: 'other', also_ok: ['blocked'] },
    };
  });
}
