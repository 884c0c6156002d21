import Type, { type Static } from 'typebox';
import {
  FILTERS_PAGE,
  FILTERS_PER_PAGE,
  LIST_COLUMN_LENGTH,
  LIST_PATIENCE_MINUTES,
  LIST_QUERY_LENGTH,
  LIST_ROWS,
  LIST_ROWS_PER_PAGE,
  NAME_LENGTH,
} from '../kernel/facts/limits.ts';
import { LIST_STATUSES, RESULT_FORMATS } from '../kernel/facts/lists.ts';
import { LEVELS } from '../kernel/facts/plans.ts';
import { DELIVERABILITIES, STATUSES } from '../kernel/facts/reasons.ts';
import { choice, grouped, span } from '../kernel/format.ts';
import { AlsoCalled, WithWarnings } from './reader.ts';
import { DecodedAs, Nullable, OneOf, Pagination, Text, WholeNumber } from './schema.ts';
import {
  Checks,
  DeliverabilityField,
  LEVEL_NAMES,
  LEVEL_NOTES,
  ReasonField,
  ReasonOrNone,
  StatusField,
} from './verify.ts';

const FLAGS = ['true', 'false'] as const;
const HEADERS = ['auto', 'true', 'false'] as const;

/** In the query, or in a multipart or JSON body. */
export const ListUpload = Type.Object({
  name: Type.Optional(
    DecodedAs(
      'plain',
      Text('name', NAME_LENGTH, {
        description: 'By default the name of the file, else the date.',
        'x-error': `name must have ${span(NAME_LENGTH)} characters and no control or invisible characters.`,
      }),
    ),
  ),
  validation_type: Type.Optional(
    AlsoCalled(LEVEL_NAMES, OneOf(LEVELS, { description: '`mx` by default.', ...LEVEL_NOTES })),
  ),
  column: Type.Optional(
    Text('column', LIST_COLUMN_LENGTH, {
      description: 'Name or number, from 1, of the column with the addresses; detected by default.',
    }),
  ),
  header: Type.Optional(
    OneOf(HEADERS, {
      description: 'Whether the first row has names of columns; `auto`, the default: detected.',
      'x-error': `header must be ${choice(HEADERS)}.`,
    }),
  ),
  start: Type.Optional(
    OneOf(FLAGS, {
      description: '`false` leaves the list `ready`, so that its price can be seen first.',
      'x-error': `start must be ${choice(FLAGS)}.`,
    }),
  ),
  patience_minutes: Type.Optional(
    WholeNumber('patience_minutes', LIST_PATIENCE_MINUTES, {
      description: 'How long addresses are asked about again whose servers defer the answer.',
    }),
  ),
});

const Count = Type.Integer({ minimum: 0 });
const Moment = Type.String({ format: 'date-time' });

export const ListReply = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status: OneOf(LIST_STATUSES),
    validation_type: OneOf(LEVELS),
    rows: Type.Object({
      total: Count,
      addresses: Type.Integer({ description: 'Distinct ones: each is verified and charged once.' }),
      duplicates: Count,
      blank: Count,
      unreadable: Type.Integer({ description: 'Rows that are broken, such as by a quote that is not closed.' }),
    }),
    progress: Type.Object({
      done: Type.Integer({ description: 'Distinct addresses, as in all that follows.' }),
      waiting: Type.Integer({ description: 'Deferred by their server, to be asked about again.' }),
      good: Count,
      bad: Count,
      percent: Type.Number(),
      per_second: Nullable(Type.Number()),
      eta_seconds: Nullable(Type.Integer()),
    }),
    deliverability: Type.Object({ deliverable: Count, undeliverable: Count, risky: Count, unknown: Count }),
    by_reason: Type.Record(Type.String(), Type.Integer()),
    credits: Type.Object({
      price: Type.Integer({ description: 'What is held at the start: the most that the list can cost.' }),
      held: Count,
      used: Count,
    }),
    error: Nullable(Type.Object({ code: Type.String(), error: Type.String() })),
    patience_minutes: Type.Integer(),
    created_at: Moment,
    started_at: Nullable(Moment),
    finished_at: Nullable(Moment),
    expires_at: Type.String({ format: 'date-time', description: 'When the list and its results are deleted.' }),
  },
  { title: 'List' },
);
export type ListReply = Static<typeof ListReply>;
export const ListCreatedReply = WithWarnings('ListCreated', ListReply);
export const ListDetailsReply = WithWarnings('ListDetails', ListReply);

