/** An address as a public mail exchanger could deliver it: RFC 5321, 6531, 5890–5894. */
import { type DomainOptions, parseDomain } from './domain.ts';
import { type Faulty, fault } from './faults.ts';
import { type LocalPart, scanLocalPart } from './local.ts';

export { SYNTAX_ERRORS, type SyntaxErrorCode, type SyntaxFault } from './faults.ts';

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
  /** The text after the first `+` of a dot-atom local part; null without one, or if either side is empty. */
  readonly tag: string | null;
  /** `localPart@domain`: safe to send to a mail server. */
  readonly normalized: string;
  /** True when the local part has non-ASCII characters (RFC 6531). */
  readonly needsSmtputf8: boolean;
}
type ParsedAddress = { ok: true; address: Address } | Faulty;
export type ParseOptions = Pick<DomainOptions, 'allowReserved' | 'allowUnknownTld'>;

/** RFC 5321 §4.5.3.1.3: a path is 256 octets, angle brackets included. */
const MAX_ADDRESS = 254;

/**
 * Never throws, never trims. Fault indices refer to the text as sent. Not accepted although an RFC defines them:
 * comments, folding white space, obsolete forms, display names, domain literals, a trailing dot.
 * Linear in the length of the text.
 */
export function parseAddress(text: string, options: ParseOptions = {}): ParsedAddress {
  if (!text.includes('@')) return fault('missing_at', text.length);
  const local = scanLocalPart(text);
  if (!local.ok) return local;
  const domain = parseDomain(text, local.end + 1, options);
  if (!domain.ok) return domain;
  if (local.octets + 1 + domain.ascii.length > MAX_ADDRESS) {
    const plain = local.ascii && domain.unicode.length === text.length - local.end - 1;
    return fault('address_too_long', plain ? MAX_ADDRESS : local.end + 1);
  }
  const localPart = text.slice(0, local.end);
  return {
    ok: true,
    address: {
      raw: text,
      localPart,
      quoted: local.quoted,
      domain: domain.ascii,
      unicodeDomain: domain.unicode,
      tag: tagOf(localPart, local),
      normalized: `${localPart}@${domain.ascii}`,
      needsSmtputf8: !local.ascii,
    },
  };
}

function tagOf(localPart: string, { quoted }: LocalPart): string | null {
  const plus = quoted ? -1 : localPart.indexOf('+');
  return plus > 0 && plus + 1 < localPart.length ? localPart.slice(plus + 1) : null;
}
