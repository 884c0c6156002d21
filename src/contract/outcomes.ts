import Type from 'typebox';
import { CALIBRATION_LEAST } from '../kernel/facts/calibration.ts';
import {
  ADDRESS_LENGTH,
  CONTRADICTIONS_LISTED,
  LOG_QUERY_LENGTH,
  MAIL_DIAGNOSTIC_LENGTH,
  OUTCOME_AGE_DAYS,
  OUTCOME_SOURCE_LENGTH,
  OUTCOMES_PER_REQUEST,
} from '../kernel/facts/limits.ts';
import { LEVELS } from '../kernel/facts/plans.ts';
import { CONTRADICTING_OUTCOMES, MAIL_OUTCOMES, OUTCOME_CLASSES } from '../kernel/facts/sent-mail.ts';
import { choice, span } from '../kernel/format.ts';
import { AlsoCalled, DecodedAs, DescribedCount, Nullable, OneOf, Rows, Text, WithWarnings } from './schema.ts';
import { DeliverabilityField, EMAIL_ERROR, ReasonField } from './verify.ts';

/** A row says what became of one message to one recipient. */
export const OutcomeRow = Type.Object(
  {
    email: Type.Optional(
      Text('email', ADDRESS_LENGTH, {
        description: 'The recipient. The outcome counts for the latest verification of the address before `at`.',
        examples: ['jane.doe@example.com'],
        'x-error': EMAIL_ERROR,
      }),
    ),
    verification_id: Type.Optional(
      Text('verification_id', LOG_QUERY_LENGTH, {
        description: 'In place of `email`: the verification of the recipient, if it is still in the log.',
        examples: ['ver_0VkP3Zq1n7Jc2mQ9sT4bXd'],
      }),
    ),
    outcome: AlsoCalled(
      ['status', 'event', 'type'],
      OneOf(MAIL_OUTCOMES, {
        description: 'What became of the message.',
        'x-error': `outcome must be ${choice(MAIL_OUTCOMES)}.`,
      }),
    ),
    at: DecodedAs(
      'instant',
      AlsoCalled(
        ['timestamp', 'date', 'time'],
        Type.String({
          format: 'date-time',
          description: `When it happened; at most ${OUTCOME_AGE_DAYS} days ago.`,
          examples: ['2026-11-21T08:30:00Z'],
          'x-error': 'at must be a time such as 2026-11-21T08:30:00Z (RFC 3339).',
        }),
      ),
    ),
    diagnostic: Type.Optional(
      AlsoCalled(
        ['smtp_response', 'response', 'message', 'diagnostic_code'],
        Type.String({
          description: `What the mail server said of a bounce; of a longer text, ${MAIL_DIAGNOSTIC_LENGTH.max} characters are read. It is read and not stored. A bounce without one counts against nobody.`,
          examples: ['550 5.1.1 User unknown'],
          'x-error': 'diagnostic must be a text.',
        }),
      ),
    ),
    source: Type.Optional(
      Text('source', OUTCOME_SOURCE_LENGTH, {
        description: 'Your name of what sent the message.',
        examples: ['newsletter'],
        'x-error': `source must have ${span(OUTCOME_SOURCE_LENGTH)} characters.`,
      }),
    ),
  },
  { title: 'Outcome' },
);

const { min: minItems, max: maxItems } = OUTCOMES_PER_REQUEST;
export const OutcomesRequest = Type.Object(
  {
    outcomes: Rows(OutcomeRow, {
      minItems,
      maxItems,
      'x-error': `outcomes must be an array of ${span(OUTCOMES_PER_REQUEST)} objects.`,
    }),
  },
  { title: 'OutcomesRequest' },
);

const OutcomeResultReply = Type.Object(
  {
    result: OneOf(['recorded', 'duplicate', 'error'] as const, {
      description: '`duplicate`: it had been reported before, and counts once.',
    }),
    class: Type.Optional(
      OneOf(OUTCOME_CLASSES, {
        description:
          'What it is evidence of: of a bounce, as its diagnostic is read. Only `delivered`, `absent`, `disabled` and `full` are about the address.',
      }),
    ),
    error: Type.Optional(Type.String({ description: 'What is wrong with the row, in one sentence.' })),
    field: Type.Optional(Nullable(Type.String({ description: 'Of the row.' }))),
  },
  { title: 'OutcomeResult' },
);

export const OutcomesReply = WithWarnings(
  'OutcomesResult',
  Type.Object({
    results: Type.Array(OutcomeResultReply, { description: 'One for each row, in their order.' }),
    recorded: DescribedCount('Rows that were recorded.'),
    duplicates: DescribedCount('Rows that had been reported before.'),
    errors: DescribedCount('Rows with an error.'),
  }),
);

