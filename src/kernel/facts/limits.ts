/**
 * Limits and defaults that clients, operators or dashboard users can encounter. Schemas, services, store, options,
 * commands and the dashboard all read them here. A test fails if one of these numbers is repeated elsewhere. Limits of
 * the DNS and SMTP protocols are defined in the engine.
 */
export interface Range {
  readonly min: number;
  readonly max: number;
}

// Texts are measured in characters.

/** An address to verify, as sent. Longer than RFC 5321 allows, since an address that is too long is a verdict. */
export const ADDRESS_LENGTH = { min: 1, max: 1024 };
/** A mail server's reply is kept with a verification up to this length. */
export const SMTP_MESSAGE_LENGTH = { min: 0, max: 300 };
export const FILTER_VALUE_LENGTH = { min: 1, max: 1024 };
export const FILTER_REASON_LENGTH = { min: 0, max: 500 };
/** How far ahead a filter may expire, years. */
export const FILTER_EXPIRY_YEARS = 10;
/** An expired filter is still listed for so long, then removed. */
export const FILTER_KEPT_DAYS = 30;
export const FILTER_QUERY_LENGTH = { min: 0, max: 1024 };
/** The name of a place where a mailbox may count once. */
export const SEEN_SCOPE_LENGTH = { min: 1, max: 64 };
export const NAME_LENGTH = { min: 1, max: 200 };
export const ACCOUNT_QUERY_LENGTH = { min: 0, max: 200 };
export const PERSON_NAME_LENGTH = { min: 1, max: 100 };
/** NIST SP 800-63B §5.1.1.2; what else a password must not be is in service/sign-in/validate.ts. */
export const PASSWORD_LENGTH = { min: 12, max: 256 };
/** As much of an account's name as a mail quotes. */
export const MAILED_NAME_LENGTH = 80;
export const PASSKEY_NAME_LENGTH = { min: 1, max: 100 };
/** The email address of a user follows RFC 5321 §4.5.3.1.3, without the angle brackets. */
export const USER_EMAIL_LENGTH = { min: 3, max: 254 };
export const NOTE_LENGTH = { min: 1, max: 500 };
/** It may be an IP address or a CIDR. */
export const IP_LENGTH = { min: 0, max: 64 };
/** Bounds the IDs or names in a search of the log, with commas between them. */
export const LOG_NAMES_LENGTH = { min: 0, max: 1_000 };
/** Bounds an ID or a text in a search of the log. */
export const LOG_QUERY_LENGTH = { min: 0, max: 64 };
/** Bounds a date or an RFC 3339 date-time. */
export const INSTANT_LENGTH = { min: 0, max: 40 };
/** The key is printable ASCII (draft-ietf-httpapi-idempotency-key-header). */
export const IDEMPOTENCY_KEY_LENGTH = { min: 1, max: 255 };
/** The link in a mail has this token. */
export const LINK_TOKEN_LENGTH = { min: 16, max: 128 };
/** Bounds a code of an authenticator app, or a recovery code. */
export const CODE_LENGTH = { min: 6, max: 20 };

/** The query with which an OpenID provider sends the browser back: codes of some are thousands of characters. */
export const OIDC_QUERY_LENGTH = { min: 1, max: 8_192 };
export const OIDC_TOKEN_LENGTH = { min: 16, max: 8_192 };

/** A reply of a mail server that operators ask to have explained. */
export const SMTP_REPLY_LENGTH = { min: 3, max: 6_000 };
/** What a mail server said of a mail that bounced; of a longer text, as much is read. */
export const MAIL_DIAGNOSTIC_LENGTH = { min: 0, max: 2_000 };
/** A report about sent mail, as it arrived. */
export const MAIL_REPORT_BYTES = 1024 * 1024;
/**
 * What is read of one: its first bytes and lines, up to so many boundaries; parts nested so deep, and so many bytes of
 * header lines in all of them. Of a bounce without a part for programs, so many characters of its text.
 */
