import Type, { type Static } from 'typebox';
import {
  POLICIES_MAX,
  POLICY_LANGUAGES_MAX,
  POLICY_MESSAGE_LENGTH,
  POLICY_NAME_LENGTH,
  POLICY_TRIED_ON,
  TIMEOUT_MS,
} from '../kernel/facts/limits.ts';
import { DEFAULT_LEVEL, LEVELS } from '../kernel/facts/plans.ts';
import {
  DECISION_GROUNDS,
  type DecisionGround,
  POLICY_ACTIONS,
  POLICY_NAME,
  SIGNAL_ROWS,
  SIGNALS,
  type Signal,
} from '../kernel/facts/policies.ts';
import { choice, span } from '../kernel/format.ts';
import { Count, Defaulted, Nullable, OneOf, Strict, Time, WholeNumber, WithWarnings } from './schema.ts';

const NAME_ERROR = `must have ${span(POLICY_NAME_LENGTH)} characters, each a small letter, a digit or one of "_", "." and "-".`;
const nameField = (field: string, description: string) =>
  Type.String({ pattern: POLICY_NAME.source, description, 'x-error': `${field} ${NAME_ERROR}` });

/** Requests name the policy that decides in this field. */
export const PolicyNameField = nameField(
  'policy',
  'Name of the policy that decides: one of the account, or `signup` or `strict`, which every account has.',
);

export const DecisionField = Type.Object(
  {
    action: OneOf(POLICY_ACTIONS, { title: 'PolicyAction', description: 'What the policy says to do.' }),
    because: Type.Array(
      OneOf(DECISION_GROUNDS, {
        description: '`undeliverable` is rejected by every policy; `outage`: there is no verdict.',
      }),
      { description: 'The signals that the policy answers with this action. Later versions may add some.' },
    ),
    message: Nullable(
      Type.String({ description: 'For the person who entered the address; null where it is accepted.' }),
    ),
  },
  { title: 'Decision', description: 'What the policy of the request says of the verdict; null without a policy.' },
);

const SIGNALS_ERROR = `signals can have ${SIGNALS.join(', ')}, each ${choice(POLICY_ACTIONS)}.`;
const MESSAGES_ERROR = `messages can have ${DECISION_GROUNDS.join(', ')}, each an object with a text for each language, such as {"en": "…", "de": "…"}.`;
const ON_OUTAGE_DESCRIPTION =
  'What to decide where there is no verdict, because of an outage, an empty balance or a limit.';
const LEVEL = 'Level of the check where the request has none.';
const TIMEOUT = 'Time limit of the check in milliseconds, where the request has none.';
const languageTexts = Type.Record(Type.String(), Type.String(), { title: 'LanguageTexts' });
const MESSAGES_DESCRIPTION = `For the person who entered the address: by signal, then by language, at most ${POLICY_LANGUAGES_MAX} of ${POLICY_MESSAGE_LENGTH.max} characters each. The first language is for all that have none.`;

const signalField = (signal: Signal) => OneOf(POLICY_ACTIONS, { description: SIGNAL_ROWS[signal].readFrom });
const SIGNAL_FIELDS = {
  disposable: signalField('disposable'),
  relay: signalField('relay'),
  role: signalField('role'),
  free: signalField('free'),
  catch_all: signalField('catch_all'),
  unknown: signalField('unknown'),
  full: signalField('full'),
  typo: signalField('typo'),
  tag: signalField('tag'),
  seen_before: signalField('seen_before'),
} as const satisfies Record<Signal, unknown>;
const MESSAGE_FIELDS = {
  undeliverable: languageTexts,
  disposable: languageTexts,
  relay: languageTexts,
  role: languageTexts,
  free: languageTexts,
  catch_all: languageTexts,
  unknown: languageTexts,
  full: languageTexts,
  typo: languageTexts,
  tag: languageTexts,
  seen_before: languageTexts,
  outage: languageTexts,
} as const satisfies Record<DecisionGround, unknown>;

