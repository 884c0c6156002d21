import type { operations, webhooks } from './schema.ts';

type JsonOf<Reply> = Reply extends { content: { 'application/json': infer Body } } ? Body : never;
type BodyOf<Name extends keyof operations> = operations[Name] extends { requestBody: infer Body }
  ? JsonOf<Body>
  : never;
type QueryOf<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>;

/** Body of `POST /v1/verify`; `validation_type` defaults to `mx`. */
export type VerifyRequest = BodyOf<'verify'>;
/** A verdict. That an address is bad is a result, not an error. */
export type Verification = JsonOf<operations['verify']['responses'][200]>;
/** What the policy of a request said. */
export type Decision = NonNullable<Verification['decision']>;
/** What is forgotten: one mailbox, by its address in any spelling, in one scope. */
export type SeenMailbox = Required<QueryOf<'forgetSeen'>>;
export type Forgotten = JsonOf<operations['forgetSeen']['responses'][200]>;
/** A verification as the log has it. */
export type LoggedVerification = VerificationPage['verifications'][number];
export type VerificationsQuery = QueryOf<'listVerifications'>;
/** One page of verifications, newest first. */
export type VerificationPage = JsonOf<operations['listVerifications']['responses'][200]>;
/** Whom it is about: an address, or all spellings of its mailbox with `canonical`. */
export type PrivacyExportRequest = BodyOf<'exportPerson'>;
export type PrivacyExport = JsonOf<operations['exportPerson']['responses'][200]>;
export type PrivacyEraseRequest = BodyOf<'erasePerson'>;
/** How many rows were erased, and which ones still mention the address. */
export type PrivacyErased = JsonOf<operations['erasePerson']['responses'][200]>;
/** Plan, credits and rate window; `series` where the query has `group_by`. */
export type Usage = JsonOf<operations['usage']['responses'][200]>;
export type UsageQuery = QueryOf<'usage'>;
export type FilterRequest = Exclude<BodyOf<'addFilter'>, { filter: unknown }>;
export type FilterChange = Exclude<BodyOf<'changeFilter'>, { filter: unknown }>;
export type Filter = FilterPage['filters'][number];
/** A filter that was added, changed or asked for alone. */
export type FilterDetails = JsonOf<operations['getFilter']['responses'][200]>;
export type FiltersQuery = QueryOf<'listFilters'>;
/** One page of filters, newest first. */
export type FilterPage = JsonOf<operations['listFilters']['responses'][200]>;
export type FilterRemoved = JsonOf<operations['removeFilter']['responses'][200]>;

/** What a file of filters brought, and why what it did not. */
export type FilterImport = JsonOf<operations['importFilters']['responses'][200]>;
export interface FilterImportOptions extends Omit<QueryOf<'importFilters'>, 'dry_run' | 'header'>, CallOptions {
  /** True changes nothing: the reply says what would be. */
  dry_run?: boolean | undefined;
  header?: boolean | 'auto' | undefined;
  /** Media type of a file or stream; by default that of the file, else `text/csv`. */
  type?: string | undefined;
}

/** Rules by which a verdict becomes a decision. */
export type Policy = Omit<JsonOf<operations['getPolicy']['responses'][200]>, 'warnings'>;
/** What is left out is accepted, or has its default. A policy that was read can be sent back. */
export type PolicyRequest = BodyOf<'putPolicy'>;

/** What became of one message to one recipient. */
export type Outcome = BodyOf<'reportOutcomes'>['outcomes'][number];
/** A result for each row, in their order. */
export type OutcomesResult = JsonOf<operations['reportOutcomes']['responses'][200]>;

/** What a message counts as, for each recipient that it names. */
export type OutcomeMessageResult = JsonOf<operations['reportOutcomeMessage']['responses'][200]>;
export type Calibration = JsonOf<operations['calibration']['responses'][200]>;

export type Webhook = JsonOf<operations['getWebhook']['responses'][200]>;
/** With the secret that signs, which cannot be read again. */
export type WebhookWithSecret = JsonOf<operations['createWebhook']['responses'][201]>;
export type WebhookRequest = BodyOf<'createWebhook'>;
export type WebhookChange = BodyOf<'changeWebhook'>;
export type Delivery = JsonOf<operations['testWebhook']['responses'][200]>;
export type DeliveriesQuery = QueryOf<'listDeliveries'>;
/** One page of deliveries, newest first. */
export type DeliveryPage = JsonOf<operations['listDeliveries']['responses'][200]>;

