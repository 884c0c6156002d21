import Type, { type Static } from 'typebox';
import { CALIBRATION_LEAST } from '../kernel/facts/calibration.ts';
import { CHECK_RESULTS, REPLY_READERS, TRANSCRIPT_WRITERS } from '../kernel/facts/checks.ts';
import { FILTER_ACTIONS } from '../kernel/facts/filter-types.ts';
import {
  ADDRESS_LENGTH,
  IP_LENGTH,
  LANGUAGE_LENGTH,
  SEEN_SCOPE_LENGTH,
  SMTP_MESSAGE_LENGTH,
  TIMEOUT_MS,
} from '../kernel/facts/limits.ts';
import { DEFAULT_LEVEL, LEVELS } from '../kernel/facts/plans.ts';
import {
  ATTEMPT_NEXT,
  DELIVERABILITIES,
  PROVIDER_KINDS,
  REASON_FILTERS,
  REASON_NAMES,
  STATUSES,
} from '../kernel/facts/reasons.ts';
import { choice, span } from '../kernel/format.ts';
import { DecisionField, PolicyNameField } from './policies.ts';
import {
  AlsoCalled,
  DecodedAs,
  Defaulted,
  Nullable,
  OneOf,
  Text,
  Warnings,
  WholeNumber,
  WithWarnings,
} from './schema.ts';

export const EMAIL_ERROR = `email must be a string of ${span(ADDRESS_LENGTH)} characters.`;
export const LEVEL_NOTES = {
  'x-error': `validation_type must be ${choice(LEVELS)}.`,
  'x-code': 'invalid_validation_type',
} as const;

/** Other services and our own docs call the level so. */
export const LEVEL_NAMES = ['level', 'type', 'mode'];

export const scopeField = (description: string) =>
  Text('scope', SEEN_SCOPE_LENGTH, {
    pattern: '^[a-z0-9_.-]*$',
    examples: ['signup'],
    description,
    'x-error': `scope must have ${span(SEEN_SCOPE_LENGTH)} characters, each of a to z, 0 to 9, "_", "." and "-".`,
  });

const LEVEL_MEANING =
  '`mx`: syntax, domain, mail-server records, disposable list. `smtp`: also asks the mail server whether the mailbox exists.';
const TIMEOUT_MEANING =
  'Time budget of the whole check, in milliseconds. What is not known by then is reported as unknown.';
const levelField = (description: string) => AlsoCalled(LEVEL_NAMES, OneOf(LEVELS, { description, ...LEVEL_NOTES }));

/** What a check is asked with, wherever no policy says the rest. */
const CheckRequestFields = Type.Object({
  email: AlsoCalled(
    ['address', 'email_address', 'mail', 'to_email'],
    Text('email', ADDRESS_LENGTH, {
      description:
        'The address to check; white space around it does not count. A malformed address is not a bad request: its verdict is `bad`.',
      'x-error': EMAIL_ERROR,
    }),
  ),
  validation_type: Defaulted(levelField(LEVEL_MEANING), DEFAULT_LEVEL),
  client_ip: Type.Optional(
    DecodedAs(
      'ip',
      AlsoCalled(
        ['ip', 'ip_address', 'user_ip'],
        Text('client_ip', IP_LENGTH, {
          description: "The end user's IP, which `ip_address` filters match; the caller's own by default.",
          'x-error': 'client_ip must be an IPv4 or IPv6 address.',
        }),
      ),
    ),
  ),
  timeout_ms: Type.Optional(WholeNumber('timeout_ms', TIMEOUT_MS, { description: TIMEOUT_MEANING })),
  scope: Type.Optional(
    scopeField(
      'Your name for a place where a mailbox may count once, such as `signup`: the mailbox is remembered there, and `seen` of the reply says whether it was before.',
    ),
  ),
});

const { min, max } = TIMEOUT_MS;

