/** What is sent to mail servers: commands of one line, and what a server says that it takes. */
import type { Address } from '../address/parse.ts';

/** RFC 5321 §4.5.3.1.4: 512 octets with CRLF; RFC 6531 §3.1 adds 10 for the SMTPUTF8 parameter of MAIL. */
const MOST_COMMAND_OCTETS = 522;

// It matches C0 with CR, LF and NUL, DEL, C1, and the two line separators of Unicode that some servers fold into a line
// end.
const UNSENDABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/**
 * Validates a command: one line without its CRLF. Throws if it could be read as anything but one line; callers reject
 * such input earlier, so a throw here is a bug.
 */
export function commandLine(text: string): string {
  if (UNSENDABLE.test(text) || LONE_SURROGATE.test(text)) throw new TypeError('a command must be one printable line');
  if (Buffer.byteLength(text) + 2 > MOST_COMMAND_OCTETS) throw new TypeError('a command line is too long');
  return text;
}

const ATOM_TEXT = /^[^\s"(),:;<>@[\\\]]+$/u;
const QUOTED_TEXT = /^"(?:[^"\\]|\\.)*"$/u;
const HOST_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i;

/**
 * The path between the angle brackets of RCPT (RFC 5321 §4.1.2 Mailbox), quoted local parts with their quotes; null for
 * input that could end the path early or break the line. The syntax stage rejects such addresses already: this is
 * defence in depth.
 */
export function forwardPath(address: Pick<Address, 'localPart' | 'domain'>): string | null {
  const { localPart, domain } = address;
  const local = localPart.startsWith('"') ? QUOTED_TEXT.test(localPart) : ATOM_TEXT.test(localPart);
  const path = `${localPart}@${domain}`;
  if (!local || !HOST_NAME.test(domain) || UNSENDABLE.test(path) || LONE_SURROGATE.test(path)) return null;
  return Buffer.byteLength(path) <= 254 + 2 ? path : null;
}

/** RFC 6531 §3.4: a path with anything beyond ASCII needs the SMTPUTF8 parameter. */
export const needsSmtputf8 = (path: string): boolean => /[^\x20-\x7e]/.test(path);

/** Extensions in an EHLO reply (RFC 5321 §4.1.1.1); SIZE, 8BITMIME and others are irrelevant here. */
export interface Capabilities {
  readonly pipelining: boolean;
  readonly startTls: boolean;
  readonly smtputf8: boolean;
}

export const NO_CAPABILITIES: Capabilities = { pipelining: false, startTls: false, smtputf8: false };

const EXTENSION = /^\s*(PIPELINING|STARTTLS|SMTPUTF8)(?:[\s=]|$)/i;

/** `lines`: the text of each reply line, without code and separator; the first is the greeting. */
export function parseCapabilities(lines: readonly string[]): Capabilities {
  const offered = new Set<string>();
  for (let i = 1; i < lines.length; i++) {
    const keyword = EXTENSION.exec(lines[i] ?? '')?.[1];
    if (keyword !== undefined) offered.add(keyword.toUpperCase());
  }
  return {
    pipelining: offered.has('PIPELINING'),
    startTls: offered.has('STARTTLS'),
    smtputf8: offered.has('SMTPUTF8'),
  };
}

/** EHLO rejections after which HELO is tried (RFC 5321 §3.2, §4.2.4): older servers and strict proxies. */
export const SAYS_HELO = new Set([500, 501, 502, 503, 504, 550]);
