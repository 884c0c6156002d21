import Type, { type Static } from 'typebox';
import { FILTER_ACTIONS, FILTER_MATCHES, FILTER_TYPES } from '../kernel/facts/filter-types.ts';
import {
  FILTER_ERRORS_SHOWN,
  FILTER_EXPIRY_YEARS,
  FILTER_KEPT_DAYS,
  FILTER_QUERY_LENGTH,
  FILTER_REASON_LENGTH,
  FILTER_ROWS_SHOWN,
  FILTER_VALUE_LENGTH,
  FILTERS_PAGE,
  FILTERS_PER_PAGE,
  INSTANT_LENGTH,
} from '../kernel/facts/limits.ts';
import { FILTER_FIELDS } from '../kernel/facts/lists.ts';
import { FILTER_ORDERS } from '../kernel/facts/sort-orders.ts';
import { choice, counted, grouped, span } from '../kernel/format.ts';
import { sortFields } from './dashboard/fields.ts';
import { FLAGS, FoundInFile, readFields } from './lists.ts';
import {
  AlsoCalled,
  DecodedAs,
  DescribedCount,
  Nullable,
  OneOf,
  Pagination,
  Refused,
  type RefusedFields,
  Text,
  WholeNumber,
  WithWarnings,
} from './schema.ts';

const ACTION = '`block`: what matches is bad. `allow`: the lists, and filters that are less specific, do not count.';
const MATCH = '`mailbox`, of an address: every spelling of its mailbox.';

