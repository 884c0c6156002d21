/** Lists of addresses in the dashboard are those of `/v1/lists`, with what a page needs besides. */
import Type, { type Static } from 'typebox';
import { ROW_KINDS } from '../../kernel/facts/lists.ts';
import { LEVELS } from '../../kernel/facts/plans.ts';
import { LIST_ORDERS } from '../../kernel/facts/sort-orders.ts';
import { choice } from '../../kernel/format.ts';
import { ListReply, ListRowReply, ListRowsQuery, ListsQuery } from '../lists.ts';
import { Nullable, OneOf, Pagination, Time } from '../schema.ts';
import { LEVEL_NOTES } from '../verify.ts';
import { sortFields } from './fields.ts';

export const ListsHereQuery = Type.Object({
  ...ListsQuery.properties,
  ...sortFields(LIST_ORDERS),
});

export const ListHere = Type.Object(
  {
    ...ListReply.properties,
    /** Null means that it was uploaded in the dashboard. */
    key: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
    columns: Type.Array(Type.String()),
    address_columns: Type.Array(Type.Integer(), {
      description: 'Their numbers, from 1; that of the main one is first.',
    }),
    has_file: Type.Boolean({ description: 'Whether the file is kept, so that it can be read in another way.' }),
    chosen: Type.Object(
      {
        columns: Nullable(Type.Union([Type.Literal('all'), Type.Array(Type.String())])),
        header_row: Nullable(Type.Integer()),
        delimiter: Nullable(Type.String()),
        encoding: Nullable(Type.String()),
        sheet: Nullable(Type.String()),
        entry: Nullable(Type.String()),
      },
      { description: 'How the file was asked to be read; null: detected.' },
    ),
    next_retry_at: Nullable(Time),
    rest_list: Nullable(Type.String({ description: 'Id of the list that has its remaining addresses.' })),
  },
  { title: 'ListHere' },
);
export type ListHere = Static<typeof ListHere>;

export const ListsHereReply = Type.Object(
  { lists: Type.Array(ListReply), pagination: Pagination },
  { title: 'ListsHere' },
);

export const ListRowsHereQuery = Type.Object({
  ...ListRowsQuery.properties,
  kind: Type.Optional(OneOf(ROW_KINDS, { 'x-error': `kind must be ${choice(ROW_KINDS)}.` })),
  cells: Type.Optional(OneOf(['true', 'false'], { 'x-error': 'cells must be true or false.' })),
});
export const ListRowsHereReply = Type.Object(
  {
    rows: Type.Array(
      Type.Object({
        ...ListRowReply.properties,
        kind: OneOf(ROW_KINDS),
        verification_id: Nullable(Type.String({ description: 'Of its entry in the log.' })),
        cells: Type.Optional(
          Type.Array(Type.String(), { description: 'Of the row in the file, where asked for; long ones are cut.' }),
        ),
      }),
    ),
    next: Nullable(Type.Integer()),
  },
  { title: 'ListRowsHere' },
);

/** The beginning of the file; long cells are cut. */
export const ListPreviewReply = Type.Object(
  {
    rows: Type.Array(
      Type.Object({ row: Type.Integer(), cells: Type.Array(Type.String()), problem: Nullable(Type.String()) }),
    ),
  },
  { title: 'ListPreview' },
);

/** Addresses whose server deferred the answer, the soonest first. */
export const ListDeferredReply = Type.Object(
  {
    deferred: Type.Array(
      Type.Object({ email: Type.String(), attempts: Type.Integer(), first_at: Time, retry_at: Time }),
    ),
  },
  { title: 'ListDeferred' },
);

const LevelField = OneOf(LEVELS, LEVEL_NOTES);
export const ListLevelRequest = Type.Object({ validation_type: LevelField });
