/** Routes of other services' contracts: under `/compat/<vendor>`, and for chosen vendors at the root as well. */
import { COMPAT_VENDORS, type CompatVendor } from '../../kernel/compat-vendors.ts';
import type { Route } from '../route.ts';
import { EMAILABLE_ROUTES } from './emailable.ts';
import { KICKBOX_ROUTES } from './kickbox.ts';
import { NEVERBOUNCE_ROUTES } from './neverbounce.ts';
import { REACHER_BULK_ROUTES, REACHER_CHECK_ROUTES } from './reacher.ts';

import { ZEROBOUNCE_ROUTES } from './zerobounce.ts';

const BY_VENDOR: Readonly<Record<CompatVendor, readonly Route[]>> = {
  reacher: [...REACHER_CHECK_ROUTES, ...REACHER_BULK_ROUTES],
  kickbox: KICKBOX_ROUTES,
  zerobounce: ZEROBOUNCE_ROUTES,
  neverbounce: NEVERBOUNCE_ROUTES,
  emailable: EMAILABLE_ROUTES,
};

export const COMPAT_ROUTES: readonly Route[] = COMPAT_VENDORS.flatMap((vendor) =>
  BY_VENDOR[vendor].map((row) => ({ ...row, via: vendor, path: `/compat/${vendor}${row.path}` })),
);

/** Some clients take only a host. A path of `own` stays what it is: Emailable's `POST /v1/verify` is ours. */
export function rootRoutes(vendors: readonly CompatVendor[], own: readonly Route[]): readonly Route[] {
  const taken = new Set(own.map(({ method, path }) => `${method} ${path}`));
  const rows = vendors.flatMap((vendor) => BY_VENDOR[vendor].map((row) => ({ ...row, via: vendor })));
  return rows.filter(({ method, path }) => !taken.has(`${method} ${path}`));
}
