import Type, { type Static } from 'typebox';
import { Nullable, OneOf, objectReader, type Parsed, refused } from './schema.ts';

export const FILTER_TYPES = ['email', 'domain', 'ip_address'] as const;

export const FilterReply = Type.Object(
  {
    id: Type.Integer(),
    filter_type: OneOf(FILTER_TYPES),
    value: Type.String({ description: 'In canonical form.' }),
    reason: Nullable(Type.String()),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Filter' },
);
export type FilterReply = Static<typeof FilterReply>;

/** RFC 9110 leaves the length open; a reason is a note, not a document. */
export const REASON_MAX = 500;

const REASON_ERROR = `reason must be null or a string of at most ${REASON_MAX} characters, without control characters.`;

export const FilterRequest = Type.Object(
  {
    filter_type: Type.Optional(
      OneOf(FILTER_TYPES, {
        description: 'May be left out when the value shows it.',
        'x-error': 'filter_type must be "email", "domain" or "ip_address".',
        'x-code': 'invalid_filter',
      }),
    ),
    value: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'An address, a domain (covers its sub-domains), an IP or a CIDR. Put in canonical form.',
      'x-error': 'value must be a string of 1 to 1,024 characters.',
      'x-code': 'invalid_filter',
    }),
    reason: Type.Optional(
      Type.Union([Type.String({ maxLength: REASON_MAX }), Type.Null()], { 'x-error': REASON_ERROR }),
    ),
  },
  { title: 'FilterRequest', description: 'Flat, or wrapped as {"filter": {…}}.' },
);
export type FilterRequest = Static<typeof FilterRequest>;
const readFlat = objectReader(FilterRequest);

/** Takes the object flat or wrapped. What a store could not give back as it was sent is refused, not altered. */
export function readFilterRequest(body: unknown): Parsed<FilterRequest> {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const read = readFlat(isObject && Object.hasOwn(body, 'filter') ? (body as { filter: unknown }).filter : body);
  const altered = read.ok && /[\p{Cc}\p{Cs}]/u.test(read.value.reason ?? '');
  return altered ? refused('invalid_parameter', REASON_ERROR, { field: 'reason' }) : read;
}

export const FiltersQuery = Type.Object({
  filter_type: Type.Optional(OneOf(FILTER_TYPES)),
  query: Type.Optional(Type.String({ maxLength: 1024, description: 'Searched literally in value and reason.' })),
  page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25 })),
});

export const FiltersReply = Type.Object(
  {
    filters: Type.Array(FilterReply),
    pagination: Type.Object({
      current_page: Type.Integer(),
      per_page: Type.Integer(),
      total_pages: Type.Integer(),
      total_count: Type.Integer(),
    }),
  },
  { title: 'Filters' },
);
export type FiltersReply = Static<typeof FiltersReply>;

export const FilterRemoved = Type.Object({ status: Type.String(), message: Type.String() }, { title: 'FilterRemoved' });
