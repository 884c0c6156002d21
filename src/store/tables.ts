/** The tables as Kysely sees them; the same on both engines (migrations/). Times in ms, credits as whole numbers. */
import type { Generated, Selectable } from 'kysely';
import type { Level, Plan } from '../kernel/plans.ts';
import type { FilterType, LedgerRow } from './store.ts';

export interface AccountsTable {
  id: string;
  name: string;
  plan: Plan;
  rate_limit: number | null;
  status: 'active' | 'suspended';
  balance: Generated<number>;
  locked: Generated<number>;
  window_start: Generated<number>;
  window_count: Generated<number>;
  filter_emails: Generated<number>;
  filter_domains: Generated<number>;
  filter_ips: Generated<number>;
  purged_credits: Generated<number>;
  created_at: number;
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
}
export type Row<T extends keyof Tables> = Selectable<Tables[T]>;