export const VerifyRequest = Type.Object(
  {
    ...CheckRequestFields.properties,
    validation_type: Type.Optional(
      levelField(`${LEVEL_MEANING} By default as the policy says, or \`${DEFAULT_LEVEL}\`.`),
    ),
    timeout_ms: Type.Optional(
      WholeNumber(
        'timeout_ms',
        { min, max },
        { description: `${TIMEOUT_MEANING} By default as the policy says, or ${TIMEOUT_MS.default}.` },
      ),
    ),
    policy: Type.Optional(PolicyNameField),
    language: Type.Optional(
      AlsoCalled(
        ['lang', 'locale', 'accept_language'],
        Text('language', LANGUAGE_LENGTH, {
          description:
            "Of the decision's message: a language tag such as `de-CH`, or the value of the user's Accept-Language header.",
        }),
      ),
    ),
  },
  { title: 'VerifyRequest', description: 'Other fields are ignored, and named in the `warnings` of the reply.' },
);

export const VerifyQuery = Type.Object({
  evidence: Type.Optional(
    Type.String({
      enum: ['0', '1'],
      description: '`1` adds the evidence: mail hosts and the SMTP transcript.',
      'x-error': 'evidence must be 0 or 1.',
    }),
  ),
});

const ResultField = OneOf(CHECK_RESULTS, { title: 'CheckResult' });
const MxRecordReply = Type.Object({ host: Type.String(), priority: Type.Integer() });

export const ChecksReply = Type.Object(
  {
    syntax: Type.Object({
      result: ResultField,
      error: Type.Optional(
        Type.String({ description: 'What is wrong with the address; see the page of syntax errors.' }),
      ),
      index: Type.Optional(Type.Integer({ description: 'Where, in UTF-16 code units.' })),
    }),
    filter: Type.Object({
      result: ResultField,
      filter_id: Type.Optional(Type.Integer({ description: 'The filter that matched.' })),
      action: Type.Optional(OneOf(FILTER_ACTIONS, { description: 'What it does.' })),
      filter_type: Type.Optional(Type.String()),
      value: Type.Optional(Type.String()),
      id: Type.Optional(Type.Integer({ description: 'As `filter_id`, where the filter blocks.' })),
    }),
    disposable: Type.Object({
      result: ResultField,
      list_version: Type.String(),
      matched: Type.Optional(Type.String({ description: 'The list entry or mail host that matched.' })),
    }),
    domain: Type.Object({ result: ResultField }),
    mx: Type.Object({
      result: ResultField,
      records: Type.Optional(Type.Array(MxRecordReply)),
      provider: Type.Optional(Nullable(Type.String())),
      provider_kind: Type.Optional(
        Nullable(OneOf(PROVIDER_KINDS, { description: 'What the mail hosts of the provider do with mail.' })),
      ),
      failure: Type.Optional(Type.String({ description: 'How the DNS question failed.' })),
    }),
    smtp: Type.Object({
      result: ResultField,
      host: Type.Optional(Nullable(Type.String())),
      stage: Type.Optional(Nullable(Type.String())),
      code: Type.Optional(Nullable(Type.Integer())),
      enhanced_code: Type.Optional(Nullable(Type.String())),
      message: Type.Optional(
        Nullable(
          Type.String({
            maxLength: SMTP_MESSAGE_LENGTH.max,
            description:
              'What the mail server said with the code that decided, without mail addresses and the words of the local part; null: no reply decided.',
          }),
        ),
      ),
      tls: Type.Optional(Type.Boolean()),
      rule: Type.Optional(Nullable(Type.String({ description: 'The classification rule that decided.' }))),
      egress: Type.Optional(
        Nullable(
          Type.String({ description: 'Name of the egress from which the mail server was asked, or was to be asked.' }),
        ),
      ),
    }),
    catch_all: Type.Object({
      result: ResultField,
      outcomes: Type.Optional(
        Type.Object(
          { delivered: Type.Integer({ minimum: 0 }), bounced: Type.Integer({ minimum: 0 }) },
          { description: "Of a catch-all: what became of the account's mail to its mailboxes." },
        ),
      ),
      checked_at: Type.Optional(
        Nullable(
          Type.String({
            format: 'date-time',
            description:
              'When the server answered about a random mailbox. The answer is remembered for hours, so it may be older than the check; null: it did not answer.',
          }),
        ),
      ),
    }),
  },
  { title: 'Checks' },
);

