/** The tables as Kysely sees them; the same on both engines (migrations/). Times in ms, credits as whole numbers. */
import type { ColumnType, Generated, Selectable } from 'kysely';
import type { Level, Plan } from '../kernel/plans.ts';
import type { Actor, FilterType, LedgerRow, Role, TrafficRow } from './store.ts';

/** Of the sign-in library's tables. SQLite has no booleans; PostgreSQL takes 0 and 1 for one. */
type Flag<None = never> = ColumnType<boolean | 0 | 1 | None, 0 | 1 | None, 0 | 1 | None>;
/** Likewise: ISO text, or PostgreSQL's own type. */
type Moment = ColumnType<string | Date, string, string>;

export interface AccountsTable {
  id: string;
  name: string;
  plan: Plan;
  rate_limit: number | null;
  /** `deleted`: gone for everybody; its rows follow (removal.ts). */
  status: 'active' | 'suspended' | 'deleted';
  balance: Generated<number>;
  locked: Generated<number>;
  window_start: Generated<number>;
  window_count: Generated<number>;
  filter_emails: Generated<number>;
  filter_domains: Generated<number>;
  filter_ips: Generated<number>;
  purged_credits: Generated<number>;
  created_at: number;
  retention_days: Generated<number | null>;
  low_balance: Generated<number | null>;
  low_balance_told_at: Generated<number | null>;
}
export interface KeysTable {
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
}
export interface LedgerTable {
  id: Generated<number>;
  account_id: string;
  kind: LedgerRow['kind'];
  amount: number;
  charged: Generated<number>;
  verification_id: string | null;
  note: string | null;
  created_at: number;
}
export interface HoldsTable {
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
export interface VerificationsTable {
  seq: Generated<number>;
  id: string;
  account_id: string;
  key_id: string;
  email: string;
  requested: Level;
  validation_type: Level;
  status: 'good' | 'bad';
  deliverability: string;
  reason: string | null;
  credits: number;
  client_ip: string | null;
  duration_ms: number;
  body: string;
  created_at: number;
}
export interface UsageHoursTable {
  account_id: string;
  hour: number;
  key_id: string;
  validation_type: Level;
  status: 'good' | 'bad';
  /** Empty for none. */
  reason: string;
  requests: number;
  credits: number;
}
export interface IdempotencyTable {
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
export interface FiltersTable {
  id: Generated<number>;
  account_id: string;
  filter_type: FilterType;
  value: string;
  reason: string | null;
  reason_folded: string;
  created_at: number;
}
export interface NodesTable {
  id: string;
  label: string;
  started_at: number;
}
export interface HeartbeatTable {
  id: number;
  at: number;
}

/** As far as the store itself looks at it. */
export interface AuthUsersTable {
  id: string;
  name: string;
  email: string;
  emailVerified: Flag;
  createdAt: Moment;
  updatedAt: Moment;
  twoFactorEnabled: Flag<null>;
  operator: Flag;
}
export interface MembersTable {
  account_id: string;
  user_id: string;
  role: Role;
  created_at: number;
}
export interface InvitationsTable {
  id: string;
  account_id: string;
  email: string;
  role: Role;
  token_hash: string;
  invited_by: string;
  created_at: number;
  expires_at: number;
}
export interface TrailTable {
  id: Generated<number>;
  account_id: string;
  at: number;
  actor_kind: Actor['kind'];
  actor_id: string | null;
  actor_name: string;
  ip: string | null;
  action: string;
  target: string;
  /** JSON object. */
  detail: string;
}
export interface AttemptsTable {
  subject: string;
  count: number;
  ends_at: number;
}
export interface TrafficHoursTable {
  account_id: string;
  hour: number;
  metric: TrafficRow['metric'];
  bucket: number;
  count: number;
}
export interface SecretsTable {
  name: string;
  value: string;
}

export interface Tables {
  accounts: AccountsTable;
  keys: KeysTable;
  ledger: LedgerTable;
  holds: HoldsTable;
  verifications: VerificationsTable;
  usage_hours: UsageHoursTable;
  idempotency: IdempotencyTable;
  filters: FiltersTable;
  nodes: NodesTable;
  heartbeat: HeartbeatTable;
  auth_users: AuthUsersTable;
  members: MembersTable;
  invitations: InvitationsTable;
  trail: TrailTable;
  attempts: AttemptsTable;
  traffic_hours: TrafficHoursTable;
  secrets: SecretsTable;
}
export type Row<T extends keyof Tables> = Selectable<Tables[T]>;
