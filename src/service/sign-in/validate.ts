import { readFile } from 'node:fs/promises';
import { dataFile } from '../../engine/data-files.ts';
import { ApiError } from '../../kernel/errors.ts';
import { PASSWORD_LENGTH, USER_EMAIL_LENGTH } from '../../kernel/facts/limits.ts';
import { span } from '../../kernel/format.ts';
import { type PasswordWeakness, weaknessOf } from '../../kernel/password-rules.ts';

let loaded: Promise<ReadonlySet<string>> | null = null;

async function load(): Promise<ReadonlySet<string>> {
  const text = await readFile(dataFile('frequent-passwords.txt'), 'utf8');
  return new Set(text.split('\n').filter((line) => line !== '' && !line.startsWith('#')));
}

/**
 * The cores of the most frequent passwords (kernel/password-rules.ts). Read when a password is first set, not at the
 * start.
 */
function frequentPasswords(): Promise<ReadonlySet<string>> {
  loaded ??= load().catch((error: unknown) => {
    loaded = null;
    throw error;
  });
  return loaded;
}

/** The addresses that the sign-in library accepts: ASCII, a dot-atom at a name with a top-level domain. */
const ADDRESS =
  /^(?!\.)(?!.*\.\.)[A-Za-z0-9_'+.-]{0,63}[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9-]{0,62}\.)+[A-Za-z]{2,63}$/;

export const isUsableEmail = (text: string): boolean => text.length <= USER_EMAIL_LENGTH.max && ADDRESS.test(text);

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
