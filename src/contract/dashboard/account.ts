import Type, { type Static } from 'typebox';
import { ACTOR_KINDS, AUDIT_ACTIONS, AUDIT_SUBJECTS } from '../../kernel/audit-actions.ts';
import {
  ALLOW_IPS,
  INSTANT_LENGTH,
  IP_LENGTH,
  KEY_GRACE_SECONDS,
  KEY_MONTHLY_CREDITS,
  LEDGER_DAYS,
  NAME_LENGTH,
  RETENTION_DAYS,
  TRUST_BOUNCES_DAYS,
} from '../../kernel/facts/limits.ts';
import { KEY_NOTICES } from '../../kernel/facts/notices.ts';
import { LEDGER_KINDS, WINDOW_SECONDS } from '../../kernel/facts/plans.ts';
import { KEY_CONDITIONS, KEY_SCOPES } from '../../kernel/facts/scopes.ts';
import { choice, counted, grouped, span } from '../../kernel/format.ts';
import { DecodedAs, Nullable, OneOf, Text, Time, WholeNumber } from '../schema.ts';
import { Credits, PlanPrices, Storage } from '../usage.ts';
import {
  AccountStatusField,
  Before,
  Email,
  Name,
  Next,
  PageSize,
  PlanField,
  RoleField,
  SecondFactorRequired,
} from './fields.ts';
import { ConfirmRequest } from './session.ts';