export const FilterReply = Type.Object(
  {
    id: Type.Integer({ description: 'Counted within the account.' }),
    filter_type: OneOf(FILTER_TYPES),
    value: Type.String({ description: 'In canonical form.' }),
    reason: Nullable(Type.String()),
    action: OneOf(FILTER_ACTIONS, { description: ACTION }),
    match: OneOf(FILTER_MATCHES, { description: MATCH }),
    expires_at: Nullable(Type.String({ format: 'date-time', description: 'From then on it matches nothing.' })),
    expired: Type.Boolean({
      description: `Whether \`expires_at\` has come; the filter is removed ${counted(FILTER_KEPT_DAYS, 'day')} later.`,
    }),
    hits: Type.Integer({ minimum: 0, description: 'Results that it has decided, or let pass.' }),
    last_hit_at: Nullable(Type.String({ format: 'date-time' })),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Filter' },
);
export type FilterReply = Static<typeof FilterReply>;
export const FilterAddedReply = WithWarnings('FilterAdded', FilterReply);
export const FilterDetailsReply = WithWarnings('FilterDetails', FilterReply);

const REASON_ERROR = `reason must be null or a string of at most ${grouped(FILTER_REASON_LENGTH.max)} characters, without control or invisible characters.`;

const TYPE_NAMES = ['type', 'kind'];

/** What can be changed of a filter. */
const changeableFields = {
  reason: Type.Optional(
    AlsoCalled(
      ['note', 'comment', 'description'],
      DecodedAs(
        'plain',
        Type.Union([Type.String({ maxLength: FILTER_REASON_LENGTH.max }), Type.Null()], { 'x-error': REASON_ERROR }),
      ),
    ),
  ),
  action: Type.Optional(
    OneOf(FILTER_ACTIONS, {
      description: `${ACTION} Default \`block\`.`,
      'x-error': `action must be ${choice(FILTER_ACTIONS)}: a filter can do nothing else.`,
      'x-code': 'invalid_filter',
    }),
  ),
  match: Type.Optional(
    OneOf(FILTER_MATCHES, {
      description: `${MATCH} Default \`exact\`.`,
      'x-error': `match must be ${choice(FILTER_MATCHES)}.`,
      'x-code': 'invalid_filter',
    }),
  ),
  expires_at: Type.Optional(
    DecodedAs(
      'instant',
      Type.Union([Type.String({ maxLength: INSTANT_LENGTH.max }), Type.Null()], {
        description: `RFC 3339, in the future, at most ${counted(FILTER_EXPIRY_YEARS, 'year')} ahead; null: never.`,
        'x-error': 'expires_at must be an RFC 3339 date-time in the future, such as 2027-01-31T00:00:00Z, or null.',
        'x-code': 'invalid_filter',
      }),
    ),
  ),
};

const filterFields = {
  filter_type: Type.Optional(
    AlsoCalled(
      TYPE_NAMES,
      OneOf(FILTER_TYPES, {
        description: 'Optional when the value makes it clear; a mail host needs it.',
        'x-error': `filter_type must be ${choice(FILTER_TYPES)}.`,
        'x-code': 'invalid_filter',
      }),
    ),
  ),
  value: Text('value', FILTER_VALUE_LENGTH, {
    description:
      'An address, a domain (covers its sub-domains), an IP or a CIDR; a mail host, or `*.suffix`. Put in canonical form.',
    'x-error': `value must be a string of ${span(FILTER_VALUE_LENGTH)} characters.`,
    'x-code': 'invalid_filter',
  }),
  ...changeableFields,
};

const harmlessFields = (names: readonly string[], harmless: readonly unknown[], instead: string): RefusedFields =>
  Object.fromEntries(names.map((name) => [name, { harmless: [...harmless, null], instead }]));
const BLOCK_ALIASES = ['block', 'deny', 'reject', 'blocklist', 'blacklist', 'denylist'];

/** Fields of filters elsewhere, without which a filter here would do the opposite of what is meant, now or later. */
const REVERSING: RefusedFields = {
  ...harmlessFields(
    ['allow', 'allowed', 'allowlist', 'allow_list', 'allowlisted', 'whitelist', 'whitelisted', 'accept', 'trusted'],
    [false],
    'write "action": "allow"',
  ),
  ...harmlessFields(['block', 'blocked', 'blocklist', 'blacklist', 'deny', 'reject'], [true], 'write "action"'),
  ...harmlessFields(
    ['effect', 'policy', 'decision', 'verdict', 'mode', 'list', 'list_type'],
    BLOCK_ALIASES,
    'write "action"',
  ),
  ...harmlessFields(['negate', 'negated', 'invert', 'inverted', 'not'], [false], 'write "action"'),
  ...harmlessFields(
    ['except', 'exceptions', 'exclude', 'excludes'],
    [[]],
    'add a filter with "action": "allow" for it',
  ),
  ...harmlessFields(['enabled', 'active', 'is_active'], [true], 'add the filter when it is to take effect'),
  ...harmlessFields(['disabled', 'inactive', 'paused', 'dry_run', 'log_only'], [false], 'a filter is always in force'),
  ...harmlessFields(
    ['starts_at', 'start_at', 'start', 'valid_from', 'not_before', 'active_from'],
    [],
    'add the filter when it is to take effect',
  ),
  ...harmlessFields(
    [
      'expires',
      'expire',
      'expires_on',
      'expires_in',
      'expire_at',
      'expiry',
      'expiry_date',
      'expiration',
      'expiresAt',
      'valid_until',
      'valid_to',
      'until',
      'not_after',
      'ends_at',
      'end_at',
      'ttl',
      'duration',
    ],
    [],
    'write "expires_at"',
  ),
};

/** Without one of these a filter may do the opposite, and one that is misspelled is left out. */
const DECISIVE = ['action', 'match', 'expires_at'];

/** The public API takes this. */
export const FilterRequest = Refused(
  REVERSING,
  DECISIVE,
  Type.Object(filterFields, {
    title: 'FilterRequest',
    description: 'Flat, or wrapped as {"filter": {…}}.',
    '~wrapper': 'filter',
  }),
);
/** The dashboard sends this, which is flat. */
export const FlatFilterRequest = Refused(REVERSING, DECISIVE, Type.Object(filterFields, { title: 'FilterRequest' }));

const IS_ANOTHER = 'remove the filter and add another';
export const FilterChangeRequest = Refused(
  { ...REVERSING, ...harmlessFields(['value', 'filter_type', ...TYPE_NAMES, 'email', 'domain'], [], IS_ANOTHER) },
  DECISIVE,
  Type.Object(changeableFields, {
    title: 'FilterChangeRequest',
    description: 'What is left out stays.',
    '~wrapper': 'filter',
  }),
);

export const FilterParams = Type.Object({
  id: Type.Integer({ minimum: 1, 'x-error': 'There is no such filter.' }),
});

export const FiltersQuery = Type.Object({
  filter_type: Type.Optional(AlsoCalled(TYPE_NAMES, OneOf(FILTER_TYPES))),
  query: Type.Optional(
    AlsoCalled(
      ['search', 'q'],
      Text('query', FILTER_QUERY_LENGTH, { description: 'Searched literally in value and reason.' }),
    ),
  ),
  page: Type.Optional(WholeNumber('page', FILTERS_PAGE)),
  per_page: Type.Optional(AlsoCalled(['limit', 'page_size'], WholeNumber('per_page', FILTERS_PER_PAGE))),
});

export const FiltersReply = Type.Object(
  {
    filters: Type.Array(FilterReply),
    pagination: Pagination,
  },
  { title: 'Filters' },
);
/** Adds warnings, for the public API. */
export const FilterPageReply = WithWarnings('Filters', FiltersReply);

export const FilterRemoved = Type.Object({ status: Type.String(), message: Type.String() }, { title: 'FilterRemoved' });
/** Adds warnings, for the public API. */
export const FilterRemovedReply = WithWarnings('FilterRemoved', FilterRemoved);

// Files

/** The fields come in the query or in a form. */
export const FilterUpload = Type.Object({
  dry_run: Type.Optional(
    OneOf(FLAGS, {
      description: '`true`: nothing is changed, and the reply says what would be.',
      'x-error': `dry_run must be ${choice(FLAGS)}.`,
    }),
  ),
  ...readFields('values'),
});

const RowNumber = Type.Integer({ minimum: 1, description: 'Line of the text, or row of the sheet.' });

export const FilterImportReply = Type.Object(
  {
    dry_run: Type.Boolean(),
    rows: DescribedCount('Those that are not blank.'),
    added: DescribedCount('Filters that were added, or would be.'),
    existing: DescribedCount('Those that there are already, or that an earlier row has.'),
    invalid: DescribedCount('Those that cannot be used, and change nothing.'),
    errors: Type.Array(
      Type.Object({
        row: RowNumber,
        text: Type.String({ description: 'The row, shortened.' }),
        field: Nullable(Type.String({ description: 'What is wrong; null: the row as a whole.' })),
        error: Type.String({ description: 'One sentence that names the remedy.' }),
      }),
      { description: `Of the first ${grouped(FILTER_ERRORS_SHOWN)} rows that cannot be used.` },
    ),
    filters: Type.Array(
      Type.Object({
        row: RowNumber,
        filter_type: OneOf(FILTER_TYPES),
        value: Type.String({ description: 'In canonical form.' }),
        reason: Nullable(Type.String()),
        action: OneOf(FILTER_ACTIONS),
        match: OneOf(FILTER_MATCHES),
        expires_at: Nullable(Type.String({ format: 'date-time' })),
      }),
      { description: `The first ${FILTER_ROWS_SHOWN} that can be used, as they were read.` },
    ),
    read: Type.Object(
      {
        ...FoundInFile,
        columns: Type.Array(
          Type.Object({
            column: Type.String(),
            field: Nullable(OneOf(FILTER_FIELDS, { description: 'What it holds; null: it is not used.' })),
          }),
        ),
      },
      { description: 'How the file was read.' },
    ),
    warnings: Type.Array(Type.String(), { description: 'About the file, and what the request has that is unknown.' }),
  },
  { title: 'FilterImport' },
);

export const FiltersHereQuery = Type.Object({ ...FiltersQuery.properties, ...sortFields(FILTER_ORDERS) });
