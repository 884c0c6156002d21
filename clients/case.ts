/** The shape of cases.json, of which cases.schema.json is the schema. */

export interface Cases {
  readonly cases: readonly Case[];
}

export interface Case {
  readonly id: string;
  /** What the client does. */
  readonly does: string;
  /** Where the case runs unless it has a `script`: `busy` by default, `idle` (nobody works on lists), or no service. */
  readonly service?: 'busy' | 'idle' | 'none';
  /** Of a new account: premium and 1,000 credits by default. */
  readonly account?: {
    readonly plan?: string;
    readonly credits?: number;
    /** Requests per second. */
    readonly rate_limit?: number;
    /** With a test key. */
    readonly test?: boolean;
  };
  /** The replies of a server in place of the service, in their order; the last one is repeated. */
  readonly script?: readonly ScriptedReply[];
  /** Headers of webhooks by name, as values for the steps. */
  readonly signed?: Readonly<Record<string, SignedWebhook>>;
  /** Options of the client; `url` and `key` in place of those that were prepared. */
  readonly client?: Readonly<Record<string, unknown>>;
  /** Options of the guard, which all steps share. */
  readonly guard?: Readonly<Record<string, unknown>>;
  readonly steps: readonly Step[];
  /** What the scripted server, or the receiver of webhooks, was sent. */
  readonly requests?: unknown;
}

export interface ScriptedReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
  /** With blanks behind the body, up to so many bytes in all. */
  readonly bytes?: number;
  readonly gzip?: true;
  /** A header that takes so many bytes. */
  readonly header_bytes?: number;
  /** Blanks without end follow the body, one every few milliseconds. */
  readonly endless?: true;
  /** Nothing is ever answered. */
  readonly silent?: boolean;
}

export interface SignedWebhook {
  readonly payload: string;
  readonly secrets: readonly string[];
  readonly seconds_ago?: number;
  /** Set after signing. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One call and what comes of it: one of `reply`, `error`, `misuse`, `forged`, `fails`. */
export interface Step {
  readonly call: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly reply?: unknown;
  /** The fields of a refusal: status, code, field, retry_after, request_id, message, details. */
  readonly error?: unknown;
  /** The message of the language's own error for a wrong argument, as a regular expression. */
  readonly misuse?: string;
  /** The message of the error of a webhook that is not genuine, as a regular expression. */
  readonly forged?: string;
  /** What the caller's own source of bytes failed with. */
  readonly fails?: string;
  /** How often `lists.wait` reported progress. */
  readonly looks?: unknown;
  /** Codes of the errors that the guard reported. */
  readonly reported?: readonly string[];
  /** Values for later steps: a name, and the path to it in the reply. */
  readonly save?: Readonly<Record<string, string>>;
}