export const MAIL_REPORT_READ = {
  bytes: 160 * 1024,
  lines: 4_000,
  boundaries: 64,
  depth: 20,
  headerBytes: 64 * 1024,
  text: 16 * 1024,
  recipients: 1_000,
};
/** A mail host has a name of this length (RFC 1035 §2.3.4). */
export const MAIL_HOST_LENGTH = { min: 0, max: 253 };

// Replies of mail servers that were read with low confidence, by kind.

export const UNCERTAIN_REPLIES_PER_OPERATOR = 100;
export const UNCERTAIN_REPLIES_MAX = 1_000;
/** The operators' page shows this many. */
export const UNCERTAIN_REPLIES_SHOWN = 100;

// Requests have these limits.

/** A check ends after this time. */
export const TIMEOUT_MS = { min: 1_000, max: 30_000, default: 10_000 };
/** Delayed replies of test mode at once, so that they cannot fill the service. */
export const TEST_WAITING_MAX = 500;
/** Outcomes of test mode that wait to be recorded, in one process; those beyond are not reported. */
export const TEST_OUTCOMES_WAITING = 1_000;
export const BODY_BYTES = 16 * 1024;
/** Addresses in one request, where another service's contract or a tool takes several; and checked at a time. */
export const COMPAT_BATCH = 200;
export const COMPAT_BATCH_AT_ONCE = 10;
export const COMPAT_BATCH_BYTES = 64 * 1024;
/** One call of a tool for assistants has at most this many addresses and bytes. */
export const MCP_EMAILS = 100;
export const MCP_BYTES = 256 * 1024;
/** A reply names this many unknown fields of its request, and this much of each name. */
export const WARNINGS_MAX = 10;
export const UNKNOWN_NAME_SHOWN = 40;
export const HEADER_BYTES = 16 * 1024;
/** A parameter of a path, decoded; nothing has a longer name. */
export const PATH_PARAM_LENGTH = { min: 1, max: 200 };
/** The headers of a request have to arrive within this time of its first byte. */
export const HEADERS_WITHIN_SECONDS = 10;
/** The body has so long to arrive after the headers; a route may have another bound. */
export const BODY_WITHIN_SECONDS = 14;
/**
 * Connections at once: of all clients but this host and trusted proxies, who have as many of their own; and of one
 * network (IPv4 address, IPv6 /64; a /56 has twice, a /48 four times as many).
 */
export const CONNECTIONS_MAX = 10_000;
export const CONNECTIONS_PER_NETWORK = { min: 1, max: CONNECTIONS_MAX, default: 500 };
/** A connection whose client reads nothing of a reply for so long is closed. */
export const OUTPUT_STALL_SECONDS = 10;
/** Pipelined requests of one connection that are served at once; those behind them wait, and nothing more is read. */
export const PIPELINED_AT_ONCE = 8;
/** Pipelined requests that wait: of one connection, and of all. Beyond that the connection is closed. */
export const PIPELINED_WAITING = 2_000;
export const PIPELINED_WAITING_TOTAL = 6_000;
/** A network may send this many wrong metrics tokens within the window. */
export const METRICS_GUESSES = 20;
export const METRICS_GUESSES_SECONDS = 60;
/** A network gets this many 401 replies per rate window. */
export const FAILED_AUTH_PER_WINDOW = 100;
/**
 * Requests of the dashboard per rate window and process: for one account, and of one user for none. Pages that are open
 * renew themselves every few seconds, so this is far above what people cause.
 */
export const DASHBOARD_PER_WINDOW = 6_000;
/** How long a process repeats that there were too many attempts to sign in, without asking the store. */
export const UNLOCK_WITHIN_SECONDS = 10;

// Pages

