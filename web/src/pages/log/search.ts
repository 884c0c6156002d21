import { t } from '@lingui/core/macro';
import { keysOf } from '../../../../src/kernel/facts/keys-of.ts';
import {
  ADDRESS_LENGTH,
  LOG_NAMES_LENGTH,
  LOG_QUERY_LENGTH,
  VIEW_NAME_LENGTH,
} from '../../../../src/kernel/facts/limits.ts';
import {
  LOG_CONFIDENCES,
  LOG_MAIL,
  LOG_NEGATABLE,
  type LogMail,
  type LogNegatable,
} from '../../../../src/kernel/facts/log-filters.ts';
import { LEVELS } from '../../../../src/kernel/facts/plans.ts';
import { POLICY_ACTIONS, type PolicyAction } from '../../../../src/kernel/facts/policies.ts';
import { REASON_FILTERS } from '../../../../src/kernel/facts/reasons.ts';
import type { Verification } from '../../api/schema.ts';
import { SEGMENT_LABELS } from '../../parts/chart/bars.ts';
import { several, textOf } from '../../parts/search-params.ts';
import { hasTime, rangeOf, type TimeSearch, timeSearch, withoutTime } from '../../parts/time.ts';

export const STATUS_LABELS: Readonly<Record<Verification['status'] | 'rejected', string>> = {
  good: t`good in the API`,
  bad: t`bad in the API`,
  rejected: t`Rejected request`,
};
export const ORIGIN_LABELS = {
  api: 'API',
  compat: t`API of another service`,
  mcp: t`Assistant (MCP)`,
  hook: t`Auth hook`,
  dashboard: t`Dashboard`,
  list: t`List`,
} as const;

/** What the policy of a request said. */
export const DECISION_LABELS: Readonly<Record<PolicyAction, string>> = {
  accept: t`Accept`,
  review: t`Review`,
  reject: t`Reject`,
};

/** What outcomes say of the mail. */
export const MAIL_LABELS: Readonly<Record<LogMail, string>> = {
  known: t`Arrived or bounced`,
  arrived: t`Arrived`,
  bounced: t`Bounced`,
  contradicting: t`Contradicts the verdict`,
};

/** Search parameters of the page. */
export interface LogSearch extends TimeSearch {
  /** An ID, an address, or any part of one. */
  query?: string;
  /** The level that was asked for; here and below, several values have commas between them. */
  level?: string;
  deliverability?: string;
  /** Mail operator; `none`: servers that belong to no known one. */
  operator?: string;
  /** Name of the egress. */
  egress?: string;
  /** `none`: without a reason. */
  reason?: string;
  /** Id of a key. */
  key?: string;
  origin?: string;
  status?: string;
  decision?: string;
  /** What became of mail to the address. */
  mail?: string;
  /** Of replies whose mail has an outcome, in percent. */
  confidence?: string;
  /** On which way an outcome of the mail came. */
  reported?: string;
  /** Id of a list. */
  list?: string;
  /** Names of filters whose value is what rows must not have, separated by commas. */
  not?: string;
  /** The name under which the search was saved, for whoever opens the link. */
  view?: string;
  /** Id of the row in the drawer. */
  open?: string;
}

/** Filters that can be negated. */
export const negatedOf = ({ not }: Pick<LogSearch, 'not'>): readonly LogNegatable[] =>
  LOG_NEGATABLE.filter((name) => not?.split(',').includes(name));

export function logSearch(search: Record<string, unknown>): LogSearch {
  const read = {
    query: textOf(search.query, ADDRESS_LENGTH.max),
    ...timeSearch(search),
    level: several(LEVELS, search.level),
    deliverability: several(keysOf(SEGMENT_LABELS), search.deliverability),
    reason: several(REASON_FILTERS, search.reason),
    key: textOf(search.key, LOG_NAMES_LENGTH.max),
    origin: several(keysOf(ORIGIN_LABELS), search.origin),
    operator: textOf(search.operator, LOG_NAMES_LENGTH.max),
    egress: textOf(search.egress, LOG_NAMES_LENGTH.max),
    status: several(keysOf(STATUS_LABELS), search.status),
    decision: several(POLICY_ACTIONS, search.decision),
    mail: several(LOG_MAIL, search.mail),
    confidence: several(LOG_CONFIDENCES, search.confidence),
    reported: textOf(search.reported, LOG_NAMES_LENGTH.max),
    list: textOf(search.list, LOG_NAMES_LENGTH.max),
    view: textOf(search.view, VIEW_NAME_LENGTH.max),
    open: textOf(search.open, LOG_QUERY_LENGTH.max),
  };
  const not = negatedOf({ not: String(search.not) }).filter((name) => read[name] !== undefined);
  const given = Object.entries({ ...read, not: not.length > 0 ? not.join(',') : undefined });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** Without rejected requests: the rows of a number of verifications. */
export const verifiedOf = (search: LogSearch): LogSearch => ({
  ...search,
  status: 'rejected',
  not: [...negatedOf(search), 'status'].join(','),
});

/** The query string of a search, without what is open; the same for the same search. */
export function viewText({ open: _open, view: _view, ...filters }: LogSearch): string {
  return new URLSearchParams(Object.entries(logSearch(filters)).sort(([a], [b]) => (a < b ? -1 : 1))).toString();
}

/** Of such a query string. What this version does not know is left out. */
export const viewSearch = (text: string): LogSearch => logSearch(Object.fromEntries(new URLSearchParams(text)));

const BUILT_IN: Readonly<Record<string, LogSearch>> = {
  [t`Rejected, last 24 hours`]: { range: '24h', status: 'rejected' },
  [t`Undeliverable, last 7 days`]: { range: '7d', deliverability: 'undeliverable' },
  [t`Unknown, last 7 days`]: { range: '7d', deliverability: 'unknown' },
};
/** Views that every user has. */
export const BUILT_IN_VIEWS = Object.entries(BUILT_IN).map(([name, search]) => ({ name, search: viewText(search) }));

/** As the server takes it. `now` in milliseconds. What is relative to now has no end. */
export function logQuery({ open: _open, view: _view, ...search }: LogSearch, now: number) {
  const filters = withoutTime(search);
  if (!hasTime(search)) return filters;
  const { from, to } = rangeOf(search, now);
  return search.range === undefined ? { ...filters, from, to } : { ...filters, from };
}
