import Type, { type Static } from 'typebox';
import {
  ALLOW_IPS,
  INSTANT_LENGTH,
  IP_LENGTH,
  KEY_GRACE_SECONDS,
  KEY_MONTHLY_CREDITS,
  NAME_LENGTH,
} from '../../kernel/facts/limits.ts';
import { KEY_SCOPES } from '../../kernel/facts/scopes.ts';
import { choice, counted, grouped, span } from '../../kernel/format.ts';
import { Text, WholeNumber } from '../bounded.ts';
import { DecodedAs, Nullable, OneOf } from '../schema.ts';
import { Name, Time } from './fields.ts';

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
    /** `expiring`: rolled, and valid until `revoked_at`. */
    state: OneOf(['active', 'expiring', 'expired', 'revoked'] as const),
    created_at: Time,
    expires_at: Nullable(Time),
    revoked_at: Nullable(Time),
    last_used_at: Nullable(Time),
    last_used_ip: Nullable(Type.String()),
    /** What the cards point to; of keys that are not revoked or expired. */
    notices: Type.Array(OneOf(['never_used', 'idle', 'open_to_all', 'budget_spent'] as const)),
  },
  { title: 'DashboardKey' },
);
export type DashboardKey = Static<typeof DashboardKey>;

/** Newest first; revoked ones last. */
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

/** `clients`: who used the key lately, the latest first. */
export const KeyDetailReply = Type.Object(
  {
    key: DashboardKey,
    clients: Type.Array(Type.Object({ ip: Nullable(Type.String()), requests: Type.Integer(), last_at: Time })),
  },
  { title: 'KeyDetail' },
);
export type KeyDetailReply = Static<typeof KeyDetailReply>;

const AllowIps = Type.Array(Type.String({ maxLength: IP_LENGTH.max }), {
  maxItems: ALLOW_IPS.max,
  description: 'IPs and CIDRs; empty: from anywhere.',
  'x-error': `allow_ips must be a list of at most ${grouped(ALLOW_IPS.max)} IP addresses and CIDRs.`,
});
const LONGEST_GRACE = counted(KEY_GRACE_SECONDS.max / 86_400, 'day');

const LIMITS = {
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
      description: 'What the key may be used for.',
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

export const KeyCreateRequest = Type.Object({ name: Name, allow_ips: Type.Optional(AllowIps), ...LIMITS });
export const KeyChangeRequest = Type.Object({
  name: Type.Optional(Name),
  allow_ips: Type.Optional(AllowIps),
  ...LIMITS,
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