export const FILTERS_PER_PAGE = { min: 1, max: 100, default: 25 };
/** Pages use OFFSET; for filters beyond the last page, use a search. */
export const FILTERS_PAGE = { min: 1, max: 1_000_000, default: 1 };
/** A keyset page of the log, the ledger or the audit log has this many rows. */
export const PAGE_SIZE = { min: 1, max: 100, default: 50 };
export const ACCOUNTS_PER_PAGE = 50;
/** Failed jobs that are listed at once. */
export const OPERATOR_JOBS = 100;
export const ACCOUNTS_PAGE = { min: 1, max: 100_000, default: 1 };
/** One search examines this many rows of the log. */
export const LOG_SEARCH_ROWS = 5_000;
/** A member has at most this many in one account, on all pages together. */
export const SAVED_VIEWS_MAX = 100;
export const VIEW_NAME_LENGTH = { min: 1, max: 60 };
/** The query string of the page has this length. */
export const VIEW_SEARCH_LENGTH = { min: 1, max: 3_500 };
/** What is said of mail operators, and from where a key was used: of so many days, and the newest rows of them. */
export const RECENT_DAYS = 7;
export const RECENT_ROWS = 50_000;
/** For so many days, operators see what an account has spent. */
export const SPENT_DAYS = 30;
export const OPERATORS_SHOWN = 8;
export const KEY_CLIENTS_SHOWN = 20;
/** The page of keys shows the usage of this many days. */
export const KEY_USAGE_DAYS = 30;
/** The overview shows so many days of the balance, forecasts by the pace of so many days, and shows so many lists. */
export const BALANCE_DAYS = 30;
export const FORECAST_DAYS = 14;
export const OVERVIEW_LISTS = 3;
/** Days of the ledger that are shown at once. */
export const LEDGER_DAYS = { min: 1, max: 800, default: 90 };
/**
 * Rejected requests of an account that the log has one by one, in a minute and in a day (UTC); of those beyond it has
 * the number in each minute. Every process counts for itself.
 */
export const REJECTED_PER_MINUTE = 20;
export const REJECTED_PER_DAY = 2_000;
/** That wait to be written, in one process; those beyond are counted. */
export const REJECTED_WAITING = 5_000;
/** One chart has at most this many hours or days: a month of hours, two years of days. */
export const CHART_BUCKETS_MAX = 800;
/**
 * Usage counters are by the hour for as long, or as verifications are kept if longer: a chart of so many hours is
 * exact.
 */
export const USAGE_HOURS_KEPT_DAYS = Math.ceil(CHART_BUCKETS_MAX / 24) + 1;

// Files of addresses

export const LIST_ROWS = { min: 1, max: 1_000_000 };
export const LIST_BYTES = 200 * 1024 * 1024;
export const LIST_ROW_BYTES = 64 * 1024;
export const LIST_COLUMNS = { min: 1, max: 1_000 };
/** Clients build it as a JSON array in memory. */
export const LIST_JSON_ADDRESSES = { min: 1, max: 100_000 };
export const LIST_JSON_BYTES = 16 * 1024 * 1024;
/** Addresses of a file that the command verifies at once. */
export const FILE_CONCURRENCY = { min: 1, max: 1_000, default: 50 };

