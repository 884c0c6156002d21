import Type, { type Static } from 'typebox';
import { Nullable, OneOf } from '../schema.ts';
import { Email, Next, PAGE_SIZE, Password, ROLES, RoleField, Time } from './words.ts';

export const AccountReply = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    plan: Type.String(),
    status: OneOf(['active', 'suspended'] as const),
    rate_limit: Type.Integer({ description: 'Requests per 5 minutes.' }),
    smtp_available: Type.Boolean(),
    prices: Type.Object({ mx: Type.Integer(), smtp: Type.Integer() }),
    credits: Type.Object({ remaining: Type.Integer(), locked: Type.Integer() }),
    /** In force: the account's own, or the server's. */
    retention_days: Type.Integer(),
    /** The longest that the server allows. */
    retention_days_max: Type.Integer(),
    created_at: Time,
    role: OneOf(ROLES),
  },
  { title: 'Account' },
);
export type AccountReply = Static<typeof AccountReply>;

export const AccountChangeRequest = Type.Object({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, 'x-error': 'name must have 1 to 200 characters.' })),
  retention_days: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: 36_500 }), Type.Null()], {
      description: "Null: the server's own.",
      'x-error': 'retention_days must be a whole number of at least 1, or null.',
    }),
  ),
});
/** `name`: the account's own, typed as a confirmation. */
export const AccountDeleteRequest = Type.Object({
  name: Type.String({ maxLength: 200, 'x-error': 'name must be the name of the account.' }),
  password: Password,
});

export const PageQuery = Type.Object({
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

export const LedgerReply = Type.Object(
  {
    rows: Type.Array(
      Type.Object({
        id: Type.Integer(),
        kind: OneOf(['grant', 'hold', 'settlement', 'release'] as const),
        amount: Type.Integer({ description: 'Change of the balance.' }),
        charged: Type.Integer(),
        verification_id: Nullable(Type.String()),
        note: Nullable(Type.String()),
        created_at: Time,
      }),
    ),
    next: Type.Unsafe<number | null>(Next),
  },
  { title: 'Ledger' },
);

export const MembersReply = Type.Object(
  {
    members: Type.Array(
      Type.Object({
        user_id: Type.String(),
        name: Type.String(),
        email: Type.String(),
        role: OneOf(ROLES),
        second_factor: Type.Boolean(),
        created_at: Time,
        is_you: Type.Boolean(),
      }),
    ),
    invitations: Type.Array(
      Type.Object({
        id: Type.String(),
        email: Type.String(),
        role: OneOf(ROLES),
        invited_by: Type.String(),
        created_at: Time,
        expires_at: Time,
      }),
    ),
  },
  { title: 'Members' },
);
export type MembersReply = Static<typeof MembersReply>;
export const RoleRequest = Type.Object({ role: RoleField });
export const InviteRequest = Type.Object({ email: Email, role: RoleField });
/**
 * `link`: to hand on by oneself, shown once; null where it went to the address by mail, and always where strangers may sign
 * up: whoever has the link chooses the password of that address.
 */
export const InviteReply = Type.Object(
  { id: Type.String(), link: Nullable(Type.String()), mailed: Type.Boolean() },
  { title: 'Invited' },
);

export const TrailReply = Type.Object(
  {
    entries: Type.Array(
      Type.Object({
        id: Type.Integer(),
        at: Time,
        actor: Type.Object({
          kind: OneOf(['user', 'operator', 'key', 'command', 'service'] as const),
          name: Type.String(),
        }),
        ip: Nullable(Type.String()),
        /** `key.created`, `filter.removed`, `member.role_changed` … */
        action: Type.String(),
        /** What it was done to, in words: a key's name, a filter's value, a member's address. */
        target: Type.String(),
        detail: Type.Record(Type.String(), Type.Unknown()),
      }),
    ),
    next: Type.Unsafe<number | null>(Next),
  },
  { title: 'Trail' },
);
export type TrailReply = Static<typeof TrailReply>;
