// Generated from src/kernel/ by `npm run gen`; edit it there.

// src/kernel/limits.ts
export const ACCOUNTS_PAGE = {"min":1,"max":100000,"default":1} as const;
export const ACCOUNTS_PER_PAGE = 50 as const;
export const ACCOUNT_QUERY_LENGTH = {"min":0,"max":200} as const;
export const ADDRESS_LENGTH = {"min":1,"max":1024} as const;
export const ALLOW_IPS = {"min":0,"max":200} as const;
export const BALANCE_DAYS = 30 as const;
export const BODY_BYTES = 16384 as const;
export const BODY_WITHIN_SECONDS = 14 as const;
export const CHART_BUCKETS_MAX = 800 as const;
export const CLOCK_DOUBT_HOURS = 24 as const;
export const CLOCK_TOLERANCE_SECONDS = 60 as const;
export const CODE_LENGTH = {"min":6,"max":20} as const;
export const COMMAND_CREDITS_MAX = 1000000000000 as const;
export const COMPAT_BATCH = 200 as const;
export const COMPAT_BATCH_AT_ONCE = 10 as const;
export const COMPAT_BATCH_BYTES = 65536 as const;
export const CONNECTIONS_MAX = 10000 as const;
export const CONNECTIONS_PER_NETWORK = {"min":1,"max":10000,"default":500} as const;
export const DASHBOARD_PER_WINDOW = 6000 as const;
export const DELIVERIES_PAGE = {"min":1,"max":100000,"default":1} as const;
export const DELIVERIES_PER_PAGE = {"min":1,"max":100,"default":25} as const;
export const DEVICE_USERS_MAX = 5 as const;
export const DNS_PORT = 53 as const;
export const DNS_TIMEOUT_MS = {"min":50,"max":10000,"default":2000} as const;
export const DRAIN_SECONDS = {"min":0,"max":3600,"default":10} as const;
export const FAILED_AUTH_PER_WINDOW = 100 as const;
export const FILE_CONCURRENCY = {"min":1,"max":1000,"default":50} as const;
export const FILTERS_PAGE = {"min":1,"max":1000000,"default":1} as const;
export const FILTERS_PER_PAGE = {"min":1,"max":100,"default":25} as const;
export const FILTER_QUERY_LENGTH = {"min":0,"max":1024} as const;
export const FILTER_REASON_LENGTH = {"min":0,"max":500} as const;
export const FILTER_VALUE_LENGTH = {"min":1,"max":1024} as const;
export const FORECAST_DAYS = 14 as const;
export const GRANT_CREDITS = {"min":-1000000000,"max":1000000000} as const;
export const HEADERS_WITHIN_SECONDS = 10 as const;
export const HEADER_BYTES = 16384 as const;
export const IDEMPOTENCY_KEY_LENGTH = {"min":1,"max":255} as const;
export const IMPORT_BODY_BYTES = 262144 as const;
export const IMPORT_LINES = {"min":1,"max":200} as const;
export const INSTANT_LENGTH = {"min":0,"max":40} as const;
export const IP_LENGTH = {"min":0,"max":64} as const;
export const KEYS_MAX = 500 as const;
export const KEY_CLIENTS_SHOWN = 20 as const;
export const KEY_GRACE_SECONDS = {"min":0,"max":2592000,"default":86400} as const;
export const KEY_IDLE_DAYS = 90 as const;
export const KEY_MONTHLY_CREDITS = {"min":1,"max":1000000000} as const;
export const KEY_USAGE_DAYS = 30 as const;
export const LEDGER_DAYS = {"min":1,"max":800,"default":90} as const;
export const LINK_TOKEN_LENGTH = {"min":16,"max":128} as const;
export const LISTS_MAX = 1000 as const;
export const LISTS_STALE_DAYS = 30 as const;
export const LIST_BLOCKS_SEARCHED = 20 as const;
export const LIST_BYTES = 209715200 as const;
export const LIST_CLAIMS_MAX = 10 as const;
export const LIST_COLUMNS = {"min":1,"max":200} as const;
export const LIST_COLUMN_LENGTH = {"min":1,"max":200} as const;
export const LIST_DEFERRED_SHOWN = 100 as const;
export const LIST_JSON_ADDRESSES = {"min":1,"max":100000} as const;
export const LIST_JSON_BYTES = 16777216 as const;
export const LIST_PATIENCE_MINUTES = {"min":0,"max":1440,"default":60} as const;
export const LIST_QUERY_LENGTH = {"min":0,"max":256} as const;
export const LIST_RESULT_BYTES = 1536 as const;
export const LIST_ROWS = {"min":1,"max":1000000} as const;
export const LIST_ROWS_PER_PAGE = {"min":1,"max":1000,"default":100} as const;
export const LIST_ROW_BYTES = 65536 as const;
export const LIST_SPOOLED_BYTES = 1073741824 as const;
export const LIST_STORED_FREE_BYTES = 65536 as const;
export const LIST_STORED_PER_SENT = 8 as const;
export const LIST_UPLOAD_EXTRA_BYTES = 65536 as const;
export const LOG_QUERY_LENGTH = {"min":0,"max":64} as const;
export const LOG_SEARCH_ROWS = 5000 as const;
export const LOW_BALANCE = {"min":1,"max":1000000000} as const;
export const MAILBOX_CHECKS_COUNTED = 1000 as const;
export const MAILED_NAME_LENGTH = 80 as const;
export const MAILS_PER_MAILBOX = 10 as const;
export const MAILS_PER_MAILBOX_AND_ORIGIN = 5 as const;
export const MAIL_HOST_LENGTH = {"min":0,"max":253} as const;
export const MCP_BYTES = 262144 as const;
export const MCP_EMAILS = 100 as const;
export const METRICS_GUESSES = 20 as const;
export const METRICS_GUESSES_SECONDS = 60 as const;
export const NAME_LENGTH = {"min":1,"max":200} as const;
export const NOTE_LENGTH = {"min":1,"max":500} as const;
export const OPENING_CREDITS = {"min":0,"max":1000000000} as const;
export const OPERATORS_SHOWN = 8 as const;
export const OPERATOR_JOBS = 100 as const;
export const OUTPUT_STALL_SECONDS = 10 as const;
export const OVERVIEW_LISTS = 3 as const;
export const PAGE_SIZE = {"min":1,"max":100,"default":50} as const;
export const PASSKEYS_MAX = 20 as const;
export const PASSKEY_NAME_LENGTH = {"min":1,"max":100} as const;
export const PATH_PARAM_LENGTH = {"min":1,"max":200} as const;
export const PERSON_NAME_LENGTH = {"min":1,"max":100} as const;
export const PIPELINED_AT_ONCE = 8 as const;
export const PIPELINED_WAITING = 2000 as const;
export const PIPELINED_WAITING_TOTAL = 6000 as const;
export const RATE_LIMIT = {"min":1,"max":1000000000} as const;
export const REJECTED_PER_DAY = 2000 as const;
export const REJECTED_PER_MINUTE = 20 as const;
export const REJECTED_WAITING = 5000 as const;
export const RETENTION_DAYS = {"min":1,"max":36500,"default":30} as const;
export const SAVED_VIEWS_MAX = 100 as const;
export const SESSIONS_LISTED = 100 as const;
export const SIGNUP_CREDITS = {"min":0,"max":1000000000,"default":100} as const;
export const SIGN_IN_ID_LENGTH = {"min":1,"max":64} as const;
export const SMTP_BREAKER_SECONDS = {"min":0,"max":604800,"default":3600} as const;
export const SMTP_CONNECTIONS_PER_HOST = {"min":1,"max":1000,"default":5} as const;
export const SMTP_PORT = 25 as const;
export const SMTP_RATE_PER_OPERATOR = {"min":0,"max":10000,"default":2} as const;
export const SMTP_REPLY_LENGTH = {"min":3,"max":6000} as const;
export const STORE_WAIT_SECONDS = 5 as const;
export const TEST_WAITING_MAX = 500 as const;
export const TIMEOUT_MS = {"min":1000,"max":30000,"default":10000} as const;
export const UNCERTAIN_REPLIES_MAX = 1000 as const;
export const UNCERTAIN_REPLIES_PER_OPERATOR = 100 as const;
export const UNCERTAIN_REPLIES_SHOWN = 100 as const;
export const UNKNOWN_NAME_SHOWN = 40 as const;
export const UNLOCK_WITHIN_SECONDS = 10 as const;
export const USAGE_HOURS_KEPT_DAYS = 35 as const;
export const USER_AGENT_LENGTH = {"min":0,"max":384} as const;
export const USER_EMAIL_LENGTH = {"min":3,"max":254} as const;
export const USER_EVENTS_PER_HOUR = 20 as const;
export const VIEW_NAME_LENGTH = {"min":1,"max":60} as const;
export const VIEW_SEARCH_LENGTH = {"min":1,"max":3500} as const;
export const WARNINGS_MAX = 10 as const;
export const WEBHOOKS_MAX = 20 as const;
export const WEBHOOK_ATTEMPTS_AT_ONCE = 4 as const;
export const WEBHOOK_BODY_BYTES = 65536 as const;
export const WEBHOOK_DESCRIPTION_LENGTH = {"min":0,"max":200} as const;
export const WEBHOOK_ENDPOINTS_AT_ONCE = 200 as const;
export const WEBHOOK_PREVIOUS_SECRETS_MAX = 4 as const;
export const WEBHOOK_RESPONSE_BYTES = 1024 as const;
export const WEBHOOK_TESTS_AT_ONCE = 50 as const;
export const WEBHOOK_TESTS_PER_ACCOUNT = 2 as const;
export const WEBHOOK_TIMEOUT_MS = 15000 as const;
export const WEBHOOK_URL_LENGTH = {"min":1,"max":2000} as const;

