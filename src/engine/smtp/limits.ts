import { MINUTE_MS } from '../../kernel/clock.ts';

/**
 * Starting values of every bound of the SMTP stage, in one table. RFC 5321 §4.5.3.2 has a client wait five minutes for
 * a banner or a reply, because it has mail to deliver; a verifier has a caller waiting, stops earlier and reports a
 * timeout, which is "unknown". The caller's deadline bounds all of them.
 */
export interface SmtpLimits {
  /** TCP connect. Short, because the next address may work. */
  readonly connectMs: number;
  /**
   * The banner has so long to end after the connection. Postscreen waits 6 s, other "banner delays" take up to 20 s.
   */
  readonly bannerMs: number;
  /** One command until the last byte of its reply: bytes that trickle in do not extend it. */
  readonly commandMs: number;
  /** The TLS handshake may take this long. */
  readonly tlsMs: number;
  /** A SOCKS server may take this long to choose a method, and to answer the credentials. */
  readonly socksGreetingMs: number;
  /** Its connection to the mail server may take this long. */
  readonly socksRequestMs: number;
  /** QUIT until its reply, and from there until the connection has closed; the result has been reported by then. */
  readonly quitMs: number;
  /** How long a session that has checked more than one recipient waits for the next one. */
  readonly idleMs: number;
  /** A whole session with all its recipients may take this long. */
  readonly sessionMs: number;
  /** A whole session receives at most this many octets. */
  readonly sessionBytes: number;
  /** One session has at most this many RCPT commands, probes included. */
  readonly recipientsPerSession: number;
  /** RCPT commands in one transaction; every server takes 100 (RFC 5321 §4.5.3.1.8) or says how many. */
  readonly recipientsPerTransaction: number;
  /** One session has at most this many refused recipients: Postfix answers more slowly from the 10th error on. */
  readonly refusalsPerSession: number;
  readonly hosts: number;
  readonly addressesPerHost: number;
  /**
   * What one network (/24, /64) may take, in multiples of what one address may: more, because it may have many mail
   * servers; bounded, because one mail server may have many addresses.
   */
  readonly networkFactor: number;
  /**
   * How many domains have to reject recipients because of our IP address, with no answer in between, before the breaker
   * of their operator opens.
   */
  readonly breakerDomains: number;
  /** How long an egress rests first whose SOCKS server fails. */
  readonly egressRestMs: number;
  /** This process has at most this many open dialogues, all operators together. */
  readonly dialogues: number;
  /** At most this many of them are idle, waiting for a next recipient. */
  readonly idleSessions: number;
  /** A transcript keeps this many lines of one question, and this many characters of one line. */
  readonly transcriptLines: number;
  readonly transcriptLineLength: number;
}

export const SMTP_LIMITS: SmtpLimits = {
  connectMs: 4_000,
  bannerMs: 20_000,
  commandMs: 15_000,
  tlsMs: 5_000,
  socksGreetingMs: 5_000,
  socksRequestMs: 8_000,
  quitMs: 1_000,
  idleMs: 2_000,
  sessionMs: 60_000,
  sessionBytes: 256 * 1024,
  recipientsPerSession: 50,
  recipientsPerTransaction: 50,
  refusalsPerSession: 8,
  hosts: 3,
  addressesPerHost: 2,
  networkFactor: 4,
  breakerDomains: 3,
  egressRestMs: MINUTE_MS,
  dialogues: 5_000,
  idleSessions: 256,
  transcriptLines: 80,
  transcriptLineLength: 512,
};
