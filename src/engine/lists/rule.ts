/**
 * The sources that list a domain decide its tier. Each source has a letter, and the rule depends only on an entry's
 * letters, so that the build (scripts/lists.ts) and `mailvet disposable update` share it.
 */
import { nearest, registrableOf } from './names.ts';

/** a–e: disposable lists, most trusted first. f: on both free-provider lists, which is not a suspicion. */
export const LETTERS = 'abcdef';
export type Letter = 'a' | 'b' | 'c' | 'd' | 'e' | 'f';
export const BIT: Readonly<Record<Letter, number>> = { a: 1, b: 2, c: 4, d: 8, e: 16, f: 32 };

/**
 * Disposable: on a curated list (a) or on one that crawls the services (b), or on the third list and confirmed by the
 * fourth or the fifth, unless on both free-provider lists. Anything else on a disposable list is a suspicion.
 */
export const isVerdict = (bits: number): boolean =>
  (bits & (BIT.a | BIT.b)) !== 0 || ((bits & BIT.c) !== 0 && (bits & (BIT.d | BIT.e)) !== 0 && (bits & BIT.f) === 0);

export function lettersOf(bits: number): string {
  let text = '';
  for (let i = 0; i < LETTERS.length; i++) if ((bits & (1 << i)) !== 0) text += LETTERS[i];
  return text;
}

/** Why a listed name is in no tier. */
export type SetAside = 'suffix' | 'zone' | 'tld' | 'allow' | 'relay';

export interface RuleFacts {
  /** Free-subdomain zones that are not on the Public Suffix List. */
  readonly zones: { has(name: string): boolean };
  /** IANA's top-level domains, A-labels. */
  readonly tlds: { has(name: string): boolean };
  readonly allow: { has(name: string): boolean };
  readonly relays: { has(name: string): boolean };
}

/** `name` in lower-case ASCII. Null: its letters decide the tier. */
export function setAside(name: string, facts: RuleFacts): SetAside | null {
  if (!facts.tlds.has(name.slice(name.lastIndexOf('.') + 1))) return 'tld';
  if (nearest(name, facts.relays) !== null) return 'relay';
  if (nearest(name, facts.allow) !== null) return 'allow';
  if (registrableOf(name) === null) return 'suffix';
  return facts.zones.has(name) ? 'zone' : null;
}
