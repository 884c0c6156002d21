/** The tables as Kysely sees them, the same on both databases (migrations/). Times in ms, credits as whole numbers. */

import type { ColumnType, Generated, Selectable, Transaction } from 'kysely';
import type { AuditAction } from '../kernel/audit-actions.ts';
import type { AlertType } from '../kernel/facts/alerts.ts';
import type { DeliveryStatus, DisabledReason, WebhookEventType, WebhookFormat } from '../kernel/facts/events.ts';
import type { FilterAction } from '../kernel/facts/filter-types.ts';
import type { HookKind } from '../kernel/facts/hooks.ts';
import type { ListStatus } from '../kernel/facts/lists.ts';
import type { AccountStatus, Level } from '../kernel/facts/plans.ts';
import type { PolicyAction } from '../kernel/facts/policies.ts';
import type { Deliverability, Reason, Status } from '../kernel/facts/reasons.ts';
import type { Role } from '../kernel/facts/roles.ts';
import type { OutcomeClass, OutcomeProvider } from '../kernel/facts/sent-mail.ts';
import type { JobState } from '../kernel/jobs.ts';
import type { Via } from '../kernel/log-origins.ts';
import type { FilterKind } from './filter-kinds.ts';
import type { Actor, LedgerRow, TrafficRow } from './store.ts';

interface TrafficHoursTable {
  account_id: string;
  hour: number;
  metric: TrafficRow['metric'];
  bucket: number;
  count: number;
}

interface RejectedRequestsTable {
  id: Generated<number>;
  account_id: string;
  at: number;
  count: number;
  request_id: string | null;
  key_id: string | null;
  client_ip: string | null;
  route: string | null;
  status: number | null;
  code: string | null;
  via: Generated<Via | null>;
  /** Of a hook, although there was no verdict. */
  answer: Generated<PolicyAction | null>;
}

interface RequestTables {
  traffic_hours: TrafficHoursTable;
  rejected_requests: RejectedRequestsTable;
}

interface LedgerTable {
  id: Generated<number>;
  account_id: string;
  /** An allowance is a grant with a `month`. */
  kind: Exclude<LedgerRow['kind'], 'day' | 'allowance'>;
  amount: number;
  charged: Generated<number>;
  verification_id: string | null;
  note: string | null;
  created_at: number;
  hold_id: Generated<string | null>;
  /** An allowance is for a month such as `2026-11`. */
  month: Generated<string | null>;
}
interface LedgerDaysTable {
  account_id: string;
  day: number;
  verifications: number;
  amount: number;
  charged: number;
}
interface HoldsTable {
  id: string;
  account_id: string;
  key_id: string;
  amount: number;
  node: string;
  route: string | null;
  idempotency_key: string | null;
  created_at: number;
  expires_at: number;
}
interface SharedHoldsTable {
  id: string;
  account_id: string;
  key_id: string;
  amount: number;
  purged_credits: Generated<number>;
  life_ms: number;
  created_at: number;
  expires_at: number;
  closed_at: Generated<number | null>;
}

/** What nodes share at mail servers, as Kysely sees it (../tables.ts). */
interface OperatorLeasesTable {
  operator: string;
  node: string;
  renewed_at: number;
  ends_at: number;
}
interface PaceSlicesTable {
  key: string;
  version: number;
  /** The text is a Division as JSON. */
  division: string;
  /** The slice that was leased last ends then. */
  ends_at: number;
}
interface PaceTables {
  operator_leases: OperatorLeasesTable;
  pace_slices: PaceSlicesTable;
}

interface WebhooksTable {
  id: string;
  account_id: string;
  url: string;
  /** The text is a JSON array of types, or of `*`. */
  events: string;
  description: string | null;
  secret: string;
  format: Generated<WebhookFormat>;
  /** Secrets before rotations, the newest first, separated by a space: they sign alongside until then. */
  previous_secret: string | null;
  previous_until: number | null;
  /** The flag is 1 or 0. */
  enabled: number;
  disabled_reason: DisabledReason | null;
  disabled_at: number | null;
  /** The first failure since an attempt succeeded was then, and the last one. */
  failing_since: number | null;
  failed_at: number | null;
  created_at: number;
}
interface WebhookDeliveriesTable {
  id: string;
  account_id: string;
  webhook_id: string;
  /** The header `webhook-id`, which stays the same for any endpoint, attempt or replay of the event. */
  event_id: string;
  event: WebhookEventType;
  /** As it is signed and sent. */
  body: string;
  status: DeliveryStatus;
  attempt_count: Generated<number>;
  /** The text is a JSON array of `DeliveryAttempt`. */
  attempts: Generated<string>;
  /** Null means no more. */
  next_attempt_at: number | null;
  created_at: number;
  finished_at: number | null;
}

