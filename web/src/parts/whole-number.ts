import { ApiError } from '../api/client.ts';

/** Thousands may be set apart by commas or spaces; nothing else than digits may, lest 1.5 be read as 15. */
const WHOLE = /^[-−+]?(\d+|\d{1,3}([,\s]\d{3})+)$/;

/** The whole number that a field holds. What is none is refused at that field, in the shape of the server's refusals. */
export function wholeNumber(text: string, field: string, least = 0): number {
  const typed = text.trim();
  const number = WHOLE.test(typed) ? Number(typed.replaceAll(/[,\s+]/g, '').replace('−', '-')) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= least) return number;
  const error = `Enter a whole number${least > Number.MIN_SAFE_INTEGER ? ` of at least ${least}` : ''}.`;
  throw new ApiError(400, { error, code: 'invalid_parameter', field });
}
