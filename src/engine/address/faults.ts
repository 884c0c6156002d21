/**
 * Everything that can be wrong with an address, one plain sentence each; the docs page is made from this table.
 * The codes are stable: they are `checks.syntax.error` of a reply.
 */
export const SYNTAX_ERRORS = {
  missing_at: 'There is no "@".',
  multiple_at: 'There is more than one "@" outside quotes.',
  empty_local_part: 'Nothing stands before the "@".',
  local_part_too_long: 'The part before the "@" is longer than 64 octets in UTF-8.',
  leading_dot: 'The local part or the domain begins with a dot.',
  trailing_dot: 'The local part or the domain ends with a dot.',
  double_dot: 'Two dots follow each other.',
  invalid_character: 'This character cannot stand here.',
  whitespace: 'White space is not allowed around or inside an address (a space inside quotes is).',
  control_character: 'Control characters are never allowed.',
  unsafe_character: 'Invisible, direction-changing, private-use and unassigned characters are never allowed.',
  broken_unicode: 'The text is not well-formed Unicode (half of a surrogate pair).',
  unclosed_quote: 'A quoted local part is not closed.',
  misplaced_quote: 'A quote stands inside an unquoted local part; either all of it is quoted or nothing.',
  display_name: 'Send the bare address, without a display name and angle brackets.',
  comment: 'Comments in parentheses are not allowed.',
  empty_domain: 'Nothing stands behind the "@".',
  domain_literal: 'An IP address in brackets is not accepted in place of a domain.',
  domain_too_long: 'The domain is longer than 253 octets in its ASCII form.',
  label_too_long: 'A part of the domain is longer than 63 octets in its ASCII form.',
  label_hyphen: 'A part of the domain begins or ends with a hyphen.',
  invalid_idna: 'A part of the domain is not a valid internationalized label (IDNA2008).',
  single_label: 'The domain has no dot.',
  numeric_tld: 'The top-level domain has digits only.',
  reserved_tld: 'The domain is reserved for special use and never has public mail.',
  unknown_tld: 'The top-level domain does not exist.',
  address_too_long: 'The address is longer than 254 octets.',
} as const;

export type SyntaxErrorCode = keyof typeof SYNTAX_ERRORS;

export interface SyntaxFault {
  /** Stable code, such as `double_dot`. */
  readonly error: SyntaxErrorCode;
  /**
   * Where in the text as sent, in UTF-16 code units: the first offending character; for something that is missing,
   * the place where it was expected; for a limit, the first character beyond it where that can be told (ASCII), else
   * the beginning of the part that is too long.
   */
  readonly index: number;
}

export type Faulty = { readonly ok: false } & SyntaxFault;

export const fault = (error: SyntaxErrorCode, index: number): Faulty => ({ ok: false, error, index });
