import * as filterTypes from '../../src/kernel/filter-types.ts';
import * as keyScopes from '../../src/kernel/key-scopes.ts';
import * as lifetimes from '../../src/kernel/lifetimes.ts';
import * as limits from '../../src/kernel/limits.ts';
import * as lists from '../../src/kernel/lists.ts';
import * as logFilters from '../../src/kernel/log-filters.ts';
import * as passwordRules from '../../src/kernel/password-rules.ts';
import * as plans from '../../src/kernel/plans.ts';
import * as roles from '../../src/kernel/roles.ts';
import * as savedViews from '../../src/kernel/saved-views.ts';
import * as sortOrders from '../../src/kernel/sort-orders.ts';
import * as webhookEvents from '../../src/kernel/webhook-events.ts';

const SOURCES = {
  limits,
  lifetimes,
  plans,
  roles,
  lists,
  'key-scopes': keyScopes,
  'log-filters': logFilters,
  'filter-types': filterTypes,
  'saved-views': savedViews,
  'password-rules': passwordRules,
  'sort-orders': sortOrders,
  'webhook-events': webhookEvents,
};

/** web/src/api/limits.ts: the constants of these files, for the dashboard, which cannot import the server's sources. */
export function limitsFile(): string {
  const sections = Object.entries(SOURCES).map(([name, constants]) => {
    const lines = Object.entries(constants)
      .filter(([, value]) => typeof value !== 'function')
      .map(([constant, value]) => `export const ${constant} = ${JSON.stringify(value)} as const;\n`);
    return `// src/kernel/${name}.ts\n${lines.join('')}`;
  });
  return `// Generated from src/kernel/ by \`npm run gen\`; edit it there.\n\n${sections.join('\n')}`;
}