interface AlertSettingsTable {
  account_id: string;
  /** The text is a JSON array of types. */
  mails: string;
  /** The flag is 1 or 0. */
  paused: number;
}
interface AlertCausesTable {
  account_id: string;
  type: AlertType;
  subject: string;
  since: number;
  node: string | null;
}

interface HooksTable {
  id: string;
  account_id: string;
  kind: HookKind;
  name: string;
  policy: string;
  /** Null: that of the caller is not known yet. */
  secret: string | null;
  previous_secret: Generated<string | null>;
  previous_until: Generated<number | null>;
  timeout_ms: number;
  rate_limit: number | null;
  created_at: number;
  last_used_at: Generated<number | null>;
  scope: Generated<string | null>;
}

interface OutcomeSourcesTable {
  id: string;
  account_id: string;
  provider: OutcomeProvider;
  name: string;
  /** Null: that of the provider is not known yet. */
  secret: string | null;
  previous_secret: Generated<string | null>;
  previous_until: Generated<number | null>;
  received: Generated<number>;
  created_at: number;
  last_received_at: Generated<number | null>;
}

interface SharedViewsTable {
  id: string;
  account_id: string;
  page: string;
  name: string;
  search: string;
}

interface DismissalsTable {
  account_id: string;
  user_id: string;
  cause: string;
}

/** Only the version before read it. */
interface SavedViewsTable {
  id: string;
  account_id: string;
  user_id: string;
  page: string;
  name: string;
  search: string;
}

interface ListsTable {
  id: string;
  account_id: string;
  key_id: string;
  client_ip: string | null;
  name: string;
  name_folded: string;
  /** `uploading`: not complete yet; `deleted`: its rows are removed later. Both are invisible. */
  status: ListStatus | 'uploading' | 'deleted';
  validation_type: Level;
  patience_minutes: number;
  /** The text is a ListLayout as JSON. */
  layout: string;
  total: Generated<number>;
  addresses: Generated<number>;
  duplicates: Generated<number>;
  blank: Generated<number>;
  unreadable: Generated<number>;
  done: Generated<number>;
  waiting: Generated<number>;
  /** The text is a ListBreakdown as JSON. */
  breakdown: string;
  unit_price: number;
  price: Generated<number>;
  used: Generated<number>;
  /** The bytes of its blocks and chunks as they were uploaded. */
  bytes: Generated<number>;
  /** The text is a ListError as JSON. */
  error: Generated<string | null>;
  created_at: number;
  changed_at: number;
  started_at: Generated<number | null>;
  finished_at: Generated<number | null>;
  /** The text is a Pace as JSON. */
  pace: Generated<string | null>;
  /** The text is a ListSummary as JSON. */
  summary: Generated<string | null>;
  /** The file takes so many bytes as it is stored; 0 means that none is kept. */
  file_bytes: Generated<number>;
  readings: Generated<number>;
  /** The text is a Policy as JSON; null means none. */
  policy: Generated<string | null>;
}
interface ListFilesTable {
  account_id: string;
  list_id: string;
  piece: number;
  /** The content is in base64. */
  content: string;
}
interface ListBlocksTable {
  account_id: string;
  list_id: string;
  first_row: number;
  row_count: number;
  first_address: number;
  /** The text is a JSON array of texts. */
  addresses: string;
  /** JSON, see blocks.ts. */
  rows: string;
}
interface ListChunksTable {
  account_id: string;
  list_id: string;
  first_row: number;
  /** The text is a JSON array of numbers. */
  pending: string;
  attempts: Generated<number>;
  due_at: Generated<number>;
  lease: Generated<string | null>;
}
interface ListWaitingTable {
  account_id: string;
  list_id: string;
  address: number;
  email: string;
  attempts: number;
  first_at: number | null;
  /** Null means that it is done. */
  due_at: number | null;
  claims: Generated<number>;
  operator: string | null;
  /** Names the egress that deferred it. */
  egress: Generated<string | null>;
  lease: Generated<string | null>;
}
interface ListLeasesTable {
  lease: string;
  renewed_at: number;
  ends_at: number;
}

