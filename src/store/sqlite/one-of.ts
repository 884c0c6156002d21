import { type Expression, type SqlBool, sql } from 'kysely';

/** See `StorageDriver.oneOf`. */
export const oneOf = (value: Expression<string>, texts: readonly string[]): Expression<SqlBool> =>
  sql<SqlBool>`${value} IN (SELECT value FROM json_each(${JSON.stringify(texts)}))`;
