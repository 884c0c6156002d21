/**
 * What every column of every table holds. From here follows what is exported and erased of a person (privacy.ts). A
 * column that is missing does not compile, or fails tests/store/contents.test.ts where only the sign-in library knows
 * it.
 */
import { keysOf } from '../kernel/facts/keys-of.ts';
import type { Tables } from './tables.ts';

/** Types are named by what they hold. */
const CONTENT = {
  /** The column has an email address and nothing else, in any spelling. */
  address: 'text',
  /** JSON of ours that may have an address in it. */
  json: 'text',
  /** What somebody has written, who may have mentioned an address. */
  text: 'text',
  /** The column has the HMAC of a mailbox under the secret of the account. */
  mailbox: 'text',
  /** The column has a piece of an uploaded file, in base64. */
  file: 'text',
  /** A key, a password or its hash: it is shown to nobody. */
  secret: 'text',
  /** An id, a hash, an IP address, one of a closed set: whatever cannot be an email address. */
  fact: 'text',
  /** A whole number that is no time. */
  number: 'bigint',
  /** The column has milliseconds since the epoch. */
  time: 'bigint',
  /** As the sign-in library stores them: each database has its own type for it. */
  flag: 'flag',
  moment: 'moment',
} as const;
export type Content = keyof typeof CONTENT;

type ContentGroups<C extends string> = { readonly [K in Content]?: readonly C[] };
type Grouped<G> = { readonly [K in keyof G]: G[K] extends readonly (infer C)[] ? C : never }[keyof G];

const byColumn = <C extends string>(groups: ContentGroups<C>): ReadonlyMap<string, Content> => {
  return new Map(
    keysOf(CONTENT).flatMap((content) => (groups[content] ?? []).map((column) => [column, content] as const)),
  );
};

/** The columns of a table; all of them. `More`: what only the sign-in library knows. */
const of =
  <T extends keyof Tables, More extends string = never>() =>
  <const G extends ContentGroups<(keyof Tables[T] & string) | More>>(
    groups: G &
      ([Exclude<keyof Tables[T] | More, Grouped<G>>] extends [never]
        ? unknown
        : { readonly missing: Exclude<keyof Tables[T] | More, Grouped<G>> }),
  ): ReadonlyMap<string, Content> =>
    byColumn<(keyof Tables[T] & string) | More>(groups);

