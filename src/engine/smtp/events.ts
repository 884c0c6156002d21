import type { Outcome, Question, Read } from './outcome.ts';
import type { Command } from './outstanding.ts';
import type { Reply } from './reply.ts';

export type DialogueEvent =
  /** All of one sender, and with the same need for SMTPUTF8: they share transactions. */
  | { readonly is: 'ask'; readonly questions: readonly Question[] }
  | { readonly is: 'connected' }
  /** All replies completed by one read: they were sent before we could respond to any of them. */
  | { readonly is: 'replies'; readonly replies: readonly Reply[] }
  | { readonly is: 'secured' }
  | { readonly is: 'tls_failed' }
  | { readonly is: 'timeout' }
  /** The server violated the protocol or the session's limit on octets. */
  | { readonly is: 'violation' }
  | { readonly is: 'closed' }
  /** One of several checks is no longer wanted, or has no time left; the others go on. */
  | { readonly is: 'abandon'; readonly question: Question; readonly why: 'cancelled' | 'timeout' }
  /** No further checks, or the caller disconnected. */
  | { readonly is: 'finish' };

export type Action =
  /** All in one write. */
  | { readonly do: 'send'; readonly commands: readonly Command[] }
  /** Wrap the connection; data received since the reply to STARTTLS must be discarded (RFC 3207 §4.2). */
  | { readonly do: 'starttls' }
  | { readonly do: 'answer'; readonly question: Question; readonly outcome: Outcome }
  /** Flush, then destroy the socket. No action follows. */
  | { readonly do: 'close' };

export interface DialogueSetup {
  /** Name in EHLO and HELO. */
  readonly helo: string;
  readonly read: Read;
  /** `never`: after a failed handshake, when the same host is retried in clear text. */
  readonly tls: 'never' | 'demanded' | 'opportunistic';
}
