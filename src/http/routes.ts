import { COMPAT_ROUTES } from './compat/table.ts';
import { PAGE_ROUTES } from './dashboard/pages.ts';
import { DASHBOARD_ROUTES } from './dashboard/table.ts';
import { GUIDE_ROUTES } from './guide.ts';
import { HOOK_ROUTES } from './hooks/table.ts';
import { MCP_ROUTES } from './mcp/routes.ts';
import type { Route } from './route.ts';
import { serverRoutes } from './server-routes.ts';
import { V1_ROUTES } from './v1/table.ts';

/** All routes of the service. */
export const ROUTES: readonly Route[] = [
  ...V1_ROUTES,
  ...COMPAT_ROUTES,
  ...MCP_ROUTES,
  ...HOOK_ROUTES,
  ...DASHBOARD_ROUTES,
  ...PAGE_ROUTES,
  ...GUIDE_ROUTES,
  ...serverRoutes(V1_ROUTES),
];

/** Those of a process that only runs jobs. */
export const WORKER_ROUTES: readonly Route[] = ROUTES.filter(
  ({ access }) => access === 'open' || access === 'metrics-token',
);