/** What accounts have, and what the service knows of itself. */
const OF_ACCOUNTS = {
  accounts: of<'accounts'>()({
    text: ['name', 'external_id'],
    fact: ['id', 'plan', 'status', 'test_of', 'allowance_months'],
    number: [
      'rate_limit',
      'balance',
      'locked',
      'allowance',
      'allowance_given',
      'window_count',
      'purged_credits',
      'filter_emails',
      'filter_domains',
      'filter_ips',
      'filter_email_rules',
      'filter_domain_rules',
      'filter_ip_rules',
      'filter_mailboxes',
      'filter_mx_hosts',
      'last_filter_id',
      'retention_days',
      'low_balance',
      'second_factor_required',
      'outcomes_version',
      'trust_bounces_days',
      'operator_events',
    ],
    time: [
      'window_start',
      'filters_expire_at',
      'usage_daily_before',
      'created_at',
      'low_balance_told_at',
      'exhausted_told_at',
    ],
  }),
  keys: of<'keys'>()({
    text: ['name'],
    secret: ['hash'],
    fact: ['id', 'account_id', 'last_four', 'allow_ips', 'last_used_ip', 'scopes'],
    number: ['budget', 'budget_spent', 'budget_held'],
    time: ['created_at', 'expires_at', 'revoked_at', 'last_used_at', 'budget_month'],
  }),
  operator_keys: of<'operator_keys'>()({
    text: ['name'],
    secret: ['hash'],
    fact: ['id', 'last_four', 'allow_ips', 'scopes', 'last_used_ip'],
    time: ['created_at', 'expires_at', 'revoked_at', 'last_used_at'],
  }),
  external_grants: of<'external_grants'>()({
    text: ['external_id', 'note'],
    fact: ['grantee'],
    number: ['credits'],
    time: ['created_at'],
  }),
  ledger: of<'ledger'>()({
    text: ['note'],
    fact: ['account_id', 'kind', 'verification_id', 'hold_id', 'month'],
    number: ['id', 'amount', 'charged'],
    time: ['created_at'],
  }),
  ledger_days: of<'ledger_days'>()({
    fact: ['account_id'],
    number: ['verifications', 'amount', 'charged'],
    time: ['day'],
  }),
  holds: of<'holds'>()({
    fact: ['id', 'account_id', 'key_id', 'node', 'route', 'idempotency_key'],
    number: ['amount'],
    time: ['created_at', 'expires_at'],
  }),
  shared_holds: of<'shared_holds'>()({
    fact: ['id', 'account_id', 'key_id'],
    number: ['amount', 'purged_credits', 'life_ms'],
    time: ['created_at', 'expires_at', 'closed_at'],
  }),
  verifications: of<'verifications'>()({
    address: ['email'],
    json: ['body'],
    fact: [
      'id',
      'account_id',
      'key_id',
      'requested',
      'validation_type',
      'status',
      'deliverability',
      'reason',
      'client_ip',
      'hold_id',
      'via',
      'decision',
    ],
    number: ['seq', 'credits', 'duration_ms', 'held'],
    time: ['created_at'],
  }),
  usage_hours: of<'usage_hours'>()({
    fact: ['account_id', 'key_id', 'validation_type', 'status', 'reason'],
    number: ['requests', 'credits', 'api_requests', 'api_credits', 'list_requests', 'list_credits'],
    time: ['hour'],
  }),
  traffic_hours: of<'traffic_hours'>()({
    fact: ['account_id', 'metric'],
    number: ['bucket', 'count'],
    time: ['hour'],
  }),
  rejected_requests: of<'rejected_requests'>()({
    text: ['request_id'],
    fact: ['account_id', 'key_id', 'client_ip', 'route', 'code', 'via', 'answer'],
    number: ['id', 'count', 'status'],
    time: ['at'],
  }),
  idempotency: of<'idempotency'>()({
    json: ['headers', 'body'],
    text: ['key'],
    fact: ['account_id', 'route', 'fingerprint', 'state', 'node'],
    number: ['status'],
    time: ['created_at', 'expires_at'],
  }),
  filters: of<'filters'>()({
    address: ['value'],
    text: ['reason', 'reason_folded'],
    fact: ['account_id', 'filter_type', 'action'],
    number: ['id', 'hits'],
    time: ['created_at', 'expires_at', 'last_hit_at'],
  }),
  policies: of<'policies'>()({
    json: ['rules'],
    fact: ['account_id', 'name'],
    time: ['created_at', 'changed_at'],
  }),
  seen: of<'seen'>()({
    mailbox: ['mailbox'],
    fact: ['account_id', 'scope', 'spelling'],
    number: ['count'],
    time: ['first_at', 'last_at'],
  }),
  seen_secrets: of<'seen_secrets'>()({
    secret: ['secret'],
    fact: ['account_id'],
    number: ['mailboxes'],
  }),
  outcomes: of<'outcomes'>()({
    text: ['source'],
    mailbox: ['mailbox'],
    fact: ['account_id', 'class', 'domain', 'code'],
    time: ['at'],
  }),
  outcome_verdicts: of<'outcome_verdicts'>()({
    text: ['template'],
    mailbox: ['mailbox'],
    fact: ['account_id', 'verification_id', 'verdict', 'rule', 'reply', 'code', 'came_from'],
    number: ['predicted', 'bounced', 'contradicts'],
    time: ['at'],
  }),
  outcome_sums: of<'outcome_sums'>()({
    fact: ['account_id', 'kind', 'key'],
    number: ['sent', 'bounced', 'predicted'],
  }),
  outcome_sources: of<'outcome_sources'>()({
    text: ['name'],
    secret: ['secret', 'previous_secret'],
    fact: ['id', 'account_id', 'provider'],
    number: ['received'],
    time: ['previous_until', 'created_at', 'last_received_at'],
  }),
  alert_settings: of<'alert_settings'>()({
    fact: ['account_id', 'mails'],
    number: ['paused'],
  }),
  alert_causes: of<'alert_causes'>()({
    fact: ['account_id', 'type', 'subject', 'node'],
    time: ['since'],
  }),
  webhooks: of<'webhooks'>()({
    text: ['url', 'description'],
    secret: ['secret', 'previous_secret'],
    fact: ['id', 'account_id', 'events', 'disabled_reason', 'format'],
    number: ['enabled'],
    time: ['previous_until', 'disabled_at', 'failing_since', 'failed_at', 'created_at'],
  }),
  webhook_deliveries: of<'webhook_deliveries'>()({
    json: ['body', 'attempts'],
    fact: ['id', 'account_id', 'webhook_id', 'event_id', 'event', 'status'],
    number: ['attempt_count'],
    time: ['next_attempt_at', 'created_at', 'finished_at'],
  }),
  hooks: of<'hooks'>()({
    text: ['name'],
    secret: ['secret', 'previous_secret'],
    fact: ['id', 'account_id', 'kind', 'policy', 'scope'],
    number: ['timeout_ms', 'rate_limit'],
    time: ['previous_until', 'created_at', 'last_used_at'],
  }),
  lists: of<'lists'>()({
    json: ['layout', 'breakdown', 'error', 'summary', 'policy'],
    text: ['name', 'name_folded'],
    fact: ['id', 'account_id', 'key_id', 'client_ip', 'status', 'validation_type', 'pace'],
    number: [
      'patience_minutes',
      'total',
      'addresses',
      'duplicates',
      'blank',
      'unreadable',
      'done',
      'waiting',
      'unit_price',
      'price',
      'used',
      'bytes',
      'file_bytes',
      'readings',
    ],
    time: ['created_at', 'changed_at', 'started_at', 'finished_at'],
  }),
  list_files: of<'list_files'>()({
    file: ['content'],
    fact: ['account_id', 'list_id'],
    number: ['piece'],
  }),
  list_blocks: of<'list_blocks'>()({
    json: ['addresses', 'rows'],
    fact: ['account_id', 'list_id'],
    number: ['first_row', 'row_count', 'first_address'],
  }),
  list_chunks: of<'list_chunks'>()({
    fact: ['account_id', 'list_id', 'pending', 'lease'],
    number: ['first_row', 'attempts'],
    time: ['due_at'],
  }),
  list_waiting: of<'list_waiting'>()({
    address: ['email'],
    fact: ['account_id', 'list_id', 'operator', 'egress', 'lease'],
    number: ['address', 'attempts', 'claims'],
    time: ['first_at', 'due_at'],
  }),
  list_leases: of<'list_leases'>()({
    fact: ['lease'],
    time: ['renewed_at', 'ends_at'],
  }),
  shared_views: of<'shared_views'>()({
    text: ['name', 'search'],
    fact: ['id', 'account_id', 'page'],
  }),
  saved_views: of<'saved_views'>()({
    text: ['name', 'search'],
    fact: ['id', 'account_id', 'user_id', 'page'],
  }),
  dismissals: of<'dismissals'>()({
    fact: ['account_id', 'user_id', 'cause'],
  }),
  members: of<'members'>()({
    fact: ['account_id', 'user_id', 'role'],
    time: ['created_at', 'last_active_at'],
  }),
  invitations: of<'invitations'>()({
    address: ['email'],
    text: ['invited_by'],
    secret: ['token_hash'],
    fact: ['id', 'account_id', 'role', 'sender_id'],
    number: ['proves_address'],
    time: ['created_at', 'expires_at'],
  }),
  trail: of<'trail'>()({
    json: ['detail'],
    text: ['actor_name', 'target'],
    fact: ['account_id', 'actor_kind', 'actor_id', 'ip', 'action', 'merge_key'],
    number: ['id', 'count'],
    time: ['at', 'last_at'],
  }),
  jobs: of<'jobs'>()({
    json: ['payload'],
    text: ['key', 'last_error'],
    fact: ['id', 'kind', 'account_id', 'state'],
    number: ['attempts', 'attempt_limit'],
    time: ['due_at', 'set_at', 'created_at', 'failed_at'],
  }),
  oidc_identities: of<'oidc_identities'>()({
    text: ['issuer', 'subject'],
    fact: ['user_id'],
    time: ['created_at'],
  }),
  mailboxes: of<'mailboxes'>()({
    address: ['mailbox'],
    fact: ['user_id'],
  }),
  attempts: of<'attempts'>()({
    text: ['subject'],
    number: ['count'],
    time: ['ends_at'],
  }),
  uncertain_replies: of<'uncertain_replies'>()({
    text: ['template'],
    fact: ['operator', 'fingerprint', 'enhanced', 'rule', 'finding'],
    number: ['code', 'count'],
    time: ['first_seen', 'last_seen'],
  }),
  secrets: of<'secrets'>()({
    secret: ['value'],
    fact: ['name'],
  }),
  shared_files: of<'shared_files'>()({
    text: ['content'],
    fact: ['name', 'made'],
  }),
  nodes: of<'nodes'>()({
    fact: ['id', 'label', 'version'],
    time: ['started_at', 'seen_at'],
  }),
  heartbeat: of<'heartbeat'>()({
    number: ['id'],
    time: ['at'],
  }),
  store_clock: of<'store_clock'>()({
    number: ['id'],
    time: ['seen_at', 'doubted_at'],
  }),
  operator_leases: of<'operator_leases'>()({
    fact: ['operator', 'node'],
    time: ['renewed_at', 'ends_at'],
  }),
  pace_slices: of<'pace_slices'>()({
    fact: ['key', 'division'],
    number: ['version'],
    time: ['ends_at'],
  }),
};

