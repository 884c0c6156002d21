import Type, { type Static } from 'typebox';
import { Nullable, OneOf } from '../schema.ts';
import { Time } from './words.ts';

export const DashboardKey = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    /** `mv_live_…` and the last four characters: all that can ever be shown again. */
    key: Type.String(),
    allow_ips: Type.Array(Type.String()),
    /** `expiring`: rolled, and valid until `revoked_at`. */
    state: OneOf(['active', 'expiring', 'revoked'] as const),
    created_at: Time,
    revoked_at: Nullable(Time),
    last_used_at: Nullable(Time),
    last_used_ip: Nullable(Type.String()),
    /** What the cards point to; of keys that are not revoked. */
    notices: Type.Array(OneOf(['never_used', 'idle', 'open_to_all'] as const)),
  },
  { title: 'DashboardKey' },
);
export type DashboardKey = Static<typeof DashboardKey>;

/** Newest first; revoked ones last. */
export const KeysReply = Type.Object({ keys: Type.Array(DashboardKey) }, { title: 'Keys' });

const KeyName = Type.String({ minLength: 1, maxLength: 200, 'x-error': 'name must have 1 to 200 characters.' });
const AllowIps = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: 200,
  description: 'IPs and CIDRs; empty: from anywhere.',
  'x-error': 'allow_ips must be a list of at most 200 IP addresses and CIDRs.',
});

export const KeyCreateRequest = Type.Object({ name: KeyName, allow_ips: Type.Optional(AllowIps) });
export const KeyChangeRequest = Type.Object({ name: Type.Optional(KeyName), allow_ips: Type.Optional(AllowIps) });
/** `name`: the key's own, typed as a confirmation. */
export const KeyRevokeRequest = Type.Object({
  name: Type.String({ maxLength: 200, 'x-error': 'name must be the name of the key.' }),
});
export const KeyRollRequest = Type.Object({
  grace_seconds: Type.Integer({
    minimum: 0,
    maximum: 2_592_000,
    description: 'How long the old key stays valid; at most 30 days.',
    'x-error': 'grace_seconds must be a whole number from 0 to 2,592,000 (30 days).',
  }),
});
/** The only time the value is shown. */
export const KeyCreatedReply = Type.Object({ key: DashboardKey, value: Type.String() }, { title: 'KeyCreated' });