// src/kernel/lifetimes.ts
export const COMMAND_RESET_LINK_HOURS = 24 as const;
export const DEVICE_DAYS = 365 as const;
export const FRESH_SIGN_IN_DAYS = 1 as const;
export const HSTS_SECONDS = 31536000 as const;
export const IDEMPOTENCY_HOURS = 24 as const;
export const INVITATIONS_PER_HOUR = 30 as const;
export const INVITATION_DAYS = 7 as const;
export const LIST_HOLD_DAYS = 36500 as const;
export const LIST_LEASE_SECONDS = 30 as const;
export const LIST_UPLOAD_MINUTES = 60 as const;
export const PACE_SLICE_SECONDS = 6 as const;
export const RESET_LINK_HOURS = 1 as const;
export const SESSION_DAYS = 7 as const;
export const SESSION_MAX_DAYS = 30 as const;
export const SESSION_REFRESH_MINUTES = 60 as const;
export const SETUP_LINK_HOURS = 1 as const;
export const SIGNUP_LINK_HOURS = 24 as const;
export const WEBHOOK_FAILING_DAYS = 5 as const;
export const WEBHOOK_RETRY_SECONDS = [5,300,1800,7200,18000,36000,50400,72000,86400] as const;
export const WEBHOOK_SECRET_OVERLAP_HOURS = 24 as const;

