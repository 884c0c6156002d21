import { type Expression, type SqlBool, sql } from 'kysely';

/** What does not match, of columns that may be null too: a condition on null is null, and so is its opposite. */
export const not = (condition: Expression<SqlBool>): Expression<SqlBool> =>
  sql<SqlBool>`NOT coalesce((${condition}), false)`;
