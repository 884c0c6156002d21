import Type, { type Static } from 'typebox';
import { ACTOR_KINDS, AUDIT_ACTIONS, AUDIT_SUBJECTS } from '../../kernel/audit-actions.ts';
import { choice } from '../../kernel/format.ts';
import { Nullable, OneOf } from '../schema.ts';
import { PageQuery } from './account.ts';
import { Next, Time } from './fields.ts';

export { PageQuery };

const About = Type.Optional(
  OneOf(AUDIT_SUBJECTS, {
    description: '`account`: changes to the account. `user`: sign-ins and security of its members.',
    'x-error': `about must be ${choice(AUDIT_SUBJECTS)}.`,
  }),
);
export const AuditLogQuery = Type.Object({ ...PageQuery.properties, about: About });
export const AuditLogExportQuery = Type.Object({ about: About });

const ENTRY = {
  id: Type.Integer(),
  at: Time,
  actor: Type.Object({
    kind: OneOf(ACTOR_KINDS),
    name: Type.String(),
  }),
  ip: Nullable(Type.String()),
  /** `key.created`, `filter.removed`, `member.role_changed` … */
  action: OneOf(AUDIT_ACTIONS),
  /** Display name of the target: a key's name, a filter's value, a member's address. */
  target: Type.String(),
  detail: Type.Record(Type.String(), Type.Unknown()),
  /** How often, from `at` to `last_at`. */
  count: Type.Integer(),
  last_at: Time,
};
const AuditEntryReply = Type.Object(ENTRY);
export type AuditEntryReply = Static<typeof AuditEntryReply>;
/** `account`: an id; null for users without an account. */
const OperatorAuditEntryReply = Type.Object({ ...ENTRY, account: Nullable(Type.String()) });
export type OperatorAuditEntryReply = Static<typeof OperatorAuditEntryReply>;

export const AuditLogReply = Type.Object(
  { entries: Type.Array(AuditEntryReply), next: Type.Unsafe<number | null>(Next) },
  { title: 'AuditLog' },
);
export type AuditLogReply = Static<typeof AuditLogReply>;
export const OperatorAuditLogReply = Type.Object(
  { entries: Type.Array(OperatorAuditEntryReply), next: Type.Unsafe<number | null>(Next) },
  { title: 'OperatorAuditLog' },
);
export type OperatorAuditLogReply = Static<typeof OperatorAuditLogReply>;
