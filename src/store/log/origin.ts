import { type RawBuilder, sql } from 'kysely';
import { DASHBOARD_KEY, type LogOrigin } from '../../kernel/log-origins.ts';

/** Of single calls and of rejected requests alike. */
export const FROM_ORIGIN: Readonly<Record<Exclude<LogOrigin, 'list'>, RawBuilder<boolean>>> = {
  api: sql<boolean>`(key_id <> ${DASHBOARD_KEY} AND via IS NULL)`,
  compat: sql<boolean>`via <> 'mcp'`,
  mcp: sql<boolean>`via = 'mcp'`,
  dashboard: sql<boolean>`key_id = ${DASHBOARD_KEY}`,
};