/** The tables of the sign-in library have such flags. SQLite has no booleans; PostgreSQL takes 0 and 1 for one. */
type Flag<None = never> = ColumnType<boolean | 0 | 1 | None, 0 | 1 | None, 0 | 1 | None>;
/** The sign-in library's times are ISO text, or of PostgreSQL's own type. */
type Moment<None = never> = ColumnType<string | Date | None, string | None, string | None>;

export interface AccountsTable {
  id: string;
  name: string;
  plan: string;
  rate_limit: number | null;
  /** `deleted`: invisible; its rows are removed later (account-removal.ts). */
  status: AccountStatus | 'deleted';
  balance: Generated<number>;
  locked: Generated<number>;
  /** See `CreditState`, as the next two. */
  allowance: Generated<number>;
  allowance_months: Generated<string>;
  allowance_given: Generated<number>;
  window_start: Generated<number>;
  window_count: Generated<number>;
  filter_emails: Generated<number>;
  filter_domains: Generated<number>;
  filter_ips: Generated<number>;
  filter_email_rules: Generated<number>;
  filter_domain_rules: Generated<number>;
  filter_ip_rules: Generated<number>;
  filter_mailboxes: Generated<number>;
  filter_mx_hosts: Generated<number>;
  /** No filter of the account expires before; null: none does. */
  filters_expire_at: Generated<number | null>;
  purged_credits: Generated<number>;
  usage_daily_before: Generated<number>;
  last_filter_id: Generated<number>;
  created_at: number;
  retention_days: Generated<number | null>;
  low_balance: Generated<number | null>;
  low_balance_told_at: Generated<number | null>;
  /** The flag is 1 or 0. */
  second_factor_required: Generated<number>;
  /** Its live account; null: it is one. */
  test_of: Generated<string | null>;
  /** Changes with every outcome; 0: there is none. */
  outcomes_version: Generated<number>;
  trust_bounces_days: Generated<number | null>;
  /** What whoever created it calls it; unique. */
  external_id: Generated<string | null>;
  /** 1: its webhooks get events of all accounts. */
  operator_events: Generated<number>;
  exhausted_told_at: Generated<number | null>;
}
interface SharedFilesTable {
  name: string;
  made: string;
  content: string;
}
interface KeysTable {
  id: string;
  account_id: string;
  name: string;
  hash: string;
  last_four: string;
  allow_ips: string;
  created_at: number;
  revoked_at: number | null;
  last_used_at: number | null;
  last_used_ip: string | null;
  expires_at: number | null;
  /** Scopes are separated by spaces; null means DEFAULT_SCOPES. */
  scopes: string | null;
  /** Bounds a calendar month (UTC); null: there is no budget, and the counters mean nothing. */
  budget: number | null;
  budget_month: Generated<number>;
  budget_spent: Generated<number>;
  budget_held: Generated<number>;
}
interface OperatorKeysTable {
  id: string;
  name: string;
  hash: string;
  last_four: string;
  allow_ips: string;
  scopes: string;
  created_at: number;
  expires_at: number;
  revoked_at: Generated<number | null>;
  last_used_at: Generated<number | null>;
  last_used_ip: Generated<string | null>;
}
interface ExternalGrantsTable {
  external_id: string;
  /** Id of an account, perhaps of one that no longer exists. */
  grantee: string;
  credits: number;
  note: string;
  created_at: number;
}
interface VerificationsTable {
  seq: Generated<number>;
  id: string;
  account_id: string;
  key_id: string;
  email: string;
  requested: Level;
  validation_type: Level;
  status: Status;
  deliverability: Deliverability;
  reason: Reason | null;
  credits: number;
  client_ip: string | null;
  duration_ms: number;
  body: string;
  created_at: number;
  hold_id: Generated<string | null>;
  via: Generated<Via | null>;
  /** What was held for it, when it is its own ledger entry: the balance changed by held − credits. */
  held: Generated<number | null>;
  /** What the policy of the request said; null: it had none. */
  decision: Generated<PolicyAction | null>;
}
interface UsageHoursTable {
  account_id: string;
  hour: number;
  key_id: string;
  validation_type: Level;
  status: Status;
  /** Empty where there is none. */
  reason: Reason | '';
  requests: number;
  credits: number;
  /** What came by calls, one address each, and by lists; the rest is of earlier versions, which did not tell. */
  api_requests: Generated<number>;
  api_credits: Generated<number>;
  list_requests: Generated<number>;
  list_credits: Generated<number>;
}
interface IdempotencyTable {
  account_id: string;
  route: string;
  key: string;
  fingerprint: string;
  state: 'running' | 'done';
  status: number | null;
  headers: string | null;
  body: string | null;
  node: string;
  created_at: number;
  expires_at: number;
}
interface FiltersTable {
  /** The id is unique within the account. */
  id: number;
  account_id: string;
  filter_type: FilterKind;
  value: string;
  reason: string | null;
  reason_folded: string;
  created_at: number;
  action: FilterAction;
  expires_at: number | null;
  hits: number;
  last_hit_at: number | null;
}
interface PoliciesTable {
  account_id: string;
  name: string;
  /** The text is a PolicyRules as JSON. */
  rules: string;
  created_at: number;
  changed_at: number;
}
interface SeenTable {
  account_id: string;
  /**
   * It is the HMAC of the canonical address under the account's secret in base64url; `spelling` is that of the
   * normalized one.
   */
  mailbox: string;
  scope: string;
  spelling: string;
  count: number;
  first_at: number;
  last_at: number;
}
interface SeenSecretsTable {
  account_id: string;
  /** The secret has 32 bytes, in base64. */
  secret: string;
  /** Counts the rows of the account in `seen`. */
  mailboxes: number;
}
interface OutcomesTable {
  account_id: string;
  /** `mailbox` and `domain` are HMACs under the account's secret, in base64url. */
  mailbox: string;
  class: OutcomeClass;
  at: number;
  domain: string;
  code: string | null;
  source: string | null;
}
interface OutcomeVerdictsTable {
  account_id: string;
  verification_id: string;
  mailbox: string;
  at: number;
  /** As `groupKey` makes it. */
  verdict: string;
  predicted: number | null;
  /** The flag is 1 or 0. */
  bounced: number;
  contradicts: number;
  rule: string | null;
  reply: string | null;
  code: string | null;
  template: string | null;
  /** Ways on which outcomes came, with a blank around each; null: from before this was kept. */
  came_from: string | null;
}
interface OutcomeSumsTable {
  account_id: string;
  /** `key` is that of `groupKey`, the HMAC of the domain, tenths from 0 to 9, or an `OutcomeOrigin`. */
  kind: 'verdict' | 'domain' | 'predicted' | 'origin';
  key: string;
  /** For an origin, it counts all that came. */
  sent: number;
  bounced: number;
  /** The sum over all that were sent is in thousandths. An origin has here the time when its last one came, ms. */
  predicted: number;
}
interface OutcomeTables {
  outcomes: OutcomesTable;
  outcome_verdicts: OutcomeVerdictsTable;
  outcome_sums: OutcomeSumsTable;
}
interface NodesTable {
  id: string;
  label: string;
  started_at: number;
  version: Generated<string | null>;
  seen_at: Generated<number | null>;
}
interface HeartbeatTable {
  id: number;
  at: number;
}

