import Type from 'typebox';
import { LOG_QUERY_LENGTH } from '../kernel/facts/limits.ts';
import { InstantOf, PageSize } from './dashboard/fields.ts';
import { LogEntryReply, LogFilters } from './dashboard/log.ts';
import { AlsoCalled, Nullable, Time, Warnings } from './schema.ts';

const { email, query, level, reason, deliverability, decision } = LogFilters.properties;

export const VerificationsQuery = Type.Object({
  email,
  query,
  level,
  reason,
  deliverability,
  decision,
  since: Type.Optional(AlsoCalled(['from', 'after'], InstantOf('since'))),
  until: Type.Optional(AlsoCalled(['to', 'before'], InstantOf('until'))),
  cursor: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,16}$',
      maxLength: LOG_QUERY_LENGTH.max,
      description: '`next` of the page before.',
      'x-error': 'cursor must be the `next` of an earlier page.',
    }),
  ),
  limit: Type.Optional(PageSize),
});

export const VerificationsReply = Type.Object(
  {
    verifications: Type.Array(LogEntryReply),
    next: Nullable(Type.String({ description: 'The `cursor` of the next page; null: there is none.' })),
    searched_to: Nullable({
      ...Time,
      description: 'How far back this page looked; null: to the end. A page may have fewer rows than `limit`, or none.',
    }),
    warnings: Warnings,
  },
  { title: 'Verifications' },
);
