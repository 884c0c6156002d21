import Type, { type Static } from 'typebox';
import { HOOK_KINDS } from '../../kernel/facts/hooks.ts';
import { HOOK_GRACE_SECONDS, HOOK_RATE_LIMIT, HOOK_SECRET_LENGTH, HOOK_TIMEOUT_MS } from '../../kernel/facts/limits.ts';
import { choice } from '../../kernel/format.ts';
import { PolicyNameField } from '../policies.ts';
import { DecodedAs, Nullable, OneOf, Text, Time, WholeNumber } from '../schema.ts';
import { scopeField } from '../verify.ts';
import { Name } from './fields.ts';

const hookFields = {
  id: Type.String(),
  kind: OneOf(HOOK_KINDS, { title: 'HookKind' }),
  name: Type.String(),
  policy: Type.String(),
  /** Mailboxes are remembered in this scope; null means that they are not. */
  scope: Nullable(Type.String()),
  /** The auth server is to call this URL. */
  url: Type.String(),
  timeout_ms: Type.Integer(),
  /** Null means half of the account's. */
  rate_limit: Nullable(Type.Integer()),
  /** False: every call is refused until the secret of the auth server is entered. */
  has_secret: Type.Boolean(),
  previous_secret_until: Nullable(Time),
  created_at: Time,
  last_used_at: Nullable(Time),
};
export const HookReply = Type.Object(hookFields, { title: 'Hook' });
export type HookReply = Static<typeof HookReply>;
export const HooksReply = Type.Object({ hooks: Type.Array(HookReply) }, { title: 'Hooks' });
/** The only time the secret is shown. Null: the auth server makes it. */
export const HookWithSecretReply = Type.Object(
  { hook: HookReply, secret: Nullable(Type.String()) },
  { title: 'HookWithSecret' },
);

const TimeoutMs = WholeNumber('timeout_ms', HOOK_TIMEOUT_MS, {
  description: 'How long the auth server waits for the reply; that of its kind by default.',
});
const HookRateLimit = Nullable(
  WholeNumber('rate_limit', HOOK_RATE_LIMIT, { description: 'Calls in a rate window; null: half of the account’s.' }),
);
const HookScope = Nullable(
  scopeField(
    'In which mailboxes are remembered, so that the policy knows those that were seen before; null: they are not.',
  ),
);
const Secret = DecodedAs(
  'printable',
  Text('secret', HOOK_SECRET_LENGTH, {
    description: 'What the auth server shows for its endpoint, where it makes it.',
  }),
);

export const HookCreateRequest = Type.Object({
  kind: OneOf(HOOK_KINDS, { 'x-error': `kind must be ${choice(HOOK_KINDS)}.` }),
  name: Name,
  policy: PolicyNameField,
  scope: Type.Optional(HookScope),
  timeout_ms: Type.Optional(TimeoutMs),
  rate_limit: Type.Optional(HookRateLimit),
});
export const HookChangeRequest = Type.Object({
  name: Type.Optional(Name),
  policy: Type.Optional(PolicyNameField),
  scope: Type.Optional(HookScope),
  timeout_ms: Type.Optional(TimeoutMs),
  rate_limit: Type.Optional(HookRateLimit),
});
export const HookRollRequest = Type.Object({
  secret: Type.Optional(Secret),
  grace_seconds: Type.Optional(
    WholeNumber('grace_seconds', HOOK_GRACE_SECONDS, {
      description: 'How long the secret before is accepted as well.',
    }),
  ),
});
