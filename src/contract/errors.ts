import Type, { type Static } from 'typebox';
import { ERROR_CODES, PUBLIC_CODES } from '../kernel/errors.ts';
import { LIST_STATUSES } from '../kernel/facts/lists.ts';
import { KEY_SCOPES, OPERATOR_SCOPES } from '../kernel/facts/scopes.ts';
import { DecisionField } from './policies.ts';
import { OneOf } from './schema.ts';

/** API keys and operator keys have these; some scopes are of both. */
const SCOPES = [...new Set([...KEY_SCOPES, ...OPERATOR_SCOPES])];

export const ErrorReply = Type.Object(
  {
    error: Type.String({ description: 'What is wrong, in one sentence.' }),
    code: OneOf(PUBLIC_CODES, { description: 'Stable; see the errors page.' }),
    request_id: Type.String({ description: 'Also sent as X-Request-Id.' }),
    field: Type.Optional(Type.String({ description: 'The parameter that caused the error.' })),
    limit: Type.Optional(Type.Integer()),
    retry_after: Type.Optional(Type.Integer({ description: 'Seconds; also sent as Retry-After.' })),
    current_plan: Type.Optional(Type.String()),
    upgrade_required: Type.Optional(Type.String()),
    existing_id: Type.Optional(Type.Integer()),
    scope: Type.Optional(OneOf(SCOPES, { description: 'The scope that the key lacks.' })),
    account: Type.Optional(Type.String({ description: 'Id of the account that has the external_id.' })),
    expired_at: Type.Optional(Type.String({ format: 'date-time', description: 'When the key expired.' })),
    budget: Type.Optional(Type.Integer({ description: 'Credits that the key may spend in a calendar month (UTC).' })),
    resets_at: Type.Optional(
      Type.String({ format: 'date-time', description: 'When the next budget of the key begins.' }),
    ),
    needed: Type.Optional(Type.Integer({ description: 'Credits that the request costs.' })),
    available: Type.Optional(Type.Integer({ description: 'Credits that the account has.' })),
    status: Type.Optional(OneOf(LIST_STATUSES, { description: 'Of the list.' })),
    line: Type.Optional(Type.Integer({ description: 'Of the file, from 1: where it cannot be read.' })),
    columns: Type.Optional(Type.Array(Type.String(), { description: 'Of the file.' })),
    hooks: Type.Optional(Type.Array(Type.String(), { description: 'Names of the auth hooks that use the policy.' })),
    policies: Type.Optional(Type.Array(Type.String(), { description: 'Names of the policies there are.' })),
    decision: Type.Optional(DecisionField),
  },
  { title: 'Error' },
);
export type ErrorReply = Static<typeof ErrorReply>;

/** Errors of the dashboard's private API: every code, and the fields that only it has. */
export const DashboardErrorReply = Type.Object(
  {
    ...ErrorReply.properties,
    code: OneOf(ERROR_CODES, { description: 'Stable; see the errors page.' }),
    required_role: Type.Optional(Type.String({ description: 'The least role that may do this.' })),
  },
  { title: 'Error' },
);
