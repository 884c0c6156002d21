import Type, { type Static } from 'typebox';
import { choice } from '../../kernel/format.ts';
import { ADDRESS_LENGTH, LOG_QUERY_LENGTH, NAME_LENGTH } from '../../kernel/limits.ts';
import { LOG_ORIGINS } from '../../kernel/log-origins.ts';
import { OUTCOMES } from '../../kernel/outcomes.ts';
import { LEVELS } from '../../kernel/plans.ts';
import { STATUSES } from '../../kernel/reasons.ts';
import { Text } from '../bounded.ts';
import { Nullable, OneOf } from '../schema.ts';
import {
  DeliverabilityField,
  EMAIL_ERROR,
  LEVEL_NOTES,
  ReasonField,
  ReasonOrNone,
  StatusField,
  VerifyReply,
} from '../verify.ts';
import { Before, InstantOf, Next, PageSize, Time } from './fields.ts';

/** A verification from the dashboard: charged as any other, with its evidence. */
export const DashboardVerifyRequest = Type.Object({
  email: Text('email', ADDRESS_LENGTH, { 'x-error': EMAIL_ERROR }),
  validation_type: OneOf(LEVELS, LEVEL_NOTES),
});
export const DashboardVerifyReply = Type.Object(
  { result: VerifyReply, credits_remaining: Type.Integer() },
  { title: 'DashboardVerification' },
);

export const LogEntry = Type.Object(
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
    /** Null: verified in the dashboard. */
    key: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
    /** Null: it is the result of no list, or that was deleted. */
    list: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
    created_at: Time,
  },
  { title: 'LogEntry' },
);
export type LogEntry = Static<typeof LogEntry>;

export const LogQuery = Type.Object({
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
  level: Type.Optional(OneOf(LEVELS, { 'x-error': `level must be ${choice(LEVELS)}.` })),
  deliverability: Type.Optional(
    OneOf(OUTCOMES, {
      description: '`not_checked`: unknown because the mailbox was not asked about (level mx). `unknown`: the others.',
      'x-error': `deliverability must be ${choice(OUTCOMES)}.`,
    }),
  ),
  origin: Type.Optional(OneOf(LOG_ORIGINS, { 'x-error': `origin must be ${choice(LOG_ORIGINS)}.` })),
  operator: Type.Optional(
    Text('operator', NAME_LENGTH, {
      description: 'Mail operator as `checks.mx.provider` names it; `none`: servers that belong to no known operator.',
    }),
  ),
  from: Type.Optional(InstantOf('from')),
  to: Type.Optional(InstantOf('to')),
  reason: Type.Optional(ReasonOrNone),
  key: Type.Optional(Text('key', LOG_QUERY_LENGTH, { description: 'Id of a key, or `dashboard`.' })),
  status: Type.Optional(OneOf(STATUSES, { 'x-error': 'status must be "good" or "bad".' })),
  before: Type.Optional(Before),
  limit: Type.Optional(PageSize),
});
/**
 * Newest first. One request looks through a bounded number of rows: a page may hold fewer entries than asked, or none,
 * and still have a `next`; `searched_to` says how far back it looked.
 */
export const LogReply = Type.Object(
  {
    entries: Type.Array(LogEntry),
    next: Type.Unsafe<number | null>(Next),
    searched_to: Nullable(Time),
    retention_days: Type.Integer(),
  },
  { title: 'Log' },
);
/** `reply`: the JSON as it was answered then. */
export const LogDetailReply = Type.Object({ entry: LogEntry, reply: VerifyReply }, { title: 'LogDetail' });
export const EraseRequest = Type.Object({
  email: Text('email', ADDRESS_LENGTH, { 'x-error': 'email must be the address to erase.' }),
});
export const EraseReply = Type.Object({ erased: Type.Integer() }, { title: 'Erased' });
