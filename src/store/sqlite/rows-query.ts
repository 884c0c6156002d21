import type { SQLInputValue } from 'node:sqlite';
import { CompiledQuery } from 'kysely';

/**
 * A statement that runs once for each of many rows, in the thread of the writer: one message, and one prepared
 * statement, where a statement with all rows in it takes longer to make and to compile than to run.
 */
export class RowsQuery implements CompiledQuery {
  readonly query: CompiledQuery['query'];
  readonly queryId: CompiledQuery['queryId'];
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
  /** Parameters of each row. */
  readonly width: number;

  /** `parameters`: one row after the other. */
  constructor(sql: string, width: number, parameters: readonly SQLInputValue[]) {
    const { query, queryId } = CompiledQuery.raw(sql);
    this.query = query;
    this.queryId = queryId;
    this.sql = sql;
    this.width = width;
    this.parameters = parameters;
  }
}
