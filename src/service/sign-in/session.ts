import type { BrowserRequest } from './library-calls.ts';

export interface SignedIn {
  readonly id: string;
  readonly session: string;
  readonly email: string;
  readonly name: string;
  readonly operator: boolean;
  /** Whether a code of an authenticator app is asked after the password. */
  readonly secondFactor: boolean;
  /** Whether this session was begun with a code or a passkey. */
  readonly withSecondFactor: boolean;
  /** The mark of a session that was begun with the OpenID provider (oidc-sessions.ts); null: it was not. */
  readonly oidcSession: string | null;
}

/** Reads sessions: the part of the sign-in service that the dashboard's guard needs. */
export interface Sessions {
  /** Null: not signed in. `setCookie`: headers to return (an extended session). */
  fromBrowser(browser: BrowserRequest): Promise<{ user: SignedIn; setCookie: readonly string[] } | null>;
}
