import type { Outcome, Question, Read } from './outcome.ts';
import type { Reply } from './reply.ts';

export type DialogueEvent =
  | { readonly is: 'ask'; readonly question: Question }
  | { readonly is: 'connected' }
  /** Everything that one read completed: what came together was sent before we could answer any of it. */
  | { readonly is: 'replies'; readonly replies: readonly Reply[] }
  | { readonly is: 'secured' }
  | { readonly is: 'tls_failed' }
  | { readonly is: 'timeout' }
  /** The reply parser, or the session's bound on octets, gave up on what the server sends. */
  | { readonly is: 'violation' }
  | { readonly is: 'closed' }
  /** Nothing more to ask, or the asker has gone. */
  | { readonly is: 'finish' };

export type Action =
  | { readonly do: 'send'; readonly lines: readonly string[] }
  /** Wrap the connection; what has arrived since the reply to STARTTLS is to be thrown away (RFC 3207 §6). */
  | { readonly do: 'starttls' }
  | { readonly do: 'answer'; readonly outcome: Outcome }
  /** Flush what was sent, then destroy the socket. Nothing follows. */
  | { readonly do: 'close' };

/** What the machine waits for, and so which time limit holds. */
export type Phase = 'connect' | 'banner' | 'command' | 'tls' | 'idle' | 'quit' | 'closed';

export interface DialogueSetup {
  /** Name in EHLO and HELO. */
  readonly helo: string;
  readonly read: Read;
  /** `never`: after a failed handshake, when the same host is asked again in clear. */
  readonly tls: 'never' | 'demanded' | 'opportunistic';
}