/** A list of which fewer than one in so many rows have an address does not start by itself. */
export const FEW_ADDRESSES_PER_ROW = 3;
/** Row with the names of the columns; 0: none has. */
export const LIST_HEADER_ROW = { min: 0, max: 1_000 };
/** The delimiter between two cells has this length. */
export const LIST_DELIMITER_LENGTH = { min: 1, max: 9 };
/** The names of columns have this length together. */
export const LIST_COLUMNS_LENGTH = { min: 1, max: 10_000 };
/** What a multipart or JSON upload may have besides the file. */
export const LIST_UPLOAD_EXTRA_BYTES = 64 * 1024;
/** The dashboard shows this many of the addresses of a list that wait. */
export const LIST_DEFERRED_SHOWN = 100;
/** Temporary files of all uploads of a process, in bytes; deploy/ has room for them. */
export const LIST_SPOOLED_BYTES = 2 ** 30;
/** The rows of a list take at most so many times the bytes of its file in the store, or so many if that is more. */
export const LIST_STORED_PER_SENT = 8;
export const LIST_STORED_FREE_BYTES = 64 * 1024;
/** What the result of an address takes in the store, with its indexes. */
export const LIST_RESULT_BYTES = 1_536;
/** Lists that an account keeps, whatever their status. */
export const LISTS_MAX = 1_000;
/** The name or number of a column, as a parameter. */
export const LIST_COLUMN_LENGTH = { min: 1, max: 200 };
export const LIST_QUERY_LENGTH = { min: 0, max: 256 };
export const LIST_ROWS_PER_PAGE = { min: 1, max: 1_000, default: 100 };
/** Blocks of rows that one page looks through; a page may have fewer rows than it could. */
export const LIST_BLOCKS_SEARCHED = 20;
/** How long addresses of a list that were deferred are asked about again. */
export const LIST_RETRY_MINUTES = { min: 0, max: 24 * 60, default: 60 };
/** A chunk of a list that was claimed so often without a single result ends the list as failed. */
export const LIST_CLAIMS_MAX = 10;

// Filters, keys, passkeys.

/** A file of filters has at most this many. */
export const FILTER_FILE_ROWS = 100_000;
export const FILTER_FILE_BYTES = 16 * 1024 * 1024;
/** Rows of it that are stored by one transaction, for which charges of the account wait. */
export const FILTER_BATCH_ROWS = 200;
/** Of the rows that cannot be used, so many are named; of the others, so many are shown. */
export const FILTER_ERRORS_SHOWN = 1_000;
export const FILTER_ROWS_SHOWN = 20;
/** The allowlist of a key has this many IP addresses and CIDRs. */
export const ALLOW_IPS = { min: 0, max: 200 };
/** How long the old key stays valid after a roll. */
export const KEY_GRACE_SECONDS = { min: 0, max: 30 * 86_400, default: 86_400 };
/** API keys of an account that are not revoked; as many revoked ones are shown, the newest. */
export const KEYS_MAX = 500;
/** Operator keys that are not revoked. */
export const OPERATOR_KEYS_MAX = 100;
/** An operator key expires at the latest after this many days. */
export const OPERATOR_KEY_DAYS = { min: 1, max: 730 };
/** One operator key may send this many requests per rate window and process. */
export const OPERATOR_REQUESTS_PER_WINDOW = 3_000;
/** What callers of the operator API call an account or a grant, such as the id of a payment. */
export const EXTERNAL_ID_LENGTH = { min: 1, max: 200 };
export const OPERATOR_ACCOUNTS_PER_PAGE = { min: 1, max: 100, default: 25 };
/** What a key may spend in a calendar month. */
export const KEY_MONTHLY_CREDITS = { min: 1, max: 1_000_000_000 };
/** A key not used for this long is flagged. */
export const KEY_IDLE_DAYS = 90;
/** In its first days a key may have been used by nobody yet, and from anywhere: it is not flagged for that. */
export const KEY_SETTLING_DAYS = 7;
export const PASSKEYS_MAX = 20;
/** Sessions that a user is shown, those seen last. */
export const SESSIONS_LISTED = 100;
/** What is kept of a User-Agent header. */
export const USER_AGENT_LENGTH = { min: 0, max: 384 };
/** People who share a browser and are recognized on it. */
export const DEVICE_USERS_MAX = 5;
/** A session or passkey has an ID of this length. */
export const SIGN_IN_ID_LENGTH = { min: 1, max: 64 };

/** An audit log has this many entries of one action and user in an hour; further ones share one entry. */
export const USER_EVENTS_PER_HOUR = 20;

// Policies

/** An account may have so many besides those that every account has. */
export const POLICIES_MAX = 50;
/** As a `scope`. */
export const POLICY_NAME_LENGTH = { min: 1, max: 64 };
/** One message in one language has this length. */
export const POLICY_MESSAGE_LENGTH = { min: 1, max: 200 };
/** One message is written in at most this many languages. */
export const POLICY_LANGUAGES_MAX = 20;
/** Bounds a tag of a language, or the value of an Accept-Language header. */
export const LANGUAGE_LENGTH = { min: 0, max: 200 };
/** Verifications that a policy is tried on before it is saved, the newest. */
export const POLICY_TRIED_ON = 1_000;

