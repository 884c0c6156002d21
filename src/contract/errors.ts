import Type, { type Static } from 'typebox';
import { ERRORS, type ErrorCode, PUBLIC_CODES } from '../kernel/errors.ts';
import { OneOf } from './schema.ts';

export const ErrorReply = Type.Object(
  {
    error: Type.String({ description: 'One plain sentence.' }),
    code: OneOf(PUBLIC_CODES, { description: 'Stable; see the errors page.' }),
    request_id: Type.String({ description: 'Also sent as X-Request-Id.' }),
    field: Type.Optional(Type.String({ description: 'The parameter that is at fault.' })),
    limit: Type.Optional(Type.Integer()),
    retry_after: Type.Optional(Type.Integer({ description: 'Seconds; also sent as Retry-After.' })),
    current_plan: Type.Optional(Type.String()),
    upgrade_required: Type.Optional(Type.String()),
    existing_id: Type.Optional(Type.Integer()),
  },
  { title: 'Error' },
);
export type ErrorReply = Static<typeof ErrorReply>;

/** What the dashboard's private API answers: every code, and what only it tells. */
export const DashboardErrorReply = Type.Object(
  {
    ...ErrorReply.properties,
    code: OneOf(Object.keys(ERRORS) as ErrorCode[], { description: 'Stable; see the errors page.' }),
    required_role: Type.Optional(Type.String({ description: 'The least role that may do this.' })),
  },
  { title: 'Error' },
);