// src/kernel/plans.ts
export const ACCOUNT_STATUSES = ["active","suspended"] as const;
export const DEFAULT_LEVEL = "mx" as const;
export const DEFAULT_PLAN = "starter" as const;
export const FIRST_ACCOUNT = {"name":"Default","plan":"enterprise","rateLimit":100000,"credits":10000000,"note":"First account"} as const;
export const HIGHEST_PRICE = 10 as const;
export const LEVELS = ["mx","smtp"] as const;
export const PLANS = {"starter":{"requestsPerWindow":60,"smtp":false,"filters":10000,"listBytes":4294967296},"premium":{"requestsPerWindow":300,"smtp":true,"filters":100000,"listBytes":21474836480},"enterprise":{"requestsPerWindow":3000,"smtp":true,"filters":1000000,"listBytes":107374182400}} as const;
export const PLAN_NAMES = ["starter","premium","enterprise"] as const;
export const PLAN_WITH_SMTP = "premium" as const;
export const PRICE = {"mx":1,"smtp":10} as const;
export const TEST_CREDITS = 1000000 as const;
export const WINDOW_SECONDS = 300 as const;

// src/kernel/roles.ts
export const ROLES = ["member","admin","owner"] as const;

// src/kernel/lists.ts
export const LIST_ACTION_STATUSES = {"start":["ready"],"pause":["running"],"resume":["paused"],"cancel":["ready","running","paused"],"delete":["ready","paused","completed","cancelled","failed"]} as const;
export const LIST_STATUSES = ["ready","running","paused","completed","cancelled","failed"] as const;
export const RESULT_FORMATS = ["csv","xlsx","jsonl"] as const;
export const ROW_KINDS = ["address","duplicate","blank","unreadable"] as const;

// src/kernel/key-scopes.ts
export const KEY_SCOPES = ["verify","lists","filters","usage","webhooks"] as const;

// src/kernel/log-filters.ts
export const LOG_NEGATABLE = ["level","deliverability","reason","key","origin","operator","status"] as const;

// src/kernel/filter-types.ts
export const FILTER_ACTIONS = ["block"] as const;
export const FILTER_TYPES = ["email","domain","ip_address"] as const;

// src/kernel/saved-views.ts
export const VIEW_PAGES = ["log"] as const;

// src/kernel/password-rules.ts
export const FREQUENT_PASSWORDS = 10000 as const;
export const PASSWORD_LENGTH = {"min":12,"max":256} as const;

// src/kernel/sort-orders.ts
export const FILTER_ORDERS = {"added":"desc","value":"asc","type":"asc","reason":"asc"} as const;
export const LIST_ORDERS = {"created":"desc","name":"asc","rows":"desc","spent":"desc"} as const;
export const ORDERS = ["asc","desc"] as const;

// src/kernel/webhook-events.ts
export const ATTEMPT_ERRORS = ["timeout","unknown_host","dns_failure","address_not_allowed","not_https","connection_failed","certificate_expired","certificate_name_mismatch","certificate_untrusted","tls_failed","invalid_reply"] as const;
export const DELIVERY_STATUSES = ["pending","delivered","failed"] as const;
export const DISABLED_REASONS = ["manual","gone","failing"] as const;
export const EVERY_EVENT = "*" as const;
export const WEBHOOK_EVENT_TYPES = ["list.completed","list.failed","list.cancelled","credits.low","key.created","key.revoked","ping"] as const;