export const AccountReply = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    plan: PlanField,
    status: AccountStatusField,
    rate_limit: Type.Integer({ description: `Requests per ${counted(WINDOW_SECONDS / 60, 'minute')}.` }),
    smtp_available: Type.Boolean(),
    upgrade_required: Nullable(
      Type.String({ description: 'The plan that has the smtp level; null: this one, or none.' }),
    ),
    prices: PlanPrices,
    credits: Type.Omit(Credits, ['used']),
    storage: Storage,
    /** The retention in force is the account's own, or the server's. */
    retention_days: Type.Integer(),
    /** The server allows at most this. */
    retention_days_max: Type.Integer(),
    /** A bounce of an address counts as its verdict for so many days. */
    trust_bounces_days: Type.Union([Type.Integer(), Type.Null()]),
    second_factor_required: SecondFactorRequired,
    created_at: Time,
    role: RoleField,
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
  trust_bounces_days: Type.Optional(
    Type.Union([Type.Integer({ minimum: TRUST_BOUNCES_DAYS.min, maximum: TRUST_BOUNCES_DAYS.max }), Type.Null()], {
      description: 'For so many days a bounce of an address counts as its verdict; null: it is verified.',
      'x-error': `trust_bounces_days must be a whole number from ${span(TRUST_BOUNCES_DAYS)}, or null.`,
    }),
  ),
  /** Stays false in a session that began without a second factor. */
  second_factor_required: Type.Optional(SecondFactorRequired),
});
/** `name`: the account's own, typed as a confirmation. */
export const AccountDeleteRequest = Type.Object({
  name: Text('name', { ...NAME_LENGTH, min: 0 }, { 'x-error': 'name must be the name of the account.' }),
  ...ConfirmRequest.properties,
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
        kind: OneOf(LEDGER_KINDS, {
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
/** Has those of the days back from today (UTC) on which something happened; the newest comes first. */
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
        role: RoleField,
        second_factor: Type.Boolean(),
        created_at: Time,
        last_active_at: Nullable(
          Type.String({
            format: 'date-time',
            description: 'When they last used the account, to within a few minutes.',
          }),
        ),
        is_you: Type.Boolean(),
      }),
    ),
    invitations: Type.Array(
      Type.Object({
        id: Type.String(),
        email: Type.String(),
        role: RoleField,
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
 * `link`: for the inviter to pass on, shown once. Null where it was sent to the address by mail, and always where
 * anyone may sign up, since the holder of the link chooses the password of that address.
 */
export const InviteReply = Type.Object(
  { id: Type.String(), link: Nullable(Type.String()), mailed: Type.Boolean() },
  { title: 'Invited' },
);

const About = Type.Optional(
  OneOf(AUDIT_SUBJECTS, {
    description: '`account`: changes to the account. `user`: sign-ins and security of its members.',
    'x-error': `about must be ${choice(AUDIT_SUBJECTS)}.`,
  }),
);
export const AuditLogQuery = Type.Object({ ...PageQuery.properties, about: About });
export const AuditLogExportQuery = Type.Object({ about: About });

const ENTRY = {
  id: Type.Integer(),
  at: Time,
  actor: Type.Object({
    kind: OneOf(ACTOR_KINDS),
    name: Type.String(),
  }),
  ip: Nullable(Type.String()),
  /** `key.created`, `filter.removed`, `member.role_changed` … */
  action: OneOf(AUDIT_ACTIONS),
  /** Displays the target: a key's name, a filter's value, a member's address. */
  target: Type.String(),
  detail: Type.Record(Type.String(), Type.Unknown()),
  /** It happened this often from `at` to `last_at`. */
  count: Type.Integer(),
  last_at: Time,
};
const AuditEntryReply = Type.Object(ENTRY);
export type AuditEntryReply = Static<typeof AuditEntryReply>;
/** `account` is an id; null for users without an account. */
const OperatorAuditEntryReply = Type.Object({
  ...ENTRY,
  account: Nullable(Type.String()),
  account_name: Nullable(Type.String()),
});
export type OperatorAuditEntryReply = Static<typeof OperatorAuditEntryReply>;

export const AuditLogReply = Type.Object(
  { entries: Type.Array(AuditEntryReply), next: Type.Unsafe<number | null>(Next) },
  { title: 'AuditLog' },
);
export type AuditLogReply = Static<typeof AuditLogReply>;
export const OperatorAuditLogReply = Type.Object(
  { entries: Type.Array(OperatorAuditEntryReply), next: Type.Unsafe<number | null>(Next) },
  { title: 'OperatorAuditLog' },
);
export type OperatorAuditLogReply = Static<typeof OperatorAuditLogReply>;

export const DashboardKey = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    /** `mv_live_…` or `mv_test_…`, and the last four characters: all that can ever be shown again. */
    key: Type.String(),
    allow_ips: Type.Array(Type.String()),
    scopes: Type.Array(OneOf(KEY_SCOPES)),
    /** Null: no budget. `used`: in the calendar month (UTC), with what is held; `resets_at`: its end. */
    budget: Nullable(Type.Object({ monthly_credits: Type.Integer(), used: Type.Integer(), resets_at: Time })),
    state: OneOf(KEY_CONDITIONS),
    created_at: Time,
    expires_at: Nullable(Time),
    revoked_at: Nullable(Time),
    last_used_at: Nullable(Time),
    last_used_ip: Nullable(Type.String()),
    /** What the cards point to; of keys that are not revoked or expired. */
    notices: Type.Array(OneOf(KEY_NOTICES)),
  },
  { title: 'DashboardKey' },
);
export type DashboardKey = Static<typeof DashboardKey>;

/** The newest comes first, and those that are revoked last. */
export const KeysReply = Type.Object({ keys: Type.Array(DashboardKey) }, { title: 'Keys' });

/**
 * Verifications with each key, by day (UTC), the last of them today, and the rejected requests of that time that the
 * log has. Keys without any are left out.
 */
export const KeyUsageReply = Type.Object(
  {
    days: Type.Array(Time),
    keys: Type.Array(
      Type.Object({ key_id: Type.String(), requests: Type.Array(Type.Integer()), rejected: Type.Integer() }),
    ),
  },
  { title: 'KeyUsage' },
);
export type KeyUsageReply = Static<typeof KeyUsageReply>;

/** `clients` are those who used the key lately, the latest first. */
export const KeyDetailReply = Type.Object(
  {
    key: DashboardKey,
    clients: Type.Array(Type.Object({ ip: Nullable(Type.String()), requests: Type.Integer(), last_at: Time })),
  },
  { title: 'KeyDetail' },
);
export type KeyDetailReply = Static<typeof KeyDetailReply>;

export const AllowIps = Type.Array(Type.String({ maxLength: IP_LENGTH.max }), {
  maxItems: ALLOW_IPS.max,
  description: 'IPs and CIDRs; empty: from anywhere.',
  'x-error': `allow_ips must be a list of at most ${grouped(ALLOW_IPS.max)} IP addresses and CIDRs.`,
});
const LONGEST_GRACE = counted(KEY_GRACE_SECONDS.max / 86_400, 'day');

export const KEY_LIMITS = {
  expires_at: Type.Optional(
    DecodedAs(
      'instant',
      Type.Union([Type.String({ maxLength: INSTANT_LENGTH.max }), Type.Null()], {
        description: 'A date or an RFC 3339 date-time in the future; null: never.',
        'x-error': 'expires_at must be a date or an RFC 3339 date-time in the future, or null.',
      }),
    ),
  ),
  scopes: Type.Optional(
    Type.Array(OneOf(KEY_SCOPES), {
      minItems: 1,
      maxItems: KEY_SCOPES.length,
      description: 'What the key may be used for. Left out: everything but `privacy`.',
      'x-error': `scopes must be a list of at least one of ${choice(KEY_SCOPES)}.`,
    }),
  ),
  monthly_credits: Type.Optional(
    Type.Union([WholeNumber('monthly_credits', KEY_MONTHLY_CREDITS), Type.Null()], {
      description: 'What the key may spend in a calendar month (UTC); null: no budget.',
      'x-error': `monthly_credits must be a whole number from ${span(KEY_MONTHLY_CREDITS)}, or null.`,
    }),
  ),
};

export const KeyCreateRequest = Type.Object({ name: Name, allow_ips: Type.Optional(AllowIps), ...KEY_LIMITS });
export const KeyChangeRequest = Type.Object({
  name: Type.Optional(Name),
  allow_ips: Type.Optional(AllowIps),
  ...KEY_LIMITS,
});
/** `name`: the key's own, typed as a confirmation. */
export const KeyRevokeRequest = Type.Object({
  name: Text('name', { ...NAME_LENGTH, min: 0 }, { 'x-error': 'name must be the name of the key.' }),
});
export const KeyRollRequest = Type.Object({
  grace_seconds: Type.Integer({
    minimum: KEY_GRACE_SECONDS.min,
    maximum: KEY_GRACE_SECONDS.max,
    description: `How long the old key stays valid; at most ${LONGEST_GRACE}.`,
    'x-error': `grace_seconds must be a whole number from ${span(KEY_GRACE_SECONDS)} (${LONGEST_GRACE}).`,
  }),
});
/** The only time the value is shown. */
export const KeyCreatedReply = Type.Object({ key: DashboardKey, value: Type.String() }, { title: 'KeyCreated' });
