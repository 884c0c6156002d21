import Type, { type Static } from 'typebox';
import { LEDGER_DAYS, NAME_LENGTH, RETENTION_DAYS } from '../../kernel/facts/limits.ts';
import { WINDOW_SECONDS } from '../../kernel/facts/plans.ts';
import { counted } from '../../kernel/format.ts';
import { Text, WholeNumber } from '../bounded.ts';
import { Nullable, OneOf } from '../schema.ts';
import { Storage } from '../usage.ts';
import { Before, Email, Name, PageSize, Password, Plan, Role, SecondFactorRequired, Status, Time } from './fields.ts';

export const AccountReply = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    plan: Plan,
    status: Status,
    rate_limit: Type.Integer({ description: `Requests per ${counted(WINDOW_SECONDS / 60, 'minute')}.` }),
    smtp_available: Type.Boolean(),
    prices: Type.Object({ mx: Type.Integer(), smtp: Type.Integer() }),
    credits: Type.Object({ remaining: Type.Integer(), locked: Type.Integer() }),
    storage: Storage,
    /** In force: the account's own, or the server's. */
    retention_days: Type.Integer(),
    /** The longest that the server allows. */
    retention_days_max: Type.Integer(),
    second_factor_required: SecondFactorRequired,
    created_at: Time,
    role: Role,
  },
  { title: 'Account' },
);
export type AccountReply = Static<typeof AccountReply>;

export const AccountChangeRequest = Type.Object({
  name: Type.Optional(Name),
  retention_days: Type.Optional(
    Type.Union([Type.Integer({ minimum: RETENTION_DAYS.min, maximum: RETENTION_DAYS.max }), Type.Null()], {
      description: "Null: the server's own.",
      'x-error': 'retention_days must be a whole number of at least 1, or null.',
    }),
  ),
  /** True only in a session begun with a second factor. */
  second_factor_required: Type.Optional(SecondFactorRequired),
});
/** `name`: the account's own, typed as a confirmation. */
export const AccountDeleteRequest = Type.Object({
  name: Text('name', { ...NAME_LENGTH, min: 0 }, { 'x-error': 'name must be the name of the account.' }),
  password: Password,
});

export const PageQuery = Type.Object({
  before: Type.Optional(Before),
  limit: Type.Optional(PageSize),
});

export const LedgerQuery = Type.Object({
  before: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,16}(\\.[0-9]{1,16}){2}$',
      'x-error': 'before must be the `next` of an earlier page.',
    }),
  ),
  limit: Type.Optional(PageSize),
});
export const LedgerReply = Type.Object(
  {
    rows: Type.Array(
      Type.Object({
        id: Type.String(),
        kind: OneOf(['grant', 'hold', 'settlement', 'release', 'day'] as const, {
          description: '`day`: the sum of a day’s entries that were deleted after their time.',
        }),
        amount: Type.Integer({ description: 'Change of the balance.' }),
        charged: Type.Integer(),
        verification_id: Nullable(Type.String()),
        verifications: Nullable(Type.Integer({ description: 'How many the row of a day sums up.' })),
        note: Nullable(Type.String()),
        created_at: Time,
      }),
    ),
    next: Nullable(Type.String()),
  },
  { title: 'Ledger' },
);

export const LedgerDaysQuery = Type.Object({
  days: Type.Optional(WholeNumber('days', LEDGER_DAYS)),
});
/** Of the days back from today (UTC), those on which something happened; the newest first. */
export const LedgerDaysReply = Type.Object(
  {
    total: Type.Integer({ description: 'What the account has, held credits included.' }),
    held: Type.Integer(),
    /** The newest first; negative ones were taken back. */
    grants: Type.Array(Type.Object({ at: Time, credits: Type.Integer(), note: Type.String() })),
    days: Type.Array(
      Type.Object({
        at: Time,
        verifications: Type.Integer(),
        charged: Type.Integer(),
        granted: Type.Integer(),
        balance: Type.Integer({ description: 'At the end of the day, held credits included.' }),
      }),
    ),
    more: Type.Boolean({ description: 'Whether the account has earlier days.' }),
  },
  { title: 'LedgerDays' },
);
export type LedgerDaysReply = Static<typeof LedgerDaysReply>;

export const MembersReply = Type.Object(
  {
    members: Type.Array(
      Type.Object({
        user_id: Type.String(),
        name: Type.String(),
        email: Type.String(),
        role: Role,
        second_factor: Type.Boolean(),
        created_at: Time,
        is_you: Type.Boolean(),
      }),
    ),
    invitations: Type.Array(
      Type.Object({
        id: Type.String(),
        email: Type.String(),
        role: Role,
        invited_by: Type.String(),
        created_at: Time,
        expires_at: Time,
      }),
    ),
  },
  { title: 'Members' },
);
export type MembersReply = Static<typeof MembersReply>;
export const RoleRequest = Type.Object({ role: Role });
export const InviteRequest = Type.Object({ email: Email, role: Role });
/**
 * `link`: for the inviter to pass on, shown once. Null where it was sent to the address by mail, and always where
 * anyone may sign up, since the holder of the link chooses the password of that address.
 */
export const InviteReply = Type.Object(
  { id: Type.String(), link: Nullable(Type.String()), mailed: Type.Boolean() },
  { title: 'Invited' },
);