/**
 * What a webhook receives: `data` is the object of the API that the event is about, as its `type` says. Later versions
 * may send more types.
 */
export type WebhookEvent = JsonOf<webhooks[keyof webhooks]['post']['requestBody']>;
/** Of a Fetch API request, or an object of them as in Node and on serverless platforms, its names in any case. */
export type WebhookHeaders = Pick<Headers, 'get'> | Readonly<Record<string, string | readonly string[] | undefined>>;
export interface WebhookVerifyOptions {
  /** By how much the time of the request may differ from the clock; 300 by default. */
  toleranceSeconds?: number | undefined;
}

/** A set of addresses that is verified as one job. */
export type List = JsonOf<operations['getList']['responses'][200]>;
/** One row of the file, with its result; null is what is not known, or not done. */
export type ListRow = JsonOf<operations['listRows']['responses'][200]>['rows'][number];
/** How to read the file of a list. */
export type ListChange = BodyOf<'readList'>;
export type ListsQuery = QueryOf<'lists'>;
/** One page of lists, newest first. */
export type ListPage = JsonOf<operations['lists']['responses'][200]>;
export type ListRowsQuery = Omit<QueryOf<'listRows'>, 'after' | 'limit'>;
/** `format` is `csv` by default. */
export type ListResultsQuery = QueryOf<'listResults'>;
export type ListRemoved = JsonOf<operations['removeList']['responses'][200]>;

/** What the service reads: a file, a stream of one, or addresses. A stream in Node is one as well. */
export type ListSource = readonly string[] | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

export interface ListOptions extends Omit<QueryOf<'createList'>, 'start' | 'header'>, WriteOptions {
  /** False leaves the list `ready`, so that its price can be seen first. */
  start?: boolean | undefined;
  header?: boolean | 'auto' | undefined;
  /** Media type of a file or stream; by default that of the file, else `text/csv`. */
  type?: string | undefined;
}

export interface WaitOptions extends CallOptions {
  /** Called with the list each time it was looked at. */
  onProgress?: ((list: List) => void) | undefined;
  /** Milliseconds between looks; 2,000 by default. */
  interval?: number | undefined;
}

/** A list or its id. */
type ListRef = string | { readonly id: string };

export interface MailvetLists {
  /**
   * Uploads a list and starts it. A file or stream is sent as it is read, without a time limit unless `timeout` is
   * given. What prevents the start, such as too few credits, is the list's `error`.
   */
  create(source: ListSource, options?: ListOptions): Promise<List>;
  get(list: ListRef, options?: CallOptions): Promise<List>;
  list(query?: ListsQuery, options?: CallOptions): Promise<ListPage>;
  /** Reads the file of a list that is not started in another way: its rows and price change. */
  update(list: ListRef, change: ListChange, options?: CallOptions): Promise<List>;
  /** In a status that does not allow it, these are an error, 409 `list_state`. */
  start(list: ListRef, options?: CallOptions): Promise<List>;
  pause(list: ListRef, options?: CallOptions): Promise<List>;
  resume(list: ListRef, options?: CallOptions): Promise<List>;
  cancel(list: ListRef, options?: CallOptions): Promise<List>;
  /** Erases the list with its rows and results. */
  remove(list: ListRef, options?: CallOptions): Promise<ListRemoved>;
  /**
   * Resolves when the list is neither running nor paused. Aborting the signal, or a `timeout` of one look, ends the
   * wait, not the list.
   */
  wait(list: ListRef, options?: WaitOptions): Promise<List>;
  /** Every row, or those that match, in the order of the file, fetched page by page. */
  rows(list: ListRef, query?: ListRowsQuery, options?: CallOptions): AsyncGenerator<ListRow, void, undefined>;
  /** The file with the results, also while the list runs; the timeout is that until it begins. */
  results(list: ListRef, query?: ListResultsQuery, options?: CallOptions): Promise<ReadableStream<Uint8Array>>;
}

