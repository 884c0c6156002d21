import type { Access, Contexts } from '../route.ts';
import { apiKey, chargedApiKey } from './api-key.ts';
import type { GuardFor } from './guard.ts';
import { metricsToken, open } from './open.ts';
import { anybody, member, operator, signedIn } from './session.ts';

/** One guard for each access rule. */
export const GUARDS = {
  'api-key:verify': apiKey('verify'),
  'api-key:lists': apiKey('lists'),
  'api-key:filters': apiKey('filters'),
  'api-key:usage': apiKey('usage'),
  'api-key:webhooks': apiKey('webhooks'),
  'charged-api-key:verify': chargedApiKey,
  anybody,
  'signed-in': signedIn,
  member: member('member'),
  admin: member('admin'),
  owner: member('owner'),
  operator,
  page: open,
  open,
  'metrics-token': metricsToken,
} as const satisfies { readonly [A in Access]: GuardFor<Contexts[A]> };
