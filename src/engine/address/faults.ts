/**
 * All syntax errors of an address, one sentence each; docs/syntax-errors.md is generated from this table. The codes are
 * stable: `checks.syntax.error` in the response.
 */
export const SYNTAX_ERRORS = {
  missing_at: 'There is no "@".',
  multiple_at: 'There is more than one "@" outside quotes.',
  empty_local_part: 'The part before the "@" is empty.',
  local_part_too_long: 'The part before the "@" is longer than 64 octets in UTF-8.',
  leading_dot: 'The local part or the domain begins with a dot.',
  trailing_dot: 'The local part or the domain ends with a dot.',
  double_dot: 'There are two consecutive dots.',
  invalid_character: 'This character is not allowed here.',
  whitespace: 'Whitespace is not allowed inside an address, except a space inside quotes.',
  control_character: 'Control characters are never allowed.',
  unsafe_character: 'Invisible, direction-changing, private-use and unassigned characters are never allowed.',
  broken_unicode: 'The text is not well-formed Unicode: it has an unpaired surrogate.',
  unclosed_quote: 'A quoted local part is not closed.',
  misplaced_quote: 'There is a quote inside an unquoted local part; quote all of it or none.',
  display_name: 'Send the bare address, without a display name and angle brackets.',
  comment: 'Comments in parentheses are not allowed.',
  empty_domain: 'The part after the "@" is empty.',
  domain_literal: 'An IP address in brackets is not accepted as a domain.',
  domain_too_long: 'The domain is longer than 253 octets in its ASCII form.',
  label_too_long: 'A part of the domain is longer than 63 octets in its ASCII form.',
  label_hyphen: 'A part of the domain begins or ends with a hyphen.',
  invalid_idna: 'A part of the domain is not a valid internationalized label (IDNA2008).',
  single_label: 'The domain has no dot.',
  numeric_tld: 'The top-level domain consists of digits only.',
  reserved_tld: 'The domain is reserved for special use and never receives public mail.',
  unknown_tld: 'The top-level domain does not exist: it is on no list, and DNS has no such name.',
  address_too_long: 'The address is longer than 254 octets.',
} as const;

export type SyntaxErrorCode = keyof typeof SYNTAX_ERRORS;

export interface SyntaxFault {
  /** Stable code, such as `double_dot`. */
  readonly error: SyntaxErrorCode;
  /**
   * Index in the text as sent, in UTF-16 code units: the first offending character; for something missing, the place
   * where it was expected; for a length limit, the first character beyond it if that is known (ASCII), else the start
   * of the part that is too long.
   */
  readonly index: number;
}

export type Faulty = { readonly ok: false } & SyntaxFault;

export const fault = (error: SyntaxErrorCode, index: number): Faulty => ({ ok: false, error, index });
