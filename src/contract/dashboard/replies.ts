import Type, { type Static } from 'typebox';
import { REPLY_CONFIDENCES, REPLY_READERS } from '../../kernel/facts/checks.ts';
import { ADDRESS_LENGTH, MAIL_HOST_LENGTH, SMTP_REPLY_LENGTH } from '../../kernel/facts/limits.ts';
import { OperatorContradictionFields } from '../outcomes.ts';
import { Nullable, OneOf, Text, Time } from '../schema.ts';

export const ExplainReplyRequest = Type.Object({
  reply: Text('reply', SMTP_REPLY_LENGTH, {
    description: 'As the server sent it, with its code; one line or several.',
  }),
  mx: Type.Optional(Text('mx', MAIL_HOST_LENGTH, { description: 'The mail host that gave it.' })),
  address: Type.Optional(
    Text('address', { min: 0, max: ADDRESS_LENGTH.max }, { description: 'The address that it was given for.' }),
  ),
});

/** Rules, subjects and predicates are those of docs/classification.md. */
export const ExplainReplyReply = Type.Object(
  {
    code: Type.Integer(),
    enhanced_code: Nullable(Type.String()),
    /** Names the operator of the mail host; null: unknown. */
    operator: Nullable(Type.String()),
    /** The text as it was read: without addresses, names and ids. */
    read_as: Type.String(),
    finding: Type.String(),
    meaning: Type.String(),
    rule: Type.String(),
    confidence: OneOf(REPLY_CONFIDENCES),
    decided_by: OneOf(REPLY_READERS),
    /** That the mailbox cannot be reached, as the model sees it; null: it is never asked about such replies. */
    probability: Nullable(Type.Number()),
    /** The delay is in seconds. */
    retry_after: Nullable(Type.Integer()),
    clauses: Type.Array(
      Type.Object({
        subject: Type.String(),
        predicate: Type.String(),
        words: Type.String(),
        rule: Nullable(Type.String()),
      }),
    ),
    alternatives: Type.Array(Type.Object({ rule: Type.String(), finding: Type.String() })),
  },
  { title: 'ReplyExplanation' },
);

export const UncertainReply = Type.Object(
  {
    operator: Type.String(),
    fingerprint: Type.String(),
    code: Type.Integer(),
    enhanced_code: Nullable(Type.String()),
    /** The text is without addresses, names, numbers and IDs. */
    template: Type.String(),
    rule: Type.String(),
    finding: Type.String(),
    count: Type.Integer(),
    first_seen: Time,
    last_seen: Time,
  },
  { title: 'UncertainReply' },
);
export type UncertainReply = Static<typeof UncertainReply>;

/** The most frequent comes first. */
export const UncertainRepliesReply = Type.Object(
  { replies: Type.Array(UncertainReply), total_count: Type.Integer() },
  { title: 'UncertainReplies' },
);

/** Of live accounts, the newest first; at most CONTRADICTIONS_LISTED. */
export const ContradictionsReply = Type.Object(
  { contradictions: Type.Array(Type.Object(OperatorContradictionFields, { title: 'OperatorContradiction' })) },
  { title: 'OperatorContradictions' },
);
