import Type, { type Static } from 'typebox';
import {
  FILTERS_PAGE,
  FILTERS_PER_PAGE,
  LIST_COLUMN_LENGTH,
  LIST_COLUMNS,
  LIST_COLUMNS_LENGTH,
  LIST_DELIMITER_LENGTH,
  LIST_HEADER_ROW,
  LIST_QUERY_LENGTH,
  LIST_RETRY_MINUTES,
  LIST_ROWS,
  LIST_ROWS_PER_PAGE,
  NAME_LENGTH,
} from '../kernel/facts/limits.ts';
import {
  DEDUPES,
  DELIMITERS,
  FILE_FORMS,
  LIST_STATUSES,
  LIST_WARNING_CODES,
  RESULT_FORMATS,
} from '../kernel/facts/lists.ts';
import { LEVELS } from '../kernel/facts/plans.ts';
import { POLICY_ACTIONS } from '../kernel/facts/policies.ts';
import { DELIVERABILITIES, STATUSES } from '../kernel/facts/reasons.ts';
import { choice, grouped, span } from '../kernel/format.ts';
import { PolicyNameField } from './policies.ts';
import {
  AlsoCalled,
  Count,
  DecodedAs,
  Nullable,
  OneOf,
  Pagination,
  Text,
  Time,
  WholeNumber,
  WithWarnings,
} from './schema.ts';
import {
  ChecksReply,
  DeliverabilityField,
  LEVEL_NAMES,
  LEVEL_NOTES,
  ReasonField,
  ReasonFilter,
  StatusField,
} from './verify.ts';

/** What a query or a form may hold. */
export const FLAGS = ['true', 'false'] as const;
const ENTRY_LENGTH = { min: 1, max: 1_000 };
const DELIVERABILITY_TEXT_LENGTH = { min: 1, max: 200 };
const HEADER_CHOICES = ['auto', 'true', 'false'] as const;

const DELIMITER_NAMES = Object.keys(DELIMITERS);
const EncodingField = (description: string) =>
  DecodedAs(
    'encoding',
    Text('encoding', NAME_LENGTH, {
      description,
      'x-error': 'encoding must be a name of the Encoding Standard, such as utf-8, windows-1252 or shift_jis.',
    }),
  );
const DelimiterText = (field: string, description: string) =>
  Text(field, LIST_DELIMITER_LENGTH, {
    description: `${description} ${choice(DELIMITER_NAMES)}, or the character itself.`,
  });

const DedupeField = OneOf(DEDUPES, {
  description:
    'Which rows count as duplicates, and are verified and charged once: `address` (the default), those of the same address; `mailbox`, also those of one mailbox in other spellings, where its provider documents them, such as `J.Doe+x@gmail.com` and `jdoe@googlemail.com`.',
  'x-error': `dedupe must be ${choice(DEDUPES)}.`,
});

/** How to read a file. `what`: of its columns, those with these. */
export const readFields = (what: string) => ({
  columns: Type.Optional(
    Text('columns', LIST_COLUMNS_LENGTH, {
      description: `Columns with the ${what}, detected by default: names or numbers from 1, separated by commas or as a JSON array; \`all\`: every column that has ${what}.`,
    }),
  ),
  column: Type.Optional(
    Text('column', LIST_COLUMN_LENGTH, { description: 'The same for one column, whatever its name.' }),
  ),
  header_row: Type.Optional(
    WholeNumber('header_row', LIST_HEADER_ROW, {
      description: 'Row of the file with the names of the columns, from 1, detected by default; 0: none.',
    }),
  ),
  header: Type.Optional(
    OneOf(HEADER_CHOICES, {
      description: '`true` is `header_row` 1, `false` 0, `auto` the default.',
      'x-error': `header must be ${choice(HEADER_CHOICES)}.`,
    }),
  ),
  delimiter: Type.Optional(DelimiterText('delimiter', 'Between the cells of a row, detected by default:')),
  encoding: Type.Optional(EncodingField('Of text, detected by default; a name of the Encoding Standard.')),
  sheet: Type.Optional(
    Text('sheet', NAME_LENGTH, {
      description: 'Of a workbook, by name or number; by default the first with addresses, else the first.',
    }),
  ),
  entry: Type.Optional(Text('entry', ENTRY_LENGTH, { description: 'Of an archive with several files, by name.' })),
});

/** The schema has no default, which the service applies: it would hide `patience_minutes`. */
const RETRY_RANGE = { min: LIST_RETRY_MINUTES.min, max: LIST_RETRY_MINUTES.max };
/** Deprecates the name that `retry_minutes` had in earlier versions. */
const RETRY_MINUTES_BEFORE = { deprecated: true, description: 'The earlier name of `retry_minutes`.' };

