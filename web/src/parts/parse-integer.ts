import { t } from '@lingui/core/macro';
import { ApiError } from '../api/client.ts';

/** Commas and spaces only as thousands separators, so that 1.5 is not read as 15. */
const WHOLE = /^[-−+]?(\d+|\d{1,3}([,\s]\d{3})+)$/;

/** Parses the whole number in a field; throws an ApiError for that field, as the server would. */
export function parseInteger(text: string, field: string, min = 0): number {
  const typed = text.trim();
  const number = WHOLE.test(typed) ? Number(typed.replaceAll(/[,\s+]/g, '').replace('−', '-')) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= min) return number;
  const error = min > Number.MIN_SAFE_INTEGER ? t`Enter a whole number of at least ${min}.` : t`Enter a whole number.`;
  throw new ApiError(400, { error, code: 'invalid_parameter', field });
}
