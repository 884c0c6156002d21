import { Refusal } from '../kernel/errors.ts';

export const NAME_MAX = 200;

/** A name of 1 to 200 characters, trimmed, without control characters. Throws Refusal. */
export function usableName(text: string): string {
  const name = text.trim();
  if (name.length > 0 && name.length <= NAME_MAX && !/[\p{Cc}\p{Cs}]/u.test(name)) return name;
  throw new Refusal('invalid_parameter', `name must have 1 to ${NAME_MAX} characters and no control characters.`, {
    field: 'name',
  });
}