/** Only the columns that the store itself reads. */
interface AuthUsersTable {
  id: string;
  name: string;
  email: string;
  emailVerified: Flag;
  createdAt: Moment;
  updatedAt: Moment;
  twoFactorEnabled: Flag<null>;
  operator: Flag;
}
/** Lacks the token's hash, which only the sign-in library needs. */
interface AuthSessionsTable {
  id: string;
  userId: string;
  expiresAt: Moment;
  createdAt: Moment;
  updatedAt: Moment;
  ipAddress: string | null;
  userAgent: string | null;
  oidcSession: string | null;
}
interface OidcIdentitiesTable {
  issuer: string;
  subject: string;
  user_id: string;
  created_at: number;
}
interface AuthPasskeysTable {
  id: string;
  userId: string;
  name: string | null;
  credentialID: string;
  createdAt: Moment<null>;
  lastUsedAt: Moment<null>;
}
interface MembersTable {
  account_id: string;
  user_id: string;
  role: Role;
  created_at: number;
  last_active_at: Generated<number | null>;
}
interface MailboxesTable {
  /** As `mailboxOf` of the engine writes it. */
  mailbox: string;
  user_id: string;
}
interface InvitationsTable {
  id: string;
  account_id: string;
  email: string;
  role: Role;
  token_hash: string;
  invited_by: string;
  sender_id: Generated<string | null>;
  proves_address: Generated<number>;
  created_at: number;
  expires_at: number;
}
interface StoreClockTable {
  id: number;
  seen_at: number;
  doubted_at: number | null;
}
interface TrailTable {
  id: Generated<number>;
  /** Null is for a user without an account. */
  account_id: string | null;
  at: number;
  actor_kind: Actor['kind'];
  actor_id: string | null;
  actor_name: string;
  ip: string | null;
  action: AuditAction;
  target: string;
  /** The text is a JSON object. */
  detail: string;
  count: Generated<number>;
  last_at: Generated<number | null>;
  merge_key: Generated<string | null>;
}
interface AttemptsTable {
  subject: string;
  count: number;
  ends_at: number;
}
interface UncertainRepliesTable {
  operator: string;
  fingerprint: string;
  code: number;
  enhanced: string | null;
  template: string;
  rule: string;
  finding: string;
  count: number;
  first_seen: number;
  last_seen: number;
}
interface SecretsTable {
  name: string;
  value: string;
}