/** The fields are in the query, or in a multipart or JSON body. */
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
    AlsoCalled(LEVEL_NAMES, OneOf(LEVELS, { description: 'By default as the policy says, or `mx`.', ...LEVEL_NOTES })),
  ),
  policy: Type.Optional(PolicyNameField),
  dedupe: Type.Optional(DedupeField),
  ...readFields('addresses'),
  start: Type.Optional(
    OneOf(FLAGS, {
      description: '`false` leaves the list `ready`, so that its price can be seen first.',
      'x-error': `start must be ${choice(FLAGS)}.`,
    }),
  ),
  retry_minutes: Type.Optional(
    WholeNumber('retry_minutes', RETRY_RANGE, {
      description: `How long addresses whose servers defer the answer are tried again, by default ${LIST_RETRY_MINUTES.default}.`,
    }),
  ),
  patience_minutes: Type.Optional(WholeNumber('patience_minutes', RETRY_RANGE, RETRY_MINUTES_BEFORE)),
});

/** What is left out stays as it was. In `read`, null is what is left out: detected. */
export const ListPatch = Type.Object(
  {
    dedupe: Type.Optional(DedupeField),
    read: Type.Optional(
      Type.Object(
        {
          columns: Type.Optional(
            Nullable(
              Type.Union(
                [
                  Text('read.columns', LIST_COLUMNS_LENGTH),
                  Type.Array(Type.Union([Text('read.columns', LIST_COLUMN_LENGTH), Type.Integer({ minimum: 1 })]), {
                    minItems: 1,
                    maxItems: LIST_COLUMNS.max,
                  }),
                ],
                {
                  'x-error':
                    'read.columns must be names or numbers of columns, as an array or separated by commas, or "all".',
                },
              ),
            ),
          ),
          column: Type.Optional(
            Nullable(
              Type.Union([Text('read.column', LIST_COLUMN_LENGTH), Type.Integer({ minimum: 1 })], {
                'x-error': 'read.column must be the name or the number of a column, from 1.',
              }),
            ),
          ),
          header_row: Type.Optional(Nullable(WholeNumber('read.header_row', LIST_HEADER_ROW))),
          header: Type.Optional(
            Nullable(
              Type.Union([OneOf(HEADER_CHOICES), Type.Boolean()], {
                'x-error': 'read.header must be "auto", true or false.',
              }),
            ),
          ),
          delimiter: Type.Optional(Nullable(DelimiterText('read.delimiter', 'Between the cells of a row:'))),
          encoding: Type.Optional(Nullable(Text('read.encoding', NAME_LENGTH))),
          sheet: Type.Optional(
            Nullable(
              Type.Union([Text('read.sheet', NAME_LENGTH), Type.Integer({ minimum: 1 })], {
                'x-error': 'read.sheet must be the name or the number of a sheet, from 1.',
              }),
            ),
          ),
          entry: Type.Optional(Nullable(Text('read.entry', ENTRY_LENGTH))),
        },
        {
          description: 'As in the upload; what is null or left out in it is detected.',
          'x-error':
            'read must be an object of columns, header_row, delimiter, encoding, sheet and entry, as in an upload.',
        },
      ),
    ),
  },
  { title: 'ListPatch' },
);

/** How a file was read, beside its columns. */
export const FoundInFile = {
  format: Nullable(OneOf(FILE_FORMS, { description: 'As detected.' })),
  delimiter: Nullable(Type.String({ description: 'Between the cells of a row.' })),
  encoding: Nullable(Type.String()),
  sheet: Nullable(Type.String({ description: 'Of a workbook.' })),
  entry: Nullable(Type.String({ description: 'Of an archive.' })),
  header_row: Nullable(Type.Integer({ description: 'Row of the file with the names of the columns; 0: none.' })),
};

