import Type, { type Static } from 'typebox';
import { Nullable, OneOf } from '../schema.ts';
import { LEVELS, VerifyReply } from '../verify.ts';
import { Next, PAGE_SIZE, Time } from './words.ts';

/** A verification from the dashboard: charged as any other, with its evidence. */
export const DashboardVerifyRequest = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 1024, 'x-error': 'email must be a string of 1 to 1,024 characters.' }),
  validation_type: OneOf(LEVELS, {
    'x-error': 'validation_type must be "mx" or "smtp".',
    'x-code': 'invalid_validation_type',
  }),
});
export const DashboardVerifyReply = Type.Object(
  { result: VerifyReply, credits_remaining: Type.Integer() },
  { title: 'DashboardVerification' },
);

export const LogEntry = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    status: OneOf(['good', 'bad'] as const),
    deliverability: Type.String(),
    reason: Nullable(Type.String()),
    requested: OneOf(LEVELS),
    validation_type: OneOf(LEVELS),
    credits_used: Type.Integer(),
    duration_ms: Type.Integer(),
    client_ip: Nullable(Type.String()),
    /** Null: verified in the dashboard. */
    key: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
    created_at: Time,
  },
  { title: 'LogEntry' },
);
export type LogEntry = Static<typeof LogEntry>;

export const LogQuery = Type.Object({
  email: Type.Optional(
    Type.String({ maxLength: 1024, description: 'An address or its beginning, without regard to case.' }),
  ),
  id: Type.Optional(Type.String({ maxLength: 64 })),
  reason: Type.Optional(Type.String({ maxLength: 64, description: '`none`: without a reason.' })),
  key: Type.Optional(Type.String({ maxLength: 64, description: 'Id of a key, or `dashboard`.' })),
  status: Type.Optional(OneOf(['good', 'bad'] as const, { 'x-error': 'status must be "good" or "bad".' })),
  before: Type.Optional(Type.Integer({ minimum: 1, 'x-error': 'before must be the `next` of an earlier page.' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: PAGE_SIZE,
      'x-error': 'limit must be a whole number from 1 to 100.',
    }),
  ),
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
  email: Type.String({ minLength: 1, maxLength: 1024, 'x-error': 'email must be the address to erase.' }),
});
export const EraseReply = Type.Object({ erased: Type.Integer() }, { title: 'Erased' });
