import Type, { type Static } from 'typebox';
import { FILTER_TYPES, FilterReply, REASON_MAX } from '../filters.ts';
import { Nullable, OneOf } from '../schema.ts';

/** Lines of one request of an import; the page sends as many requests as it takes. */
export const IMPORT_MAX = 200;

const Line = Type.Object({
  value: Type.String({ maxLength: 1024 }),
  reason: Type.Optional(Nullable(Type.String({ maxLength: REASON_MAX }))),
  filter_type: Type.Optional(OneOf(FILTER_TYPES)),
});
export const FilterImportRequest = Type.Object({
  lines: Type.Array(Line, {
    minItems: 1,
    maxItems: IMPORT_MAX,
    'x-error': `lines must be a list of 1 to ${IMPORT_MAX} objects with "value", and "reason" or not.`,
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