const NullableFlag = (description: string) => Nullable(Type.Boolean({ description }));

const EvidenceReply = Type.Object(
  {
    mail_hosts: Type.Array(
      Type.Object({ host: Type.String(), priority: Type.Integer(), addresses: Type.Array(Type.String()) }),
    ),
    unusable_hosts: Type.Array(Type.Object({ host: Type.String(), why: Type.String() })),
    smtp: Nullable(
      Type.Object({
        host: Nullable(Type.String()),
        address: Nullable(Type.String()),
        tls: Type.Boolean(),
        rule: Nullable(Type.String()),
        egress: Nullable(Type.String({ description: 'As in `checks.smtp`.' })),
        decided_by: Nullable(
          OneOf(REPLY_READERS, {
            description: 'What read the reply that decided; null if none did.',
          }),
        ),
        probability: Nullable(
          Type.Number({ description: 'That the mailbox cannot be reached, as the model saw that reply, from 0 to 1.' }),
        ),
        attempts: Type.Array(
          Type.Object({
            host: Type.String(),
            address: Type.String(),
            stage: Nullable(Type.String()),
            code: Nullable(Type.Integer()),
            rule: Nullable(Type.String()),
            next: Nullable(OneOf(ATTEMPT_NEXT, { description: 'Why another attempt followed; null if none did.' })),
          }),
          { description: 'The mail hosts that were asked, in order; the last one need not be the one that decided.' },
        ),
        transcript: Type.Array(
          Type.Object({
            at: Type.Number({ description: 'Milliseconds since the dialogue began.' }),
            from: OneOf(TRANSCRIPT_WRITERS),
            text: Type.String(),
          }),
        ),
      }),
    ),
    catch_all: Nullable(
      Type.Object({
        result: ResultField,
        checked_at: Nullable(
          Type.String({ format: 'date-time', description: 'When the server answered about a random mailbox.' }),
        ),
        cached: Type.Boolean({ description: 'The answer is remembered from an earlier check.' }),
        why: Nullable(Type.String({ description: 'Why it is unknown.' })),
      }),
    ),
  },
  { title: 'Evidence' },
);

export const StatusField = OneOf(STATUSES, { title: 'Status' });
export const DeliverabilityField = OneOf(DELIVERABILITIES, {
  title: 'Deliverability',
  description: 'What to expect of a message.',
});
/** The set grows with new versions: a client has to bear a reason that it does not know. */
export const ReasonField = Nullable(
  OneOf(REASON_NAMES, {
    title: 'Reason',
    description:
      'Why the address is bad, or what could not be determined; see the page of verdicts. Later versions may add reasons.',
  }),
);
export const ReasonFilter = OneOf(REASON_FILTERS, {
  description: '`none`: without a reason.',
  'x-error': 'reason must be a reason of the page of verdicts, or "none".',
});

const SeenField = Type.Object(
  {
    before: Type.Boolean({ description: 'Whether the mailbox was seen in this scope before, in any spelling.' }),
    count: Type.Integer({ minimum: 1, description: 'How often it was seen, this time included.' }),
    first_at: Type.String({ format: 'date-time', description: 'When it was seen first.' }),
    same_spelling: Type.Boolean({
      description: 'Whether its address is spelled as it was then; false the first time.',
    }),
  },
  {
    title: 'Seen',
    description:
      'What is remembered of the mailbox in the `scope` of the request; null without one, and for a malformed address.',
  },
);

