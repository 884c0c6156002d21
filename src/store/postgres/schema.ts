import { type Kysely, sql } from 'kysely';
import type { TableSchema } from '../driver.ts';
import type { Tables } from '../tables.ts';

export async function readSchema(db: Kysely<Tables>): Promise<TableSchema[]> {
  const { rows } = await sql<TableSchema>`
    SELECT c.relname::text AS "table",
      ARRAY(
        SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      ) AS columns,
      coalesce((
        SELECT array_agg(a.attname::text ORDER BY k.place)
        FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
        WHERE i.indrelid = c.oid AND i.indisprimary
      ), ARRAY['ctid']) AS key,
      ARRAY(
        SELECT DISTINCT target.relname::text FROM pg_constraint f JOIN pg_class target ON target.oid = f.confrelid
        WHERE f.conrelid = c.oid AND f.contype = 'f'
      ) AS "references"
    FROM pg_class c
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
    ORDER BY 1`.execute(db);
  return rows;
}
