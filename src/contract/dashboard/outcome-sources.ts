import Type, { type Static } from 'typebox';
import { HOOK_GRACE_SECONDS, OUTCOME_SECRET_LENGTH } from '../../kernel/facts/limits.ts';
import { OUTCOME_ORIGINS, OUTCOME_PROVIDERS } from '../../kernel/facts/sent-mail.ts';
import { choice } from '../../kernel/format.ts';
import { Nullable, OneOf, Text, Time, WholeNumber } from '../schema.ts';
import { Name } from './fields.ts';

/** A connection with a provider that reports what became of the account's mail. */
export const OutcomeSourceReply = Type.Object(
  {
    id: Type.String(),
    provider: OneOf(OUTCOME_PROVIDERS, { title: 'OutcomeProvider' }),
    name: Type.String(),
    /** The provider is to call this URL. */
    url: Type.String(),
    /** False: every request is refused until the secret of the provider is entered. */
    has_secret: Type.Boolean(),
    previous_secret_until: Nullable(Time),
    /** Outcomes that came from there. */
    received: Type.Integer(),
    created_at: Time,
    last_received_at: Nullable(Time),
  },
  { title: 'OutcomeSource' },
);
export type OutcomeSourceReply = Static<typeof OutcomeSourceReply>;
export const OutcomeSourcesReply = Type.Object(
  {
    sources: Type.Array(OutcomeSourceReply),
    /** Outcomes came on these ways, other than from providers. */
    origins: Type.Array(
      Type.Object(
        {
          /** `message` is a bounce or complaint by the API, `command` one by `mailvet outcomes`. */
          origin: OneOf(OUTCOME_ORIGINS),
          received: Type.Integer(),
          last_received_at: Time,
        },
        { title: 'OutcomeOrigin' },
      ),
    ),
  },
  { title: 'OutcomeSources' },
);
/** The only time the secret is shown. Null: the provider makes it. */
export const OutcomeSourceWithSecretReply = Type.Object(
  { source: OutcomeSourceReply, secret: Nullable(Type.String()) },
  { title: 'OutcomeSourceWithSecret' },
);

export const OutcomeSourceCreateRequest = Type.Object({
  provider: OneOf(OUTCOME_PROVIDERS, { 'x-error': `provider must be ${choice(OUTCOME_PROVIDERS)}.` }),
  name: Name,
});
export const OutcomeSourceRollRequest = Type.Object({
  secret: Type.Optional(
    Text('secret', OUTCOME_SECRET_LENGTH, {
      description: 'What the provider shows, where it makes it; of Amazon SES, the ARN of the SNS topic.',
    }),
  ),
  grace_seconds: Type.Optional(
    WholeNumber('grace_seconds', HOOK_GRACE_SECONDS, {
      description: 'How long the secret before is accepted as well.',
    }),
  ),
});