const OutcomeTime = (description: string) => Nullable(Type.String({ format: 'date-time', description }));
const HistoryField = Type.Object(
  {
    delivered_at: OutcomeTime('When a message last arrived.'),
    bounced_at: OutcomeTime('When the mail server last refused the recipient.'),
    complained_at: OutcomeTime('When the recipient last reported one as spam.'),
  },
  {
    title: 'MailHistory',
    description: 'What became of mail of the account to the mailbox, as reported in outcomes; null: nothing was.',
  },
);
const Portion = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const ConfidenceField = Type.Object(
  {
    p: Portion('The share of mail that did not bounce for a reason of the recipient.'),
    low: Portion('Of its 95 % interval.'),
    high: Portion('Of its 95 % interval.'),
    n: Type.Integer({ minimum: CALIBRATION_LEAST, description: 'Verdicts that it is measured by.' }),
    basis: OneOf(['account'] as const, { description: 'Whose outcomes count.' }),
  },
  {
    title: 'Confidence',
    description: `How often mail arrives at addresses with this deliverability, reason, level and mail provider; null with fewer than ${CALIBRATION_LEAST} outcomes of the account.`,
  },
);

export const VerifyReply = Type.Object(
  {
    email: Type.String({ description: 'Exactly as sent; in the log, `hash:…` where addresses are not kept.' }),
    status: StatusField,
    validation_type: OneOf(LEVELS, { description: 'The level that gave the answer, and that was billed.' }),
    credits_used: Type.Integer({ minimum: 0 }),
    is_disposable: Type.Boolean(),
    deliverability: DeliverabilityField,
    reason: ReasonField,
    did_you_mean: Nullable(Type.String()),
    normalized_email: Nullable(Type.String()),
    canonical_email: Nullable(
      Type.String({
        description:
          'For comparing: addresses of one mailbox have the same. Never mail to it, and never show it as the user’s address.',
      }),
    ),
    canonical_rule: Nullable(
      Type.String({
        description: 'The provider whose rule applied; `tag`: only a +tag was cut; null: nothing was changed.',
      }),
    ),
    seen: Nullable(SeenField),
    history: Nullable(HistoryField),
    confidence: Nullable(ConfidenceField),
    local_part: Nullable(Type.String()),
    domain: Nullable(Type.String()),
    tag: Nullable(Type.String()),
    is_role: NullableFlag('A function, not a person: info@, sales@.'),
    is_free: NullableFlag('A free mail provider.'),
    is_relay: NullableFlag('A privacy relay, such as Hide My Email.'),
    relay_provider: Nullable(Type.String({ description: 'Who runs the relay.' })),
    is_catch_all: NullableFlag('The server accepts any mailbox.'),
    is_mailbox_full: NullableFlag('The mailbox is full.'),
    is_disabled: NullableFlag('The mailbox is disabled.'),
    retry_after: Nullable(Type.Integer({ description: 'Seconds after which asking again makes sense.' })),
    checks: ChecksReply,
    warnings: Warnings,
    id: Type.String(),
    duration_ms: Type.Integer(),
    verified_at: Type.String({ format: 'date-time' }),
    evidence: Type.Optional(EvidenceReply),
    decision: Nullable(DecisionField),
  },
  { title: 'Verification' },
);
export type VerifyReply = Static<typeof VerifyReply>;

export const SeenQuery = Type.Object({
  scope: scopeField('Whose mailboxes are forgotten.'),
  email: Type.Optional(
    Text('email', ADDRESS_LENGTH, {
      description: 'An address of the mailbox, in any spelling; without one, all mailboxes of the scope are forgotten.',
      examples: ['jane.doe@example.com'],
      'x-error': EMAIL_ERROR,
    }),
  ),
});
export const ForgottenReply = WithWarnings(
  'Forgotten',
  Type.Object({ forgotten: Type.Integer({ minimum: 0, description: 'How many mailboxes.' }) }),
);
