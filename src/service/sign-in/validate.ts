import { readFile } from 'node:fs/promises';
import { dataFile } from '../../engine/data-files.ts';
import { ApiError } from '../../kernel/errors.ts';
import { PASSWORD_LENGTH, USER_EMAIL_LENGTH } from '../../kernel/facts/limits.ts';
import { span } from '../../kernel/format.ts';

let loaded: Promise<ReadonlySet<string>> | null = null;

async function loadFrequentPasswords(): Promise<ReadonlySet<string>> {
  const text = await readFile(dataFile('frequent-passwords.txt'), 'utf8');
  return new Set(text.split('\n').filter((line) => line !== '' && !line.startsWith('#')));
}

/** The cores of the most frequent passwords. Read when a password is first set, not at the start. */
function frequentPasswords(): Promise<ReadonlySet<string>> {
  loaded ??= loadFrequentPasswords().catch((error: unknown) => {
    loaded = null;
    throw error;
  });
  return loaded;
}

/** The addresses that the sign-in library accepts: ASCII, a dot-atom at a name with a top-level domain. */
const LIBRARY_ADDRESS =
  /^(?!\.)(?!.*\.\.)[A-Za-z0-9_'+.-]{0,63}[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9-]{0,62}\.)+[A-Za-z]{2,63}$/;

export const isUsableEmail = (text: string): boolean =>
  text.length <= USER_EMAIL_LENGTH.max && LIBRARY_ADDRESS.test(text);

/** The address to sign in with, in lower case. Throws ApiError. */
export function parseEmail(text: string): string {
  const email = text.trim().toLowerCase();
  if (isUsableEmail(email)) return email;
  throw new ApiError('invalid_parameter', 'email must be an address such as name@example.com, in ASCII.', {
    field: 'email',
  });
}

const ADVICE = 'Use several unrelated words instead.';
const WEAK: Readonly<Record<PasswordWeakness, string>> = {
  length: `password must have ${span(PASSWORD_LENGTH)} characters.`,
  repetition: `password must not be a few repeated characters. ${ADVICE}`,
  'own name': `password must not be your name or email address, or the name of your account or of this service. ${ADVICE}`,
  frequent: `password must not be one of the most common passwords, with or without digits around it. ${ADVICE}`,
};

/** Whose password is set: what it must not consist of. */
export interface PasswordOwner {
  readonly email: string;
  readonly name: string;
  readonly accounts: readonly string[];
}

/** Throws ApiError for a password that is too short, or among the first that are guessed for this user. */
export async function rejectWeakPassword(password: string, { email, name, accounts }: PasswordOwner): Promise<void> {
  const names = [email, email.slice(0, email.lastIndexOf('@')), name, ...accounts];
  const weakness = weaknessOf(password, names, await frequentPasswords());
  if (weakness !== null) throw new ApiError('invalid_parameter', WEAK[weakness], { field: 'password' });
}

// NIST SP 800-63B §5.1.1.2: passwords have a length requirement and no composition rules, but must not be what
// attackers try first: frequent passwords, and the names of the user and the service.

/** How many of the most frequent passwords are rejected. */
export const FREQUENT_PASSWORDS = 10_000;

const SERVICE_NAME = 'Mailvet';
/** Shorter names and cores say nothing: they occur in any password. */
const NAME_MIN = 3;
const DIFFERENT_CHARACTERS_MIN = 4;

const WORD_OF_NAME = /[\p{L}\p{M}]+/gu;
const wordsIn = (text: string): string[] => text.toLowerCase().match(WORD_OF_NAME) ?? [];
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
function wordsOfNames(names: readonly string[]): ReadonlySet<string> {
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
  const own = wordsOfNames(all);
  const words = new Set(wordsIn(password));
  const others = [...words].filter((word) => !consistsOf(word, own));
  if (words.size > 0 && others.length === 0) return 'own name';

  // A single word besides names, however often, is the password that the rest decorates.
  const [only = '', ...more] = others;
  const cores = [password, more.length === 0 ? only : ''].map(passwordCore);
  return cores.some((core) => frequent.has(core) || frequent.has(unitOf(core))) ? 'frequent' : null;
}