// Webhooks

/** An account has at most this many endpoints. */
export const WEBHOOKS_MAX = 20;
export const WEBHOOK_URL_LENGTH = { min: 1, max: 2_000 };
export const WEBHOOK_DESCRIPTION_LENGTH = { min: 0, max: 200 };
/** Secrets before the current one that sign as well; a signature for each is in the header. */
export const WEBHOOK_PREVIOUS_SECRETS_MAX = 4;
/** The body of an event has at most this size. */
export const WEBHOOK_BODY_BYTES = 64 * 1024;
/** Counts from the DNS query to the status of the reply. */
export const WEBHOOK_TIMEOUT_MS = 15_000;
/** As much of a reply's body is kept, in bytes. */
export const WEBHOOK_RESPONSE_BYTES = 1024;
/** Attempts at once to one endpoint. */
export const WEBHOOK_ATTEMPTS_AT_ONCE = 4;
/** Endpoints that one process sends to at once. */
export const WEBHOOK_ENDPOINTS_AT_ONCE = 200;
/** Tests at once: of one account, and of all accounts in one process. */
export const WEBHOOK_TESTS_PER_ACCOUNT = 2;
export const WEBHOOK_TESTS_AT_ONCE = 50;
export const DELIVERIES_PER_PAGE = { min: 1, max: 100, default: 25 };
export const DELIVERIES_PAGE = { min: 1, max: 100_000, default: 1 };

// Hooks of auth servers

/** An account has at most this many. */
export const HOOKS_MAX = 20;
export const HOOK_BODY_BYTES = 64 * 1024;
/** The secret of a caller that makes its own. */
export const HOOK_SECRET_LENGTH = { min: 8, max: 255 };
/** How long the caller waits; the reply is there HOOK_MARGIN_MS before. */
export const HOOK_TIMEOUT_MS = { min: 1_000, max: 30_000 };
export const HOOK_MARGIN_MS = 500;
/** One hook may call this often in a rate window, and process. */
export const HOOK_RATE_LIMIT = { min: 1, max: 1_000_000 };
/** How long the secret before a roll is accepted. */
export const HOOK_GRACE_SECONDS = { min: 0, max: 30 * 86_400, default: 86_400 };
/** Signatures of one request that are looked at. */
export const HOOK_SIGNATURES_MAX = 10;

// Providers that report outcomes of sent mail.

/** An account has at most this many connections. */
export const OUTCOME_SOURCES_MAX = 20;
/** What a provider's requests are proved by. */
export const OUTCOME_SECRET_LENGTH = { min: 8, max: 2_000 };
/** What a provider sends at once. */
export const PROVIDER_BODY_BYTES = 1024 * 1024;
/** So many of the reports in one body are read. */
export const PROVIDER_EVENTS_MAX = 10_000;
/** Bounds a certificate that signs notifications. */
export const SIGNING_CERTIFICATE_BYTES = 16 * 1024;

// Mails of the service, in a day

/** One mailbox gets at most this many, whoever causes them. */
export const MAILS_PER_MAILBOX = 10;
/** One account or network causes at most this many of them. */
export const MAILS_PER_MAILBOX_AND_ORIGIN = 5;

// Accounts

