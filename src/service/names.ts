import { ApiError } from '../kernel/errors.ts';
import {
  NAME_LENGTH,
  NOTE_LENGTH,
  PASSKEY_NAME_LENGTH,
  PERSON_NAME_LENGTH,
  type Range,
  VIEW_NAME_LENGTH,
} from '../kernel/facts/limits.ts';
import { span } from '../kernel/format.ts';
import { findLink, harmlessName, UNSAFE_CHARACTERS } from './link-text.ts';

/** One line of text, trimmed. Throws ApiError if it has control characters or its length is out of bounds. */
function parseLine(field: string, text: string, length: Range): string {
  const line = text.trim();
  const safe = line.search(UNSAFE_CHARACTERS) === -1;
  if (line.length >= length.min && line.length <= length.max && safe) return line;
  const message = `${field} must have ${span(length)} characters and no control or invisible characters.`;
  throw new ApiError('invalid_parameter', message, { field });
}

/** A name that mails to others mention. Throws ApiError if mail clients would turn a part of it into a link. */
function parseMailedName(text: string, length: Range): string {
  const field = 'name';
  const name = parseLine(field, text, length);
  const link = findLink(name);
  if (link === null) return name;
  const message = `name must not contain a web or email address, or what mail programs take for one: "${link}".`;
  throw new ApiError('invalid_parameter', message, { field });
}

export const parseAccountName = (text: string): string => parseMailedName(text, NAME_LENGTH);
export const parsePersonName = (text: string): string => parseMailedName(text, PERSON_NAME_LENGTH);
/** Returns the name of a user for whom none was given. */
export const personNameOf = (email: string): string => harmlessName(email.slice(0, email.lastIndexOf('@')));
/** The names of keys and passkeys are seen by their owners only, and may well be those of their sites. */
export const parseKeyName = (text: string): string => parseLine('name', text, NAME_LENGTH);
export const parsePasskeyName = (text: string): string => parseLine('name', text, PASSKEY_NAME_LENGTH);
export const parseViewName = (text: string): string => parseLine('name', text, VIEW_NAME_LENGTH);
/** Checks the note of a grant. */
export const parseNote = (text: string): string => parseLine('note', text, NOTE_LENGTH);
