import Type, { type Static } from 'typebox';
import { Nullable } from '../schema.ts';
import { Time } from './fields.ts';

/** Without its payload, which holds addresses. */
export const OperatorJob = Type.Object(
  {
    id: Type.String(),
    /** Perhaps of another version of the service, so not an enum. */
    kind: Type.String(),
    description: Type.String(),
    account: Nullable(Type.String()),
    attempts: Type.Integer(),
    last_error: Nullable(Type.String()),
    created_at: Time,
    failed_at: Time,
  },
  { title: 'OperatorJob' },
);
export type OperatorJob = Static<typeof OperatorJob>;

/** The newest failed jobs. */
export const OperatorJobsReply = Type.Object(
  { jobs: Type.Array(OperatorJob), total_count: Type.Integer() },
  { title: 'OperatorJobs' },
);
