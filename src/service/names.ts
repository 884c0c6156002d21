import { ApiError } from '../kernel/errors.ts';
import { span } from '../kernel/format.ts';
import { NAME_LENGTH, NOTE_LENGTH, PERSON_NAME_LENGTH, type Range } from '../kernel/limits.ts';

/** One line of text, trimmed. Throws ApiError if it has control characters or its length is out of bounds. */
function parseLine(field: string, text: string, length: Range): string {
  const line = text.trim();
  if (line.length >= length.min && line.length <= length.max && !/[\p{Cc}\p{Cs}]/u.test(line)) return line;
  const message = `${field} must have ${span(length)} characters and no control characters.`;
  throw new ApiError('invalid_parameter', message, { field });
}

/** The name of an account or a key. */
export const parseName = (text: string): string => parseLine('name', text, NAME_LENGTH);
export const parsePersonName = (text: string): string => parseLine('name', text, PERSON_NAME_LENGTH);
/** The note of a grant. */
export const parseNote = (text: string): string => parseLine('note', text, NOTE_LENGTH);
