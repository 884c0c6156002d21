import Type, { type Static } from 'typebox';
import { Nullable } from '../schema.ts';
import { Time } from './fields.ts';

const Latency = Nullable(Type.Object({ p50: Type.Number(), p95: Type.Number() }));

/** What the service does, for operators. `node` is the process that answers; the rest is of all of them. */
export const ServiceReply = Type.Object(
  {
    node: Type.Object({
      version: Type.String(),
      store: Type.String(),
      running: Type.Integer({ description: 'Verifications under way.' }),
      charges_waiting: Type.Integer(),
      dialogues_open: Type.Integer(),
      checks_waiting: Type.Integer({ description: 'Mailbox checks that wait for their turn at a mail server.' }),
      dns_queries: Type.Integer({ description: 'Under way.' }),
      dns_cached: Type.Integer({ description: 'Answers in the cache.' }),
    }),
    /**
     * Processes with a row in the store, those that started last first; empty where the store did not answer in time.
     */
    nodes: Type.Array(
      Type.Object({
        id: Type.String(),
        label: Type.String({ description: 'Host and process.' }),
        version: Nullable(Type.String()),
        started_at: Time,
        seen_at: Nullable(Time),
        answers: Type.Boolean({ description: 'It is the one that answers.' }),
      }),
    ),
    /** Null: all is well; else what is wrong. `egress`: a state of the connection to mail servers. */
    problems: Type.Object({
      store: Nullable(Type.String()),
      resolver: Nullable(Type.String()),
      clock: Nullable(Type.String()),
      lists: Nullable(Type.String()),
    }),
    egress: Type.Object({ state: Type.String(), since: Nullable(Time) }),
    lists: Type.Object({ version: Type.String(), age_days: Type.Integer(), disposable_domains: Type.Integer() }),
    /** Of the last 24 hours, the last of them not over; without results of lists. */
    hours: Type.Array(
      Type.Object({
        at: Time,
        verifications: Type.Integer(),
        rejected: Type.Integer(),
        latency: Type.Object({ mx: Latency, smtp: Latency }),
      }),
    ),
    latency: Type.Object({ mx: Latency, smtp: Latency }),
    /** Null: the store did not answer in time. */
    store: Nullable(
      Type.Object({
        jobs: Type.Array(Type.Object({ kind: Type.String(), state: Type.String(), count: Type.Integer() })),
        holds: Type.Integer(),
        oldest_hold_seconds: Nullable(Type.Integer()),
        purge_lag_seconds: Type.Integer(),
        low_balances: Type.Integer(),
      }),
    ),
    operators: Type.Array(
      Type.Object({
        operator: Type.String(),
        dialogues_open: Type.Integer(),
        waiting: Type.Integer(),
        breakers_open: Type.Integer(),
        breakers_half_open: Type.Integer(),
        pace: Type.Number({ description: 'The rate relative to the configured one.' }),
      }),
    ),
  },
  { title: 'Service' },
);
export type ServiceReply = Static<typeof ServiceReply>;
