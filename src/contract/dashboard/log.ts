import Type, { type Static } from 'typebox';
import { ERROR_CODES } from '../../kernel/errors.ts';
import {
  ADDRESS_LENGTH,
  LOG_NAMES_LENGTH,
  LOG_QUERY_LENGTH,
  TIMEOUT_MS,
  VIEW_NAME_LENGTH,
  VIEW_SEARCH_LENGTH,
} from '../../kernel/facts/limits.ts';
import { LOG_CONFIDENCES, LOG_MAIL, LOG_NEGATABLE, LOG_STATUSES } from '../../kernel/facts/log-filters.ts';
import { OUTCOMES } from '../../kernel/facts/outcomes.ts';
import { LEVELS } from '../../kernel/facts/plans.ts';
import { POLICY_ACTIONS } from '../../kernel/facts/policies.ts';
import { REASON_FILTERS } from '../../kernel/facts/reasons.ts';
import { VIEW_PAGES } from '../../kernel/facts/saved-views.ts';
import { choice } from '../../kernel/format.ts';
import { LOG_ORIGINS, VIAS } from '../../kernel/log-origins.ts';
import { Nullable, OneOf, Text, Time, WholeNumber } from '../schema.ts';
import { DeliverabilityField, EMAIL_ERROR, LEVEL_NOTES, ReasonField, StatusField, VerifyReply } from '../verify.ts';
import { InstantOf, PageSize } from './fields.ts';

// Searches of a page that the user has named.

const LogPageField = OneOf(VIEW_PAGES, { 'x-error': `page must be ${choice(VIEW_PAGES)}.` });
const ViewName = Text('name', VIEW_NAME_LENGTH);

export const ViewsQuery = Type.Object({ page: LogPageField });
export const ViewRequest = Type.Object({
  page: LogPageField,
  name: ViewName,
  search: Text('search', VIEW_SEARCH_LENGTH, { description: 'Query string of the page.' }),
});
export const ViewRename = Type.Object({ name: ViewName });
export const ViewReply = Type.Object(
  { id: Type.String(), name: Type.String(), search: Type.String() },
  { title: 'SavedView' },
);
export const ViewsReply = Type.Object({ views: Type.Array(ViewReply) }, { title: 'SavedViews' });

/** Charges as any other verification, and includes evidence. */
export const DashboardVerifyRequest = Type.Object({
  email: Text('email', ADDRESS_LENGTH, { 'x-error': EMAIL_ERROR }),
  validation_type: OneOf(LEVELS, LEVEL_NOTES),
  timeout_ms: Type.Optional(WholeNumber('timeout_ms', TIMEOUT_MS)),
});
export const DashboardVerifyReply = Type.Object(
  { result: VerifyReply, credits_remaining: Type.Integer() },
  { title: 'DashboardVerification' },
);

export const LogEntryReply = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    status: StatusField,
    deliverability: DeliverabilityField,
    reason: ReasonField,
    requested: OneOf(LEVELS),
    validation_type: OneOf(LEVELS),
    credits_used: Type.Integer(),
    duration_ms: Type.Integer(),
    client_ip: Nullable(Type.String()),
    /** Names the API key or hook; null: it was verified in the dashboard. */
    key: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
    /** Null: it is the result of no list, or that was deleted. */
    list: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
    /** The call came through this contract; null: Mailvet's own, the dashboard, or a list. */
    via: Nullable(OneOf(VIAS)),
    /** The decision of the policy of the request or list; null: it had none. */
    decision: Nullable(OneOf(POLICY_ACTIONS)),
    /** Mail servers were asked from there; null means that they were not. */
    egress: Nullable(Type.String()),
    created_at: Time,
  },
  { title: 'LogEntry' },
);
export type LogEntryReply = Static<typeof LogEntryReply>;

/** A request with a valid key that got an error; nothing of its body. */
export const RejectedRequestReply = Type.Object(
  {
    id: Type.Integer(),
    at: Time,
    /** How many requests it stands for: above 1, those of a minute that are only counted, and what follows is null. */
    count: Type.Integer(),
    request_id: Nullable(Type.String()),
    /** Null means in the dashboard, or counted. */
    key: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
    client_ip: Nullable(Type.String()),
    route: Nullable(Type.String()),
    status: Nullable(Type.Integer()),
    /** Null too if an earlier version recorded one that there is no longer. */
    code: Nullable(OneOf(ERROR_CODES)),
    via: Nullable(OneOf(VIAS)),
    /** What a hook answered although there was no verdict; null: it was no such call. */
    answer: Nullable(OneOf(POLICY_ACTIONS)),
  },
  { title: 'RejectedRequest' },
);
export type RejectedRequestReply = Static<typeof RejectedRequestReply>;

/** Some of a closed set, separated by commas; read with `severalOf`. */
const NameList = (field: string, values: readonly string[], options: object) =>
  Type.String({
    pattern: `^(${values.join('|')})(,(${values.join('|')}))*$`,
    maxLength: values.join().length,
    'x-error': `${field} must be ${choice(values)}, or several of them separated by commas.`,
    ...options,
  });