/** Users of the dashboard, as the sign-in library stores them. */
const OF_SIGN_IN = {
  auth_users: of<'auth_users', 'image'>()({
    address: ['email'],
    text: ['name', 'image'],
    fact: ['id'],
    flag: ['emailVerified', 'twoFactorEnabled', 'operator'],
    moment: ['createdAt', 'updatedAt'],
  }),
  auth_sessions: of<'auth_sessions', 'token' | 'secondFactor'>()({
    text: ['userAgent'],
    secret: ['token'],
    fact: ['id', 'ipAddress', 'userId', 'oidcSession'],
    flag: ['secondFactor'],
    moment: ['expiresAt', 'createdAt', 'updatedAt'],
  }),
  auth_accounts: byColumn({
    text: ['accountId'],
    secret: ['accessToken', 'refreshToken', 'idToken', 'password'],
    fact: ['id', 'providerId', 'userId', 'scope'],
    moment: ['accessTokenExpiresAt', 'refreshTokenExpiresAt', 'createdAt', 'updatedAt'],
  }),
  auth_verifications: byColumn({
    text: ['identifier', 'value'],
    fact: ['id'],
    moment: ['expiresAt', 'createdAt', 'updatedAt'],
  }),
  auth_two_factors: byColumn({
    secret: ['secret', 'backupCodes'],
    fact: ['id', 'userId'],
    number: ['failedVerificationCount'],
    flag: ['verified'],
    moment: ['lockedUntil'],
  }),
  auth_passkeys: of<'auth_passkeys', 'publicKey' | 'counter' | 'deviceType' | 'backedUp' | 'transports' | 'aaguid'>()({
    text: ['name'],
    fact: ['id', 'publicKey', 'userId', 'credentialID', 'deviceType', 'transports', 'aaguid'],
    number: ['counter'],
    flag: ['backedUp'],
    moment: ['createdAt', 'lastUsedAt'],
  }),
};

export const CONTENTS = { ...OF_ACCOUNTS, ...OF_SIGN_IN } satisfies {
  readonly [T in keyof Tables]: ReadonlyMap<string, Content>;
};
/** Includes those that only the sign-in library uses. */
export type AnyTable = keyof typeof CONTENTS;

/** The columns of a table that may hold an address as a text that can be searched. */
export const mentioningColumns = (table: AnyTable): readonly string[] =>
  [...CONTENTS[table]].flatMap(([column, content]) =>
    content === 'address' || content === 'text' || content === 'json' ? [column] : [],
  );
