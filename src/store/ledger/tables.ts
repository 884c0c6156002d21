/** The ledger and what is held, as Kysely sees them (../tables.ts). */
import type { Generated } from 'kysely';
import type { LedgerRow } from '../api/accounts.ts';

export interface LedgerTable {
  id: Generated<number>;
  account_id: string;
  kind: Exclude<LedgerRow['kind'], 'day'>;
  amount: number;
  charged: Generated<number>;
  verification_id: string | null;
  note: string | null;
  created_at: number;
  hold_id: Generated<string | null>;
}
export interface LedgerDaysTable {
  account_id: string;
  day: number;
  verifications: number;
  amount: number;
  charged: number;
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
export interface SharedHoldsTable {
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
