import { ADDRESS_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import { textOf } from '../../parts/search-params.ts';

/** Search parameter: the address that the form begins with. */
export function verifySearch({ email }: Record<string, unknown>): { email?: string } {
  const text = textOf(email, ADDRESS_LENGTH.max);
  return text === undefined ? {} : { email: text };
}