const rulesReply = {
  signals: Type.Object(SIGNAL_FIELDS, { title: 'PolicySignals' }),
  validation_type: OneOf(LEVELS, { description: LEVEL }),
  timeout_ms: Type.Integer({ description: TIMEOUT }),
  on_outage: OneOf(POLICY_ACTIONS, { description: ON_OUTAGE_DESCRIPTION }),
  messages: Type.Partial(Type.Object(MESSAGE_FIELDS), { title: 'PolicyMessages', description: MESSAGES_DESCRIPTION }),
};

export const PolicyReply = Type.Object(
  {
    name: Type.String(),
    built_in: Type.Boolean({ description: 'Comes with the service: can be copied, not changed or deleted.' }),
    ...rulesReply,
    created_at: Nullable(Type.String({ format: 'date-time', description: 'Null where it is built in.' })),
    changed_at: Nullable(Type.String({ format: 'date-time', description: 'Null where it is built in.' })),
  },
  { title: 'Policy' },
);
export type PolicyReply = Static<typeof PolicyReply>;
export const PolicyDetailsReply = WithWarnings('PolicyDetails', PolicyReply);

/** What a reply has besides the rules, so that it can be sent back changed, or under another name. */
const REPLY_ONLY = ['name', 'built_in', 'created_at', 'changed_at', 'warnings'];

/** The whole policy. A misspelt signal would be accepted silently, so a field that is not known is refused. */
export const PolicyRequest = Strict(
  Type.Object(
    {
      signals: Type.Optional(
        Type.Partial(Type.Object(SIGNAL_FIELDS), {
          title: 'PolicySignalsRequest',
          additionalProperties: false,
          description: 'What is not there is accepted.',
          'x-error': SIGNALS_ERROR,
        }),
      ),
      validation_type: Defaulted(
        OneOf(LEVELS, { description: LEVEL, 'x-error': `validation_type must be ${choice(LEVELS)}.` }),
        DEFAULT_LEVEL,
      ),
      timeout_ms: Type.Optional(WholeNumber('timeout_ms', TIMEOUT_MS, { description: TIMEOUT })),
      on_outage: Defaulted(
        OneOf(POLICY_ACTIONS, {
          description: ON_OUTAGE_DESCRIPTION,
          'x-error': `on_outage must be ${choice(POLICY_ACTIONS)}.`,
        }),
        'accept',
      ),
      messages: Type.Optional(
        Type.Partial(Type.Object(MESSAGE_FIELDS), {
          title: 'PolicyMessagesRequest',
          additionalProperties: false,
          description: MESSAGES_DESCRIPTION,
          'x-error': MESSAGES_ERROR,
        }),
      ),
    },
    { title: 'PolicyRequest', description: 'The whole policy: what it leaves out is accepted, or has its default.' },
  ),
  REPLY_ONLY,
);

export const PolicyParams = Type.Object({
  name: Type.String({ pattern: POLICY_NAME.source, 'x-error': `The name of a policy ${NAME_ERROR}` }),
});

export const PoliciesReply = Type.Object(
  {
    policies: Type.Array(PolicyReply, {
      description: `By name; those that are built in come first. At most ${POLICIES_MAX} and those.`,
    }),
  },
  { title: 'Policies' },
);
/** Adds warnings, for the public API. */
export const PolicyListReply = WithWarnings('PolicyList', PoliciesReply);

export const PolicyDeleted = Type.Object({ status: Type.String(), message: Type.String() }, { title: 'PolicyDeleted' });
export const PolicyDeletedReply = WithWarnings('PolicyDeleted', PolicyDeleted);

/** What rules would have said of the newest verifications of the account; `items`: those that are not accepted. */
export const PolicyTrialReply = Type.Object(
  {
    tried: Type.Integer({ description: `At most ${POLICY_TRIED_ON}, the newest.` }),
    decided: Type.Object({ accept: Count, review: Count, reject: Count }),
    items: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Of its entry in the log.' }),
        email: Type.String(),
        created_at: Time,
        action: DecisionField.properties.action,
        because: DecisionField.properties.because,
      }),
      { description: 'Newest first.' },
    ),
  },
  { title: 'PolicyTrial' },
);