/** An account as an operator key sees it. */
export type ManagedAccount = JsonOf<operations['getAccount']['responses'][200]>;
export type ManagedAccountRequest = BodyOf<'createAccount'>;
/** `invitation`: of the owner, where one was named. */
export type ManagedAccountCreated = JsonOf<operations['createAccount']['responses'][201]>;
export type ManagedAccountChange = BodyOf<'changeAccount'>;
export type ManagedAccountsQuery = QueryOf<'listAccounts'>;
/** One page of accounts, newest first. */
export type ManagedAccountPage = JsonOf<operations['listAccounts']['responses'][200]>;
export type CreditGrantRequest = BodyOf<'grantCredits'>;
export type CreditGrant = JsonOf<operations['grantCredits']['responses'][201]>;
export type ManagedKeyRequest = BodyOf<'createAccountKey'>;
/** With the key itself in `value`, which cannot be read again. */
export type ManagedKeyCreated = JsonOf<operations['createAccountKey']['responses'][201]>;
export type ManagedKey = JsonOf<operations['revokeAccountKey']['responses'][200]>;
export type LedgerQuery = QueryOf<'accountLedger'>;
/** One page of the ledger, newest first. */
export type LedgerPage = JsonOf<operations['accountLedger']['responses'][200]>;

/** What programs that run the service do, with an operator key (`mv_op_…`). */
export interface MailvetOperator {
  readonly accounts: {
    list(query?: ManagedAccountsQuery, options?: CallOptions): Promise<ManagedAccountPage>;
    /** Invites the `owner`. A second account with the same `external_id` is an error, 422 `external_id_taken`. */
    create(account: ManagedAccountRequest, options?: WriteOptions): Promise<ManagedAccountCreated>;
    get(id: string, options?: CallOptions): Promise<ManagedAccount>;
    change(id: string, change: ManagedAccountChange, options?: WriteOptions): Promise<ManagedAccount>;
    /** From then on, all requests of the account are refused. */
    suspend(id: string, options?: WriteOptions): Promise<ManagedAccount>;
    resume(id: string, options?: WriteOptions): Promise<ManagedAccount>;
    /** Deletes the account and all that belongs to it. */
    remove(id: string, options?: WriteOptions): Promise<void>;
    /**
     * Grants credits, or takes them back, once for each `external_id`, however often it is called. Fewer credits than
     * are to be taken back are an error, 409 `balance_too_small`.
     */
    grant(id: string, grant: CreditGrantRequest, options?: WriteOptions): Promise<CreditGrant>;
    createKey(id: string, key: ManagedKeyRequest, options?: WriteOptions): Promise<ManagedKeyCreated>;
    revokeKey(id: string, key: string, options?: WriteOptions): Promise<ManagedKey>;
    usage(id: string, query?: UsageQuery, options?: CallOptions): Promise<Usage>;
    ledger(id: string, query?: LedgerQuery, options?: CallOptions): Promise<LedgerPage>;
  };
}

export interface MailvetOptions {
  /**
   * Where the service is, such as `https://verify.example.net`; a path is kept, and `/v1` at its end does not count.
   * Undefined, as a variable of the environment may be, throws at once, like `key`.
   */
  url: string | undefined;
  /** `mv_live_…`, or `mv_test_…` for test mode; for `operator`, `mv_op_…`. */
  key: string | undefined;
  /** Used in place of the platform's own. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Milliseconds for one call, retries included; 35,000 by default, as a check may take 30 seconds. */
  timeout?: number | undefined;
  /**
   * How often a call is retried after 429 or 503, each time after the delay that the service requests; 0 by default.
   * Such a call was not charged. Where the delay would exceed `timeout`, the error is thrown at once. A POST that may
   * be retried has an idempotency key of its own, unless the caller gives one.
   */
  retries?: number | undefined;
}

