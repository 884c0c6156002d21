/** Placeholder types while the room is being furnished. */
export type SyntaxErrorCode = string;
export interface SyntaxFault {
  /** Stable code, such as `double_dot`. */
  readonly error: SyntaxErrorCode;
  /** Where in the address as sent, in UTF-16 code units. */
  readonly index: number;
}
export interface Address {
  /** Exactly as sent. */
  readonly raw: string;
  /** As sent; quotes included for a quoted local part. */
  readonly localPart: string;
  readonly quoted: boolean;
  /** Lower-case ASCII (IDNA A-labels). */
  readonly domain: string;
  /** Domain in Unicode (U-labels), lower case. */
  readonly unicodeDomain: string;
  /** What stands behind the first `+` of a dot-atom local part, or null. */
  readonly tag: string | null;
  /** `localPart@domain`: what may be sent to a mail server. */
  readonly normalized: string;
  /** True when the local part has non-ASCII characters (RFC 6531). */
  readonly needsSmtputf8: boolean;
}
export type ParsedAddress = { ok: true; address: Address } | ({ ok: false } & SyntaxFault);
export declare function parseAddress(text: string): ParsedAddress;