export const OutcomeMessageQuery = Type.Object({
  source: Type.Optional(
    Text('source', OUTCOME_SOURCE_LENGTH, {
      description: 'Your name of what sent the mail.',
      examples: ['newsletter'],
      'x-error': `source must have ${span(OUTCOME_SOURCE_LENGTH)} characters.`,
    }),
  ),
  via: Type.Optional(
    OneOf(['message', 'command'] as const, {
      description: 'As what the dashboard counts it: `command` is `mailvet outcomes`. Without it, `message`.',
      'x-error': 'via must be message or command.',
    }),
  ),
});

/** What a message counts as, for each recipient that it names. */
export const OutcomeMessageReply = WithWarnings(
  'OutcomeMessageResult',
  Type.Object({
    outcomes: Type.Array(
      Type.Object({
        email: Type.String(),
        outcome: OneOf(MAIL_OUTCOMES),
        ...OutcomeResultReply.properties,
      }),
      { description: 'Outcomes of the recipients that it names.' },
    ),
    disregarded: Type.Array(
      Type.Object({
        email: Nullable(Type.String({ description: 'Null: of the whole message.' })),
        why: Type.String({ description: 'Stable, as `delayed` or `auto_reply`.', examples: ['delayed'] }),
        message: Type.String(),
      }),
      { description: 'What of it counts as nothing.' },
    ),
  }),
);

/** A verdict that the outcome of a mail contradicts, of whichever account. */
const contradictionFacts = {
  deliverability: DeliverabilityField,
  reason: ReasonField,
  validation_type: OneOf(LEVELS),
  provider: Nullable(Type.String({ description: 'Who runs the mail hosts.' })),
  outcome: OneOf(CONTRADICTING_OUTCOMES, { description: 'What became of the mail.' }),
  at: Type.String({ format: 'date-time' }),
  rule: Nullable(Type.String({ description: 'The classification rule that decided the verdict.' })),
  reply: Nullable(Type.String({ description: 'The codes of the reply that decided it.' })),
  code: Nullable(Type.String({ description: 'The codes of the bounce.' })),
} as const;
const template = Nullable(
  Type.String({ description: 'The words of the bounce, without names, addresses, numbers and IDs.' }),
);
export const ContradictionFields = { verification_id: Type.String(), ...contradictionFacts } as const;
/** Operators see this: it does not say whose it is. */
export const OperatorContradictionFields = { ...contradictionFacts, template } as const;

const NullablePortion = (description: string) => Nullable(Type.Number({ minimum: 0, maximum: 1, description }));
const TOO_FEW = `null with fewer than ${CALIBRATION_LEAST}`;

export const CalibrationReply = WithWarnings(
  'Calibration',
  Type.Object({
    verdicts: Type.Array(
      Type.Object(
        {
          deliverability: DeliverabilityField,
          reason: ReasonField,
          validation_type: OneOf(LEVELS),
          provider: Nullable(Type.String({ description: 'Who runs the mail hosts.' })),
          sent: DescribedCount('Verdicts with an outcome.'),
          bounced: DescribedCount('Of these, whose mail bounced for a reason of the recipient.'),
          bounce_rate: NullablePortion(`bounced / sent; ${TOO_FEW}.`),
          low: NullablePortion(`Of its 95 % interval; ${TOO_FEW}.`),
          high: NullablePortion(`Of its 95 % interval; ${TOO_FEW}.`),
        },
        { title: 'CalibratedVerdict' },
      ),
      { description: 'By deliverability, reason, level and mail provider; the most frequent first.' },
    ),
    reliability: Type.Array(
      Type.Object(
        {
          from: Type.Number({ description: 'Of the confidence that replies had.' }),
          to: Type.Number(),
          sent: DescribedCount('Verdicts with an outcome.'),
          predicted: Type.Number({ minimum: 0, maximum: 1, description: 'Their confidence on the average.' }),
          delivered: NullablePortion(`The share whose mail did not bounce; ${TOO_FEW}.`),
          low: NullablePortion(`Of its 95 % interval; ${TOO_FEW}.`),
          high: NullablePortion(`Of its 95 % interval; ${TOO_FEW}.`),
        },
        { title: 'Reliability' },
      ),
      { description: 'What replies predicted, beside what came of it: by tenths of their confidence, ascending.' },
    ),
    contradictions: Type.Array(Type.Object({ ...ContradictionFields, template }, { title: 'ListedContradiction' }), {
      description: `Verdicts that the outcome contradicts, the newest first; at most ${CONTRADICTIONS_LISTED}.`,
    }),
  }),
);
