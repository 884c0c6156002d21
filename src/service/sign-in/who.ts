/** A person, as their session says. */
export interface SignedIn {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly operator: boolean;
  readonly secondFactor: boolean;
}

/** Reads sessions; part of the sign-in service, and all that the guard of the dashboard needs of it. */
export interface Sessions {
  /** Who the Cookie header of a request speaks for; null: nobody. `setCookie`: lines to send back (a session that is prolonged). */
  who(cookie: string | undefined): Promise<{ user: SignedIn; setCookie: readonly string[] } | null>;
}