const Several = (field: string, values: readonly string[], description: string) =>
  NameList(field, values, {
    description: `${description} ${values.map((value) => `\`${value}\``).join(', ')}; several are separated by commas, and any of them matches.`,
  });

/** Returns the schema of a field for some of an open set, likewise. */
const Names = (field: string, description: string) =>
  Text(field, LOG_NAMES_LENGTH, {
    description: `${description}; several are separated by commas, and any of them matches.`,
  });

/**
 * A page of the log ends here: among verifications by their number, among rejected requests by time and id; empty: at
 * the start.
 */
export const LOG_CURSOR = /^(\d{0,16})~(?:(\d{1,16})-(\d{1,16}))?$/;

/** What is searched for: by an export, and a page at a time. */
export const LogFilters = Type.Object({
  email: Type.Optional(
    Text(
      'email',
      { ...ADDRESS_LENGTH, min: 0 },
      { description: 'An address or its beginning, without regard to case.' },
    ),
  ),
  id: Type.Optional(Text('id', LOG_QUERY_LENGTH)),
  query: Type.Optional(
    Text(
      'query',
      { ...ADDRESS_LENGTH, min: 0 },
      {
        description:
          'An ID, an address or its beginning, or any part of one, such as a domain. Without regard to case.',
      },
    ),
  ),
  level: Type.Optional(
    Several('level', LEVELS, 'The level that was asked for; what was charged may be mx where it was smtp.'),
  ),
  deliverability: Type.Optional(
    Several(
      'deliverability',
      OUTCOMES,
      '`not_checked`: unknown because the mailbox was not asked about (level mx). `unknown`: the others.',
    ),
  ),
  origin: Type.Optional(
    Several(
      'origin',
      LOG_ORIGINS,
      '`compat`: the API of another service; `hook`: an auth server; `list`: the result of a list.',
    ),
  ),
  operator: Type.Optional(
    Names(
      'operator',
      'Mail operator as `checks.mx.provider` names it; `none`: servers that belong to no known operator',
    ),
  ),
  egress: Type.Optional(Names('egress', 'Name of the egress, as in `checks.smtp.egress`')),
  decision: Type.Optional(Several('decision', POLICY_ACTIONS, 'What the policy of the request said.')),
  mail: Type.Optional(
    Several(
      'mail',
      LOG_MAIL,
      'What became of mail to the address, as outcomes report it: `bounced` for a reason of the recipient, `arrived`, either (`known`), or what contradicts the verdict.',
    ),
  ),
  confidence: Type.Optional(
    Several('confidence', LOG_CONFIDENCES, 'Of replies whose mail has an outcome: their confidence, in percent.'),
  ),
  reported: Type.Optional(
    Names(
      'reported',
      'On which way an outcome of the mail came: `api`, `message`, `command`, `test_mode`, or the ID of a connection',
    ),
  ),
  from: Type.Optional(InstantOf('from')),
  to: Type.Optional(InstantOf('to')),
  reason: Type.Optional(
    Several('reason', REASON_FILTERS, 'A reason of the page of verdicts; `none`: without a reason.'),
  ),
  key: Type.Optional(Names('key', 'Id of a key, or `dashboard`')),
  list: Type.Optional(Names('list', 'Id of a list')),
  status: Type.Optional(Several('status', LOG_STATUSES, 'Of verifications, or `rejected` for rejected requests.')),
  not: Type.Optional(
    NameList('not', LOG_NEGATABLE, {
      description:
        'Names of these parameters, separated by commas: rows that do not match them, instead of those that do. Rejected requests have no level, deliverability, reason, operator, egress, decision, mail, confidence, reported or list, and match none.',
    }),
  ),
});
export const LogQuery = Type.Object({
  ...LogFilters.properties,
  before: Type.Optional(
    Type.String({
      pattern: LOG_CURSOR.source,
      maxLength: LOG_QUERY_LENGTH.max,
      'x-error': 'before must be the `next` of an earlier page.',
    }),
  ),
  limit: Type.Optional(PageSize),
});
/**
 * Newest first. One request looks through a bounded number of rows: a page may hold fewer entries than asked, or none,
 * and still have a `next`; `searched_to` says how far back it looked. Rejected requests that are found by their request
 * ID are on the first page, however old.
 */
export const LogReply = Type.Object(
  {
    entries: Type.Array(LogEntryReply),
    /** A page has both kinds, those of the same time; together not more than `limit`. */
    rejected: Type.Array(RejectedRequestReply),
    next: Nullable(Type.String()),
    searched_to: Nullable(Time),
    retention_days: Type.Integer(),
    /** Names of those that are in use. */
    egresses: Type.Array(Type.String()),
  },
  { title: 'Log' },
);
/** `reply`: the JSON as it was answered then; what that version did not have is null, or skipped. */
export const LogDetailReply = Type.Object({ entry: LogEntryReply, reply: VerifyReply }, { title: 'LogDetail' });
export const RejectedParams = Type.Object({
  id: Type.Integer({ minimum: 1, 'x-error': 'There is no such request.' }),
});
/** `meaning` and `fix`: those of the code, where it is one of the catalog. */
export const RejectedDetailReply = Type.Object(
  { rejected: RejectedRequestReply, meaning: Nullable(Type.String()), fix: Nullable(Type.String()) },
  { title: 'RejectedDetail' },
);
export const EraseRequest = Type.Object({
  email: Text('email', ADDRESS_LENGTH, { 'x-error': 'email must be the address to erase.' }),
});
export const EraseReply = Type.Object({ erased: Type.Integer() }, { title: 'Erased' });
