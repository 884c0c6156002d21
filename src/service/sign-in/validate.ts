import { ApiError } from '../../kernel/errors.ts';
import { span } from '../../kernel/format.ts';
import { USER_EMAIL_LENGTH } from '../../kernel/limits.ts';
import { PASSWORD_LENGTH } from '../../kernel/password-rules.ts';

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

/** Throws ApiError if the password is too short or trivial to guess for this address. */
export function rejectWeakPassword(password: string, email: string): void {
  const field = 'password';
  if (password.length < PASSWORD_LENGTH.min || password.length > PASSWORD_LENGTH.max) {
    const message = `password must have ${span(PASSWORD_LENGTH)} characters.`;
    throw new ApiError('invalid_parameter', message, { field });
  }
  const plain = password.toLowerCase();
  const trivial = plain === email || /^(mailvet[\d .!_-]*)+$/.test(plain) || new Set(plain).size < 4;
  if (!trivial) return;
  const message = 'password must not be the email address, the name of this service or a few repeated characters.';
  throw new ApiError('invalid_parameter', message, { field });
}
