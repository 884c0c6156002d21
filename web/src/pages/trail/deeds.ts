import type { Trail } from '../../api/schema.ts';
import { counted, spoken } from '../../parts/words.ts';
import {
  addresses,
  asRole,
  change,
  creditsOf,
  type Detail,
  ending,
  grace,
  granted,
  isNegative,
  isNumber,
  keyChange,
  limit,
  listed,
  numeral,
  orServers,
  planName,
  quoted,
  text,
} from './detail-words.ts';

type Entry = Trail['entries'][number];

/** An entry of the audit log in words; `more` is what it changed, where there is something to say. */
export function deed(entry: Entry): { what: string; more: string | null } {
  const { action, detail } = entry;
  const known = Object.hasOwn(DEEDS, action) ? DEEDS[action] : undefined;
  // A newer server may know deeds that this page does not.
  if (known === undefined) return { what: spoken(action.replace('.', ' ')), more: null };
  const [what, more] = known;
  return { what: typeof what === 'string' ? what : what(detail, entry), more: more?.(detail) ?? null };
}

type Words = (detail: Detail) => string | null;
const DEEDS: Readonly<
  Record<string, readonly [what: string | ((detail: Detail, entry: Entry) => string), more?: Words]>
> = {
  'account.created': ['Opened the account', ({ plan, credits }) => listed([planName(plan), creditsOf(credits)])],
  'account.renamed': ['Renamed the account', change((name) => `“${text(name)}”`)],
  'account.retention_set': ['Set the retention', change(orServers)],
  'account.low_balance_set': ['Set the low-balance line', change((line) => creditsOf(line) ?? 'none')],
  'account.plan_set': ['Changed the plan', change(planName)],
  'account.rate_limit_set': ['Changed the rate limit', change(limit)],
  'account.suspended': ['Suspended the account'],
  'account.resumed': ['Resumed the account'],
  'credits.granted': [({ credits }) => (isNegative(credits) ? 'Took back credits' : 'Granted credits'), granted],
  'key.created': [
    'Created an API key',
    ({ last_four, allow_ips }) => listed([ending(last_four), `for ${addresses(allow_ips)}`]),
  ],
  'key.changed': ['Changed an API key', keyChange],
  'key.revoked': ['Revoked an API key'],
  'key.rolled': ['Rolled an API key', ({ grace_seconds }) => grace(grace_seconds)],
  'filter.added': ['Added a filter', ({ reason }) => quoted(reason)],
  'filter.removed': ['Removed a filter', ({ reason }) => quoted(reason)],
  'filters.imported': ['Imported filters', ({ added, given }) => `${numeral(added)} added of ${numeral(given)} lines`],
  'log.erased': [
    'Erased an address from the log',
    ({ erased }) => (isNumber(erased) ? counted(erased, 'entry', 'entries') : null),
  ],
  'member.added': [
    ({ invited }) => (invited === true ? 'Joined by invitation' : 'Added a member'),
    ({ role }) => asRole(role),
  ],
  'member.role_changed': ['Changed a role', change(text)],
  'member.removed': [
    (_, { actor, target }) => (actor.name === target ? 'Left the account' : 'Removed a member'),
    ({ role }) => asRole(role),
  ],
  'member.invited': ['Invited somebody', ({ role }) => asRole(role)],
  'invitation.withdrawn': ['Withdrew an invitation', ({ role }) => asRole(role)],
};

/** Who did it. */
export function actor({ actor: { kind, name } }: Entry): string {
  switch (kind) {
    case 'user':
      return name;
    case 'operator':
      return `${name} (operator)`;
    case 'key':
      return `API key ${name}`;
    case 'command':
      return `The command line, as ${name}`;
    case 'service':
      return 'The service itself';
  }
}