export const RETENTION_DAYS = { min: 1, max: 36_500, default: 30 };
/** Mailboxes that were seen in a scope of an account; 0: none is remembered. */
export const SEEN_DAYS = { min: 0, max: 36_500, default: 365 };
/** Outcomes of mail that an account sent; 0: none is kept. */
export const OUTCOMES_DAYS = { min: 0, max: 36_500, default: 400 };
/** An event of longer ago is not taken, days. */
export const OUTCOME_AGE_DAYS = 400;
export const OUTCOMES_PER_REQUEST = { min: 1, max: 1_000 };
export const OUTCOMES_BODY_BYTES = 3 * 1024 * 1024;
/** The account names what sent the mail so. */
export const OUTCOME_SOURCE_LENGTH = { min: 1, max: 64 };
/** For so many days a bounce of an address counts as a verdict. */
export const TRUST_BOUNCES_DAYS = { min: 1, max: 365 };
/** One event, and one page, has this many. */
export const CONTRADICTIONS_LISTED = 100;
export const RATE_LIMIT = { min: 1, max: 1_000_000_000 };
export const LOW_BALANCE = { min: 1, max: 1_000_000_000 };
export const PLAN_NAME_LENGTH = { min: 1, max: 40 };
export const PLANS_MAX = 100;
/** A plan in the plans file has these. The defaults of what an account can have are the most that there is. */
export const PLAN_NUMBERS = {
  requests_per_window: { min: 1, max: 1_000_000_000, default: 1 },
  monthly_credits: { min: 0, max: 1_000_000_000_000, default: 0 },
  price_mx: { min: 0, max: 10_000, default: 1 },
  price_smtp: { min: 0, max: 10_000, default: 10 },
  price_unknown: { min: 0, max: 10_000, default: 1 },
  filters: { min: 0, max: 10_000_000, default: 10_000_000 },
  mailboxes: { min: 0, max: 100_000_000, default: 100_000_000 },
  list_bytes: { min: 0, max: 2 ** 50, default: 2 ** 50 },
} as const;
export type PlanNumber = keyof typeof PLAN_NUMBERS;
export const OPENING_CREDITS = { min: 0, max: 1_000_000_000 };
export const GRANT_CREDITS = { min: -1_000_000_000, max: 1_000_000_000 };
/** One grant on the command line may have so many: its users have access to the database anyway. */
export const COMMAND_CREDITS_MAX = 1_000_000_000_000;
export const SIGNUP_CREDITS = { min: 0, max: 1_000_000_000, default: 100 };

// Stopping

/** How long a process still serves after SIGTERM. */
export const DRAIN_SECONDS = { min: 0, max: 3_600, default: 10 };

// The relay

export const RELAY_PORT = 1080;
export const RELAY_HEALTH_PORT = 1081;
export const RELAY_CONNECTIONS = { min: 1, max: 20_000, default: 1_000 };
export const RELAY_IDLE_SECONDS = { min: 1, max: 3_600, default: 120 };
/** Exceeds the longest dialogue of the mailbox check. */
export const RELAY_TOTAL_SECONDS = { min: 1, max: 86_400, default: 600 };
/** A network may fail to sign in this often within the window. */
export const RELAY_FAILED_LOGINS = 20;
export const RELAY_FAILED_LOGINS_SECONDS = 60;

// The store

/** A request that waits for the store longer gets 503. */
export const STORE_WAIT_SECONDS = 5;

// Clocks

/** A node whose clock differs from the store's by more is not ready and purges nothing. */
export const CLOCK_TOLERANCE_MS = 60_000;
/**
 * A store's clock that is ahead by more than this of what can have passed is doubted, and nothing is purged for as
 * long.
 */
export const CLOCK_DOUBT_HOURS = 24;

// Options of the checks

export const DNS_PORT = 53;
export const DNS_TIMEOUT_MS = { min: 50, max: 10_000, default: 2_000 };
export const SMTP_PORT = 25;
export const SMTP_CONNECTIONS_PER_HOST = { min: 1, max: 1_000, default: 5 };
/** Bounds the rate per second; 0 means unlimited. */
export const SMTP_RATE_PER_OPERATOR = { min: 0, max: 10_000, default: 2 };
/** 0 means that the breaker never opens. */
export const SMTP_BREAKER_SECONDS = { min: 0, max: 7 * 86_400, default: 3_600 };
/** Older lists lack too many domains. */
export const LISTS_STALE_DAYS = 30;
