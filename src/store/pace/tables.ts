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
  /** JSON, Division. */
  division: string;
  /** Of the slice that was leased last. */
  ends_at: number;
}
export interface PaceTables {
  operator_leases: OperatorLeasesTable;
  pace_slices: PaceSlicesTable;
}
