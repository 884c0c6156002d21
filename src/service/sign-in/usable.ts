import { Refusal } from '../../kernel/errors.ts';

/** What the sign-in library takes as an address: ASCII, a dot-atom at a name with a top-level domain. */
const ADDRESS =
  /^(?!\.)(?!.*\.\.)[A-Za-z0-9_'+.-]{0,63}[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9-]{0,62}\.)+[A-Za-z]{2,63}$/;

export const isUsableEmail = (text: string): boolean => text.length <= 254 && ADDRESS.test(text);

/** The address to sign in with, in lower case. Throws Refusal. */
export function usableEmail(text: string): string {
  const email = text.trim().toLowerCase();
  if (isUsableEmail(email)) return email;
  throw new Refusal('invalid_parameter', 'email must be an address such as name@example.com, in ASCII.', {
    field: 'email',
  });
}

const NAME_MAX = 100;

/** A person's name: 1 to 100 characters without control characters, trimmed. Throws Refusal. */
export function usablePersonName(text: string): string {
  const name = text.trim();
  if (name.length > 0 && name.length <= NAME_MAX && !/[\p{Cc}\p{Cs}]/u.test(name)) return name;
  throw new Refusal('invalid_parameter', `name must have 1 to ${NAME_MAX} characters and no control characters.`, {
    field: 'name',
  });
}

export const PASSWORD_MIN = 12;
export const PASSWORD_MAX = 256;

/** Throws Refusal for what is too short, and for what everybody would try first at this address. */
export function refuseWeak(password: string, email: string): void {
  const field = 'password';
  if (password.length < PASSWORD_MIN || password.length > PASSWORD_MAX) {
    const sentence = `password must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters.`;
    throw new Refusal('invalid_parameter', sentence, { field });
  }
  const plain = password.toLowerCase();
  const trivial = plain === email || /^(mailvet[\d .!_-]*)+$/.test(plain) || new Set(plain).size < 4;
  if (!trivial) return;
  const sentence = 'password must not be the address, the name of this service or a few characters again and again.';
  throw new Refusal('invalid_parameter', sentence, { field });
}
