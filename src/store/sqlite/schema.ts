import { type Kysely, sql } from 'kysely';
import type { TableSchema } from '../driver.ts';
import type { Tables } from '../tables.ts';

/** https://www.sqlite.org/pragma.html#pragfunc: `pk` is the column's place in the primary key, or 0. */
export async function readSchema(db: Kysely<Tables>): Promise<TableSchema[]> {
  const columns = await sql<{ table: string; column: string; pk: number }>`
    SELECT m.name AS "table", c.name AS "column", c.pk AS pk
    FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.pk`.execute(db);
  const references = await sql<{ table: string; target: string }>`
    SELECT DISTINCT m.name AS "table", f."table" AS target
    FROM sqlite_schema m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`.execute(db);
  return [...Map.groupBy(columns.rows, (row) => row.table)].map(([table, rows]) => {
    const key = rows.filter((row) => row.pk > 0).map((row) => row.column);
    return {
      table,
      columns: rows.map((row) => row.column),
      key: key.length > 0 ? key : ['rowid'],
      references: references.rows.filter((row) => row.table === table).map((row) => row.target),
    };
  });
}