export const ListReply = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status: OneOf(LIST_STATUSES),
    validation_type: OneOf(LEVELS),
    policy: Nullable(Type.String({ description: 'Name of the policy that decides, as it was at the upload.' })),
    dedupe: OneOf(DEDUPES, { description: 'Which rows count as duplicates, as in the upload.' }),
    rows: Type.Object({
      total: Type.Integer({ description: 'Rows of the file; one may have several addresses.' }),
      addresses: Type.Integer({
        description: 'Distinct ones, or those of distinct mailboxes: each is verified and charged once.',
      }),
      duplicates: Type.Integer({
        description: 'Further addresses that are the same as an earlier one, or of its mailbox.',
      }),
      blank: Type.Integer({ description: 'Rows without an address.' }),
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
    read: Type.Object(
      {
        ...FoundInFile,
        column: Type.String({ description: 'The main one with addresses.' }),
        columns: Type.Array(Type.String(), { description: 'Those whose addresses are verified, the main one first.' }),
        other_address_columns: Type.Array(Type.Object({ column: Type.String(), addresses: Count }), {
          description: 'Whose addresses are not verified.',
        }),
        addresses_per_row: Type.Object({ max: Nullable(Count), rows_with_several: Nullable(Count) }),
      },
      { description: 'How the file was read. Null: it has no such thing, or a version before did not keep it.' },
    ),
    warnings: Type.Array(Type.Object({ code: OneOf(LIST_WARNING_CODES), message: Type.String() }), {
      description: 'What may be wrong with how the file was read; and, as `unknown_field`, with the request.',
    }),
    error: Nullable(Type.Object({ code: Type.String(), error: Type.String() })),
    retry_minutes: Type.Integer({ description: 'How long deferred addresses are tried again.' }),
    patience_minutes: Type.Integer(RETRY_MINUTES_BEFORE),
    created_at: Time,
    started_at: Nullable(Time),
    finished_at: Nullable(Time),
    expires_at: Type.String({ format: 'date-time', description: 'When the list and its results are deleted.' }),
  },
  { title: 'List' },
);
export type ListReply = Static<typeof ListReply>;

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
    DecodedAs(
      'deliverabilities',
      Text('deliverability', DELIVERABILITY_TEXT_LENGTH, {
        description: `${choice(DELIVERABILITIES)}; several are separated by commas, and \`!undeliverable\` is all but that one.`,
        'x-error': `deliverability must be ${choice(DELIVERABILITIES)}, several of them separated by commas, or all but one as !undeliverable.`,
      }),
    ),
  ),
};

const rowSearch = {
  reason: Type.Optional(ReasonFilter),
  query: Type.Optional(Text('query', LIST_QUERY_LENGTH, { description: 'Searched literally in the address.' })),
};

export const ListRowsQuery = Type.Object({
  ...rowFilter,
  ...rowSearch,
  after: Type.Optional(
    WholeNumber('after', { min: 0, max: LIST_ROWS.max, default: 0 }, { description: '`next` of the page before.' }),
  ),
  limit: Type.Optional(WholeNumber('limit', LIST_ROWS_PER_PAGE)),
});

const KnownField = (description?: string) => Nullable(Type.Boolean(description === undefined ? {} : { description }));

export const ListRowReply = Type.Object(
  {
    row: Type.Integer({
      description: 'From 1, the header not counted. A row with several addresses appears here once for each.',
    }),
    part: Nullable(Type.Integer({ description: 'Which of the addresses of its row, from 1; null where it has one.' })),
    parts: Nullable(Type.Integer({ description: 'How many addresses its row has.' })),
    column: Nullable(Type.String({ description: 'From which the address was taken, where that is not the main one.' })),
    email: Nullable(Type.String()),
    status: Nullable(StatusField),
    deliverability: Nullable(DeliverabilityField),
    reason: ReasonField,
    did_you_mean: Nullable(Type.String()),
    validation_type: Nullable(OneOf(LEVELS)),
    credits_used: Nullable(Type.Integer({ description: '0 where `is_duplicate` is true.' })),
    is_disposable: KnownField(),
    is_role: KnownField(),
    is_free: KnownField(),
    is_relay: KnownField(),
    is_catch_all: KnownField(),
    decision: Nullable(
      OneOf(POLICY_ACTIONS, { description: 'Of the policy of the list; null without one, and without a result.' }),
    ),
    relay_provider: Nullable(Type.String({ description: 'Who runs the relay.' })),
    egress: Nullable(Type.String({ description: 'From where the mail server was asked, as in `checks.smtp`.' })),
    checks: Nullable(ChecksReply),
    canonical_email: Nullable(
      Type.String({ description: 'For comparing, as in a single check: addresses of one mailbox have the same.' }),
    ),
    is_duplicate: KnownField(
      'An earlier row has the address, or its mailbox: this one has its result, free of charge.',
    ),
    attempts: Type.Integer({ description: 'How often the address was asked about.' }),
    verified_at: Nullable(Time),
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
  delimiter: Type.Optional(
    OneOf([...DELIMITER_NAMES, ...Object.values(DELIMITERS)], {
      description: 'Of CSV, by default that of the file: a name, or the character itself.',
      'x-error': `delimiter must be ${choice(DELIMITER_NAMES)}.`,
    }),
  ),
  encoding: Type.Optional(
    EncodingField('Of CSV, by default that of the file; what it has no character for is written as a question mark.'),
  ),
  bom: Type.Optional(
    OneOf(FLAGS, {
      description: 'Whether CSV begins with a byte order mark, by default as the file did.',
      'x-error': `bom must be ${choice(FLAGS)}.`,
    }),
  ),
  ...rowFilter,
  ...rowSearch,
});

export const ListRemoved = Type.Object({ status: Type.String(), message: Type.String() }, { title: 'ListRemoved' });
/** Adds warnings, for the public API. */
export const ListRemovedReply = WithWarnings('ListRemoved', ListRemoved);
