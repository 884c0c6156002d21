import type { operations } from './schema.ts';

type JsonOf<Reply> = Reply extends { content: { 'application/json': infer Body } } ? Body : never;
type BodyOf<Name extends keyof operations> = operations[Name] extends { requestBody: infer Body }
  ? JsonOf<Body>
  : never;
type QueryOf<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>;

/** What `POST /v1/verify` takes; `validation_type` left out is `mx`. */
export type VerifyRequest = BodyOf<'verify'>;
/** A verdict. That an address is bad is a result, not an error. */
export type Verification = JsonOf<operations['verify']['responses'][200]>;
/** Plan, credits and rate window; `series` where the query has `group_by`. */
export type Usage = JsonOf<operations['usage']['responses'][200]>;
export type UsageQuery = QueryOf<'usage'>;
export type FilterRequest = Exclude<BodyOf<'addFilter'>, { filter: unknown }>;
export type Filter = JsonOf<operations['addFilter']['responses'][201]>;
export type FiltersQuery = QueryOf<'listFilters'>;
/** One page of filters, newest first. */
export type FilterPage = JsonOf<operations['listFilters']['responses'][200]>;
export type FilterRemoved = JsonOf<operations['removeFilter']['responses'][200]>;

export interface MailvetOptions {
  /** Where the service is, such as `https://verify.example.net`; a path is kept. */
  url: string;
  /** `mv_live_…` */
  key: string;
  /** Used in place of the platform's own. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Milliseconds for one call, with all that it waits; 35,000 by default, as a check may take 30 seconds. */
  timeout?: number | undefined;
  /**
   * How often a call that the service put off (429 or 503) is sent again, after the time that the service named; 0 by
   * default. Such a call has charged nothing. Where the wait would outlast `timeout`, the refusal is thrown at once.
   */
  retries?: number | undefined;
}

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** In place of the client's own. */
  timeout?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /**
   * 1 to 255 characters: for 24 hours the same key with the same request gives the first reply again and charges
   * nothing, so that a call whose answer was lost can be repeated.
   */
  idempotencyKey?: string | undefined;
}

export interface VerifyOptions extends WriteOptions {
  /** Adds `evidence`: the mail hosts and, for `smtp`, the dialogue. */
  evidence?: boolean | undefined;
}

export interface Mailvet {
  /** Verifies one address. */
  verify(request: VerifyRequest, options?: VerifyOptions): Promise<Verification>;
  usage(query?: UsageQuery, options?: CallOptions): Promise<Usage>;
  readonly filters: {
    /** Adds a filter; one that is there already is refused with 422 `filter_exists`. */
    add(filter: FilterRequest, options?: WriteOptions): Promise<Filter>;
    list(query?: FiltersQuery, options?: CallOptions): Promise<FilterPage>;
    /**
     * Every filter that matches, page after page, each once. To remove what it gives, collect first: a removal moves
     * the pages behind it. The time-out is that of each page.
     */
    all(query?: Omit<FiltersQuery, 'page'>, options?: CallOptions): AsyncGenerator<Filter, void, undefined>;
    /** Removes a filter; an id that is not there is refused with 404. */
    remove(id: number, options?: CallOptions): Promise<FilterRemoved>;
  };
}