export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Overrides the client's own. */
  timeout?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /**
   * 1 to 255 characters. For 24 hours the same key with the same request returns the first reply and charges nothing,
   * so a call whose reply was lost can be repeated. The same upload again is the same list, as it is by then.
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
  /** Verifications of the log; the key needs the scope `log`. */
  readonly verifications: {
    /** As it was answered then; one that has expired or was erased is an error, 404. */
    get(id: string, options?: CallOptions): Promise<Verification>;
    /** Pass `next` as the next `cursor`; a page may be empty and still have one. */
    list(query?: VerificationsQuery, options?: CallOptions): Promise<VerificationPage>;
  };
  usage(query?: UsageQuery, options?: CallOptions): Promise<Usage>;
  /** Mailboxes that `verify` was asked to remember in a `scope`. */
  readonly seen: {
    /** Forgets one mailbox in a scope, such as that of a deleted user. Without an address it throws TypeError. */
    forget(mailbox: SeenMailbox, options?: CallOptions): Promise<Forgotten>;
    /** Forgets every mailbox of a scope. */
    forgetScope(scope: string, options?: CallOptions): Promise<Forgotten>;
  };
  /** What became of mail. */
  readonly outcomes: {
    /** Reports up to 1,000. A row with an error does not affect the others. */
    report(outcomes: readonly Outcome[], options?: WriteOptions): Promise<OutcomesResult>;
    /**
     * Reports a bounce or a complaint as a mail server sent it. `source`: your name of what sent the mail. `via`: as
     * what the dashboard counts it.
     */
    reportMessage(
      message: Uint8Array<ArrayBuffer> | string,
      options?: CallOptions & {
        readonly source?: string | undefined;
        readonly via?: 'message' | 'command' | undefined;
      },
    ): Promise<OutcomeMessageResult>;
  };
  /** How often verdicts were right, as far as outcomes show. */
  calibration(options?: CallOptions): Promise<Calibration>;
  readonly filters: {
    /** Adds a filter; one that exists already is an error, 422 `filter_exists`. */
    add(filter: FilterRequest, options?: WriteOptions): Promise<FilterDetails>;
    list(query?: FiltersQuery, options?: CallOptions): Promise<FilterPage>;
    /**
     * Every matching filter once, fetched page by page. Collect them before removing any: a removal shifts the pages
     * after it. The timeout applies to each page.
     */
    all(query?: Omit<FiltersQuery, 'page'>, options?: CallOptions): AsyncGenerator<Filter, void, undefined>;
    get(id: number, options?: CallOptions): Promise<FilterDetails>;
    /** What the change leaves out stays. */
    change(id: number, change: FilterChange, options?: CallOptions): Promise<FilterDetails>;
    /** Removes a filter; an unknown id is an error, 404. */
    remove(id: number, options?: CallOptions): Promise<FilterRemoved>;
    /**
     * Adds the filters of a file, which is sent as it is read, without a time limit unless `timeout` is given. Rows
     * that cannot be used are its `errors`, and change nothing.
     */
    import(source: Exclude<ListSource, readonly string[]>, options?: FilterImportOptions): Promise<FilterImport>;
    /** All filters as CSV; the timeout is that until it begins. */
    export(options?: CallOptions): Promise<ReadableStream<Uint8Array>>;
  };
  readonly lists: MailvetLists;
  readonly policies: {
    /** All of the account, the built-in ones first. */
    list(options?: CallOptions): Promise<Policy[]>;
    get(name: string, options?: CallOptions): Promise<Policy>;
    /** Creates or replaces it. */
    put(name: string, policy: PolicyRequest, options?: CallOptions): Promise<Policy>;
    remove(name: string, options?: CallOptions): Promise<void>;
  };
  /** What the account holds about a person; for a key with the scope `privacy`. */
  readonly privacy: {
    /** Everything, in memory: large lists make it large. */
    export(person: PrivacyExportRequest, options?: CallOptions): Promise<PrivacyExport>;
    /** Searches the whole log and all lists, which may take longer than the time limit of a call. */
    erase(person: PrivacyEraseRequest, options?: CallOptions): Promise<PrivacyErased>;
  };
  /** The operator API; everything else needs the API key of an account. */
  readonly operator: MailvetOperator;
  readonly webhooks: {
    create(webhook: WebhookRequest, options?: CallOptions): Promise<WebhookWithSecret>;
    /** All webhooks of the account, oldest first. */
    list(options?: CallOptions): Promise<Webhook[]>;
    get(id: string, options?: CallOptions): Promise<Webhook>;
    change(id: string, change: WebhookChange, options?: CallOptions): Promise<Webhook>;
    remove(id: string, options?: CallOptions): Promise<void>;
    /** The secret before signs alongside for 24 hours. */
    rotateSecret(id: string, options?: CallOptions): Promise<WebhookWithSecret>;
    /** Sends a ping and waits for its outcome, which is in `status` and `attempts`. */
    test(id: string, options?: CallOptions): Promise<Delivery>;
    deliveries(id: string, query?: DeliveriesQuery, options?: CallOptions): Promise<DeliveryPage>;
    /** Sends the event of a delivery again, with the same `webhook-id`. */
    replay(delivery: string, options?: CallOptions): Promise<Delivery>;
  };
}
