import Type, { type Static } from 'typebox';
import { Nullable, OneOf, objectReader } from './schema.ts';

export const LEVELS = ['mx', 'smtp'] as const;
const RESULTS = ['pass', 'fail', 'unknown', 'skipped'] as const;

export const VerifyRequest = Type.Object(
  {
    email: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'The address to check. A malformed address is no bad request: its verdict is `bad`.',
      'x-error': 'email must be a string of 1 to 1,024 characters.',
    }),
    validation_type: Type.Optional(
      OneOf(LEVELS, {
        default: 'mx',
        description: '`mx`: syntax, domain, mail-server records, disposable list. `smtp`: also asks the mail server.',
        'x-error': 'validation_type must be "mx" or "smtp".',
        'x-code': 'invalid_validation_type',
      }),
    ),
    client_ip: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "The end user's IP, which `ip_address` filters match; left out, the caller's own.",
        'x-error': 'client_ip must be an IPv4 or IPv6 address.',
      }),
    ),
    timeout_ms: Type.Optional(
      Type.Integer({
        minimum: 1000,
        maximum: 30000,
        default: 10000,
        description:
          'The whole budget of the check, in milliseconds; what is not known by then is reported as unknown.',
        'x-error': 'timeout_ms must be a whole number from 1,000 to 30,000.',
      }),
    ),
  },
  { title: 'VerifyRequest', description: 'Fields that are not named here are ignored.' },
);
export type VerifyRequest = Static<typeof VerifyRequest>;
export const readVerifyRequest = objectReader(VerifyRequest);

const Result = OneOf(RESULTS);
const MxRecord = Type.Object({ host: Type.String(), priority: Type.Integer() });

const Checks = Type.Object({
  syntax: Type.Object({
    result: Result,
    error: Type.Optional(
      Type.String({ description: 'What is wrong with the address; see the page of syntax errors.' }),
    ),
    index: Type.Optional(Type.Integer({ description: 'Where, in UTF-16 code units.' })),
  }),
  filter: Type.Object({
    result: Result,
    id: Type.Optional(Type.Integer()),
    filter_type: Type.Optional(Type.String()),
    value: Type.Optional(Type.String()),
  }),
  disposable: Type.Object({
    result: Result,
    list_version: Type.String(),
    matched: Type.Optional(Type.String({ description: 'The list entry or mail host that matched.' })),
  }),
  domain: Type.Object({ result: Result }),
  mx: Type.Object({
    result: Result,
    records: Type.Optional(Type.Array(MxRecord)),
    provider: Type.Optional(Nullable(Type.String())),
    failure: Type.Optional(Type.String({ description: 'How the DNS question failed.' })),
  }),
  smtp: Type.Object({
    result: Result,
    host: Type.Optional(Nullable(Type.String())),
    stage: Type.Optional(Nullable(Type.String())),
    code: Type.Optional(Nullable(Type.Integer())),
    enhanced_code: Type.Optional(Nullable(Type.String())),
    tls: Type.Optional(Type.Boolean()),
    rule: Type.Optional(Nullable(Type.String({ description: 'The classification rule that decided.' }))),
  }),
  catch_all: Type.Object({ result: Result }),
});

const NullableFlag = (description: string) => Nullable(Type.Boolean({ description }));

const EvidenceReply = Type.Object({
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
      transcript: Type.Array(
        Type.Object({
          at: Type.Number({ description: 'Milliseconds since the dialogue began.' }),
          from: OneOf(['client', 'server', 'note'] as const),
          text: Type.String(),
        }),
      ),
    }),
  ),
});

export const VerifyReply = Type.Object(
  {
    email: Type.String({ description: 'Exactly as sent.' }),
    status: OneOf(['good', 'bad'] as const),
    validation_type: OneOf(LEVELS, { description: 'The level that gave the answer, and that was billed.' }),
    credits_used: Type.Integer({ minimum: 0 }),
    is_disposable: Type.Boolean(),
    deliverability: OneOf(['deliverable', 'undeliverable', 'risky', 'unknown'] as const),
    reason: Nullable(
      Type.String({ description: 'Why the address is bad, or what stayed open; see the page of verdicts.' }),
    ),
    did_you_mean: Nullable(Type.String()),
    normalized_email: Nullable(Type.String()),
    local_part: Nullable(Type.String()),
    domain: Nullable(Type.String()),
    tag: Nullable(Type.String()),
    is_role: NullableFlag('A function, not a person: info@, sales@.'),
    is_free: NullableFlag('A free mail provider.'),
    is_relay: NullableFlag('A privacy relay, such as Hide My Email.'),
    is_catch_all: NullableFlag('The server accepts any mailbox.'),
    is_mailbox_full: NullableFlag('The mailbox is full.'),
    is_disabled: NullableFlag('The mailbox is disabled.'),
    retry_after: Nullable(Type.Integer({ description: 'Seconds after which asking again makes sense.' })),
    checks: Checks,
    id: Type.String(),
    duration_ms: Type.Integer(),
    verified_at: Type.String({ format: 'date-time' }),
    evidence: Type.Optional(EvidenceReply),
  },
  { title: 'Verification' },
);
export type VerifyReply = Static<typeof VerifyReply>;
