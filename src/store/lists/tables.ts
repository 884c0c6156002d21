/** Lists of addresses, as Kysely sees them (../tables.ts). */
import type { Generated } from 'kysely';
import type { ListStatus } from '../../kernel/facts/lists.ts';
import type { Level } from '../../kernel/facts/plans.ts';

export interface ListsTable {
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
  /** JSON, ListLayout. */
  layout: string;
  total: Generated<number>;
  addresses: Generated<number>;
  duplicates: Generated<number>;
  blank: Generated<number>;
  unreadable: Generated<number>;
  done: Generated<number>;
  waiting: Generated<number>;
  /** JSON, ListBreakdown. */
  breakdown: string;
  unit_price: number;
  price: Generated<number>;
  used: Generated<number>;
  /** Of its blocks and chunks as they were uploaded. */
  bytes: Generated<number>;
  /** JSON, ListError. */
  error: Generated<string | null>;
  created_at: number;
  changed_at: number;
  started_at: Generated<number | null>;
  finished_at: Generated<number | null>;
  /** JSON, Pace. */
  pace: Generated<string | null>;
}
export interface ListBlocksTable {
  account_id: string;
  list_id: string;
  first_row: number;
  row_count: number;
  first_address: number;
  /** JSON array of texts. */
  addresses: string;
  /** JSON, see blocks.ts. */
  rows: string;
}
export interface ListChunksTable {
  account_id: string;
  list_id: string;
  first_row: number;
  /** JSON array of numbers. */
  pending: string;
  attempts: Generated<number>;
  due_at: Generated<number>;
  lease: Generated<string | null>;
}
export interface ListWaitingTable {
  account_id: string;
  list_id: string;
  address: number;
  email: string;
  attempts: number;
  first_at: number | null;
  /** Null: done. */
  due_at: number | null;
  claims: Generated<number>;
  operator: string | null;
  /** Name of the one that deferred it. */
  egress: Generated<string | null>;
  lease: Generated<string | null>;
}
export interface ListLeasesTable {
  lease: string;
  renewed_at: number;
  ends_at: number;
}
