/** What nodes share at mail servers, as Kysely sees it (../tables.ts). */
interface OperatorLeasesTable {
  operator: string;
  node: string;
  renewed_at: number;
  ends_at: number;
}
export interface PaceTables {
  operator_leases: OperatorLeasesTable;
}