export const ListsQuery = Type.Object({
  status: Type.Optional(OneOf(LIST_STATUSES, { 'x-error': `status must be ${choice(LIST_STATUSES)}.` })),
  query: Type.Optional(Text('query', LIST_QUERY_LENGTH, { description: 'Searched literally in the name.' })),
  page: Type.Optional(WholeNumber('page', FILTERS_PAGE)),
  per_page: Type.Optional(WholeNumber('per_page', FILTERS_PER_PAGE)),
});
export const ListsReply = WithWarnings('Lists', Type.Object({ lists: Type.Array(ListReply), pagination: Pagination }));

const rowFilter = {
  status: Type.Optional(OneOf(STATUSES, { 'x-error': `status must be ${choice(STATUSES)}.` })),
  deliverability: Type.Optional(
    OneOf(DELIVERABILITIES, { 'x-error': `deliverability must be ${choice(DELIVERABILITIES)}.` }),
  ),
};

export const ListRowsQuery = Type.Object({
  ...rowFilter,
  reason: Type.Optional(ReasonOrNone),
  query: Type.Optional(Text('query', LIST_QUERY_LENGTH, { description: 'Searched literally in the address.' })),
  after: Type.Optional(
    WholeNumber('after', { min: 0, max: LIST_ROWS.max, default: 0 }, { description: '`next` of the page before.' }),
  ),
  limit: Type.Optional(WholeNumber('limit', LIST_ROWS_PER_PAGE)),
});

const Known = (description?: string) => Nullable(Type.Boolean(description === undefined ? {} : { description }));

export const ListRowReply = Type.Object(
  {
    row: Type.Integer({ description: 'From 1, the header not counted.' }),
    email: Nullable(Type.String()),
    status: Nullable(StatusField),
    deliverability: Nullable(DeliverabilityField),
    reason: ReasonField,
    did_you_mean: Nullable(Type.String()),
    validation_type: Nullable(OneOf(LEVELS)),
    credits_used: Nullable(Type.Integer({ description: '0 on the second and further rows of an address.' })),
    is_disposable: Known(),
    is_role: Known(),
    is_free: Known(),
    is_relay: Known(),
    is_catch_all: Known(),
    checks: Nullable(Checks),
    attempts: Type.Integer({ description: 'How often the address was asked about.' }),
    verified_at: Nullable(Moment),
    problem: Nullable(
      Type.Object({
        code: Type.String(),
        line: Type.Integer({ description: 'Of the file, from 1.' }),
        error: Type.String(),
      }),
    ),
  },
  { title: 'ListRow', description: 'What is not known, or not done, is null.' },
);

export const ListRowsReply = WithWarnings(
  'ListRows',
  Type.Object({
    rows: Type.Array(ListRowReply),
    next: Nullable(
      Type.Integer({
        description: `\`after\` of the next page; null at the end. A page that searches may have fewer rows than its limit of up to ${grouped(LIST_ROWS_PER_PAGE.max)}.`,
      }),
    ),
  }),
);

export const ListResultsQuery = Type.Object({
  format: Type.Optional(OneOf(RESULT_FORMATS, { 'x-error': `format must be ${choice(RESULT_FORMATS)}.` })),
  ...rowFilter,
});

export const ListRemoved = Type.Object({ status: Type.String(), message: Type.String() }, { title: 'ListRemoved' });
/** The same of the public API. */
export const ListRemovedReply = WithWarnings('ListRemoved', ListRemoved);