/** See store/jobs/jobs.ts. */
interface JobsTable {
  id: string;
  /** The kind is a JobKind, or one that another version of the service knows. */
  kind: string;
  key: string;
  account_id: string | null;
  /** The text is a JSON object. */
  payload: string;
  state: JobState;
  attempts: number;
  attempt_limit: number;
  due_at: number;
  set_at: number;
  last_error: string | null;
  created_at: number;
  failed_at: number | null;
}

export interface Tables extends PaceTables, RequestTables, OutcomeTables {
  accounts: AccountsTable;
  keys: KeysTable;
  operator_keys: OperatorKeysTable;
  external_grants: ExternalGrantsTable;
  ledger: LedgerTable;
  ledger_days: LedgerDaysTable;
  holds: HoldsTable;
  shared_holds: SharedHoldsTable;
  verifications: VerificationsTable;
  usage_hours: UsageHoursTable;
  idempotency: IdempotencyTable;
  filters: FiltersTable;
  policies: PoliciesTable;
  seen: SeenTable;
  seen_secrets: SeenSecretsTable;
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
  alert_settings: AlertSettingsTable;
  alert_causes: AlertCausesTable;
  hooks: HooksTable;
  outcome_sources: OutcomeSourcesTable;
  nodes: NodesTable;
  heartbeat: HeartbeatTable;
  store_clock: StoreClockTable;
  auth_users: AuthUsersTable;
  auth_sessions: AuthSessionsTable;
  auth_passkeys: AuthPasskeysTable;
  oidc_identities: OidcIdentitiesTable;
  members: MembersTable;
  saved_views: SavedViewsTable;
  shared_views: SharedViewsTable;
  dismissals: DismissalsTable;
  mailboxes: MailboxesTable;
  invitations: InvitationsTable;
  trail: TrailTable;
  attempts: AttemptsTable;
  uncertain_replies: UncertainRepliesTable;
  secrets: SecretsTable;
  jobs: JobsTable;
  lists: ListsTable;
  list_blocks: ListBlocksTable;
  list_files: ListFilesTable;
  list_chunks: ListChunksTable;
  list_waiting: ListWaitingTable;
  list_leases: ListLeasesTable;
  shared_files: SharedFilesTable;
}
export type Row<T extends keyof Tables> = Selectable<Tables[T]>;
export type Trx = Transaction<Tables>;
