import Type, { type Static } from 'typebox';
import { FILTER_ACTIONS, FILTER_TYPES } from '../kernel/facts/filter-types.ts';
import {
  FILTER_QUERY_LENGTH,
  FILTER_REASON_LENGTH,
  FILTER_VALUE_LENGTH,
  FILTERS_PAGE,
  FILTERS_PER_PAGE,
} from '../kernel/facts/limits.ts';
import { choice, grouped, span } from '../kernel/format.ts';
import { AlsoCalled, WithWarnings } from './reader.ts';
import { DecodedAs, Nullable, OneOf, Pagination, Text, WholeNumber } from './schema.ts';

export const FilterReply = Type.Object(
  {
    id: Type.Integer({ description: 'Counted within the account.' }),
    filter_type: OneOf(FILTER_TYPES),
    value: Type.String({ description: 'In canonical form.' }),
    reason: Nullable(Type.String()),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Filter' },
);
export type FilterReply = Static<typeof FilterReply>;
export const FilterAddedReply = WithWarnings('FilterAdded', FilterReply);

const REASON_ERROR = `reason must be null or a string of at most ${grouped(FILTER_REASON_LENGTH.max)} characters, without control or invisible characters.`;

const TYPE_NAMES = ['type', 'kind'];

const filterFields = {
  filter_type: Type.Optional(
    AlsoCalled(
      TYPE_NAMES,
      OneOf(FILTER_TYPES, {
        description: 'Optional when the value makes it clear.',
        'x-error': `filter_type must be ${choice(FILTER_TYPES)}.`,
        'x-code': 'invalid_filter',
      }),
    ),
  ),
  value: Text('value', FILTER_VALUE_LENGTH, {
    description: 'An address, a domain (covers its sub-domains), an IP or a CIDR. Put in canonical form.',
    'x-error': `value must be a string of ${span(FILTER_VALUE_LENGTH)} characters.`,
    'x-code': 'invalid_filter',
  }),
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
      description: 'What every filter does. Any other value is refused, as the filter would do the opposite.',
      'x-error': `action must be ${choice(FILTER_ACTIONS)}: a filter can do nothing else.`,
      'x-code': 'invalid_filter',
    }),
  ),
};

/** Of the public API. */
export const FilterRequest = Type.Object(filterFields, {
  title: 'FilterRequest',
  description: 'Flat, or wrapped as {"filter": {…}}.',
  '~wrapper': 'filter',
});
/** Of the dashboard, which sends it flat. */
export const FlatFilterRequest = Type.Object(filterFields, { title: 'FilterRequest' });

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
/** The same of the public API. */
export const FilterPageReply = WithWarnings('Filters', FiltersReply);

export const FilterRemoved = Type.Object({ status: Type.String(), message: Type.String() }, { title: 'FilterRemoved' });
/** The same of the public API. */
export const FilterRemovedReply = WithWarnings('FilterRemoved', FilterRemoved);
