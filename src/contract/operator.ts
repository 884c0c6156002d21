/** The operator API: accounts, grants and API keys, for programs that run the service. */
import Type, { type Static } from 'typebox';
import {
  ACCOUNT_QUERY_LENGTH,
  ACCOUNTS_PAGE,
  EXTERNAL_ID_LENGTH,
  GRANT_CREDITS,
  LOW_BALANCE,
  NOTE_LENGTH,
  OPENING_CREDITS,
  OPERATOR_ACCOUNTS_PER_PAGE,
} from '../kernel/facts/limits.ts';
import { KEY_SCOPES } from '../kernel/facts/scopes.ts';
import { grouped, span } from '../kernel/format.ts';
import { AllowIps, KEY_LIMITS, LedgerReply } from './dashboard/account.ts';
import { Email, Name, PlanField } from './dashboard/fields.ts';
import { OperatorAccountFields, RateLimit } from './dashboard/operator.ts';
import { DecodedAs, Nullable, OneOf, Pagination, Text, Time, WholeNumber, WithWarnings } from './schema.ts';
import { UsageReply } from './usage.ts';

const ExternalId = (description: string) =>
  DecodedAs(
    'printable',
    Text('external_id', EXTERNAL_ID_LENGTH, {
      description,
      'x-error': `external_id must have ${span(EXTERNAL_ID_LENGTH)} printable ASCII characters.`,
    }),
  );

const accountFields = {
  ...OperatorAccountFields,
  external_id: Nullable(Type.String({ description: 'What you call the account; no two have the same.' })),
  low_balance: Nullable(Type.Integer({ description: 'Alerts are sent below this balance; null: never.' })),
};
export const ManagedAccount = Type.Object(accountFields, { title: 'ManagedAccount' });
export type ManagedAccount = Static<typeof ManagedAccount>;
export const ManagedAccountReply = WithWarnings('ManagedAccountDetails', ManagedAccount);

export const ManagedAccountsQuery = Type.Object({
  query: Type.Optional(
    Text('query', ACCOUNT_QUERY_LENGTH, { description: 'A part of the name, the id or the external_id.' }),
  ),
  page: Type.Optional(WholeNumber('page', ACCOUNTS_PAGE)),
  per_page: Type.Optional(WholeNumber('per_page', OPERATOR_ACCOUNTS_PER_PAGE)),
});
export const ManagedAccountsReply = WithWarnings(
  'ManagedAccounts',
  Type.Object({ accounts: Type.Array(ManagedAccount), pagination: Pagination }),
);

const LowBalance = Type.Union([WholeNumber('low_balance', LOW_BALANCE), Type.Null()], {
  description: 'Alerts are sent below this balance; null: never.',
  'x-error': `low_balance must be a whole number from ${span(LOW_BALANCE)}, or null.`,
});

export const ManagedAccountRequest = Type.Object(
  {
    name: Name,
    plan: Type.Optional(
      Object.assign({}, PlanField, { description: 'The first one of the plans where it is left out.' }),
    ),
    credits: Type.Optional(WholeNumber('credits', OPENING_CREDITS, { description: 'The opening balance.' })),
    rate_limit: Type.Optional(RateLimit),
    external_id: Type.Optional(ExternalId('What you call the account: a second one with the same id is refused.')),
    owner: Type.Optional(
      Object.assign(Email, { description: 'Address of the owner, who is invited to the dashboard.' }),
    ),
  },
  { title: 'ManagedAccountRequest' },
);
export const ManagedAccountMadeReply = WithWarnings(
  'ManagedAccountCreated',
  Type.Object({
    ...accountFields,
    invitation: Nullable(
      Type.Object(
        {
          mailed: Type.Boolean({ description: 'Whether the link went to the owner by mail.' }),
          link: Nullable(
            Type.String({
              description: 'The link, where the service sends no mail. Only in the first reply, not in a stored one.',
            }),
          ),
        },
        { description: 'Of the owner; null: nobody was invited.' },
      ),
    ),
  }),
);
export type ManagedAccountMadeReply = Static<typeof ManagedAccountMadeReply>;

export const ManagedAccountChange = Type.Object(
  {
    name: Type.Optional(Name),
    plan: Type.Optional(PlanField),
    rate_limit: Type.Optional(RateLimit),
    low_balance: Type.Optional(LowBalance),
    status: Type.Optional(OperatorAccountFields.status),
  },
  { title: 'ManagedAccountChange' },
);

export const ExternalGrantRequest = Type.Object(
  {
    credits: WholeNumber('credits', GRANT_CREDITS, {
      description: 'Negative: taken back, as far as the balance goes.',
      'x-error':
        `credits must be a whole number between ${grouped(GRANT_CREDITS.min)} and ${grouped(GRANT_CREDITS.max)}, ` +
        'and not 0.',
    }),
    external_id: ExternalId('Such as the id of a payment: there is one grant of each, for ever.'),
    note: Type.Optional(Text('note', NOTE_LENGTH, { description: 'Shown in the ledger; the external_id by default.' })),
  },
  { title: 'ExternalGrantRequest' },
);
export const ExternalGrantReply = WithWarnings(
  'ExternalGrant',
  Type.Object({
    account: Type.String({ description: 'Id of the account.' }),
    external_id: Type.String(),
    credits: Type.Integer(),
    note: Type.String(),
    created_at: Time,
    repeated: Type.Boolean({ description: 'The grant had been made before, and this request changed nothing.' }),
    balance: Type.Integer({ description: 'What the account can spend now.' }),
  }),
);

export const ManagedKeyRequest = Type.Object(
  {
    name: Name,
    test: Type.Optional(
      Type.Boolean({ description: 'A key for test mode.', 'x-error': 'test must be true or false.' }),
    ),
    allow_ips: Type.Optional(AllowIps),
    ...KEY_LIMITS,
  },
  { title: 'ManagedKeyRequest' },
);
export const ManagedKeyReply = WithWarnings(
  'ManagedKey',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    key: Type.String({ description: '`mv_live_…` or `mv_test_…`, and the last four characters.' }),
    allow_ips: Type.Array(Type.String()),
    scopes: Type.Array(OneOf(KEY_SCOPES)),
    monthly_credits: Nullable(Type.Integer({ description: 'Null: no budget.' })),
    created_at: Time,
    expires_at: Nullable(Time),
    revoked_at: Nullable(Time),
  }),
);
export const ManagedKeyMadeReply = WithWarnings(
  'ManagedKeyCreated',
  Type.Object({
    ...ManagedKeyReply.properties,
    value: Nullable(
      Type.String({
        description: 'The key. Only in the first reply: in one that is repeated for an Idempotency-Key, null.',
      }),
    ),
  }),
);

export const ManagedUsageReply = WithWarnings('ManagedUsage', UsageReply);
export const ManagedLedgerReply = WithWarnings('ManagedLedger', LedgerReply);
export const ManagedDone = WithWarnings('ManagedDone', Type.Object({ status: Type.String(), message: Type.String() }));
