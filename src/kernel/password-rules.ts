/**
 * NIST SP 800-63B §5.1.1.2: passwords have a length requirement and no composition rules, but must not be what
 * attackers try first: frequent passwords, and the names of the user and the service.
 */
import { PASSWORD_LENGTH } from './facts/limits.ts';

/** How many of the most frequent passwords are rejected. */
export const FREQUENT_PASSWORDS = 10_000;

const SERVICE_NAME = 'Mailvet';
/** Shorter names and cores say nothing: they occur in any password. */
const NAME_MIN = 3;
const DIFFERENT_CHARACTERS_MIN = 4;

const WORD = /[\p{L}\p{M}]+/gu;
const wordsIn = (text: string): string[] => text.toLowerCase().match(WORD) ?? [];
const lettersAndDigits = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]/gu, '');

/**
 * A password in lower case without the digits and punctuation around it; without letters, only the punctuation goes.
 */
export function passwordCore(password: string): string {
  const lower = password.toLowerCase();
  const core = lower.replace(/^[^\p{L}]+/u, '').replace(/[^\p{L}\p{M}]+$/u, '');
  return core.length < NAME_MIN ? lower.replace(/^[^\p{L}\p{N}]+/u, '').replace(/[^\p{L}\p{M}\p{N}]+$/u, '') : core;
}

/** The shortest text that this one repeats, perhaps cut off at the end: `qwertyqwe` → `qwerty`. */
function unitOf(text: string): string {
  for (let length = 1; length < text.length; length += 1)
    if (text.startsWith(text.slice(length))) return text.slice(0, length);
  return text;
}

/** The words of each name, and each name as one word: `Jane Doe` → `jane`, `doe`, `janedoe`. */
function ownWords(names: readonly string[]): ReadonlySet<string> {
  const words = names.flatMap((name) => [...wordsIn(name), wordsIn(name).join('')]);
  return new Set(words.filter((word) => word.length >= NAME_MIN));
}

/** Whether the word is one of these, or several in a row. */
function consistsOf(word: string, parts: ReadonlySet<string>): boolean {
  const ends = new Set([0]);
  for (let at = 0; at < word.length; at += 1)
    if (ends.has(at)) for (const part of parts) if (word.startsWith(part, at)) ends.add(at + part.length);
  return ends.has(word.length);
}

export type PasswordWeakness = 'length' | 'repetition' | 'own name' | 'frequent';

/**
 * What is wrong with a new password; null: nothing. `names`: of the user, their address and their accounts. `frequent`:
 * the cores of the most frequent passwords.
 */
export function weaknessOf(
  password: string,
  names: readonly string[],
  frequent: ReadonlySet<string>,
): PasswordWeakness | null {
  if (password.length < PASSWORD_LENGTH.min || password.length > PASSWORD_LENGTH.max) return 'length';
  if (new Set(password.toLowerCase()).size < DIFFERENT_CHARACTERS_MIN) return 'repetition';

  const all = [SERVICE_NAME, ...names];
  if (all.some((name) => lettersAndDigits(name) === lettersAndDigits(password))) return 'own name';
  const own = ownWords(all);
  const words = new Set(wordsIn(password));
  const others = [...words].filter((word) => !consistsOf(word, own));
  if (words.size > 0 && others.length === 0) return 'own name';

  // A single word besides names, however often, is the password that the rest decorates.
  const [only = '', ...more] = others;
  const cores = [password, more.length === 0 ? only : ''].map(passwordCore);
  return cores.some((core) => frequent.has(core) || frequent.has(unitOf(core))) ? 'frequent' : null;
}
