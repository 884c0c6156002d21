import Type, { type Static } from 'typebox';
import { FILTER_ACTIONS, FILTER_MATCHES, FILTER_TYPES } from '../../kernel/facts/filter-types.ts';
import { FILTER_REASON_LENGTH, FILTER_VALUE_LENGTH, IMPORT_LINES, INSTANT_LENGTH } from '../../kernel/facts/limits.ts';
import { FILTER_ORDERS } from '../../kernel/facts/sort-orders.ts';
import { span } from '../../kernel/format.ts';
import { FilterReply, FiltersQuery } from '../filters.ts';
import { Nullable, OneOf } from '../schema.ts';
import { sortFields } from './fields.ts';

export const FiltersHereQuery = Type.Object({ ...FiltersQuery.properties, ...sortFields(FILTER_ORDERS) });

const Line = Type.Object({
  value: Type.String({ maxLength: FILTER_VALUE_LENGTH.max }),
  reason: Type.Optional(Nullable(Type.String({ maxLength: FILTER_REASON_LENGTH.max }))),
  filter_type: Type.Optional(OneOf(FILTER_TYPES)),
  action: Type.Optional(OneOf(FILTER_ACTIONS)),
  match: Type.Optional(OneOf(FILTER_MATCHES)),
  /** Read like that of a single filter: a line that has a wrong one is told of it. */
  expires_at: Type.Optional(Nullable(Type.String({ maxLength: INSTANT_LENGTH.max }))),
});
export const FilterImportRequest = Type.Object({
  lines: Type.Array(Line, {
    minItems: IMPORT_LINES.min,
    maxItems: IMPORT_LINES.max,
    'x-error': `lines must be a list of ${span(IMPORT_LINES)} objects with "value", and "reason" or not.`,
  }),
});
/** One result for each line, in their order. */
export const FilterImportReply = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        outcome: OneOf(['added', 'exists', 'invalid'] as const),
        filter: Nullable(FilterReply),
        /** What is wrong with the line; null unless `invalid`. */
        error: Nullable(Type.String()),
      }),
    ),
  },
  { title: 'FilterImport' },
);
export type FilterImportReply = Static<typeof FilterImportReply>;
