import type { FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Role } from '../../contract/dashboard/words.ts';
import type { AccountId, Actor } from '../../service/members.ts';
import type { SignedIn } from '../../service/sign-in/who.ts';
import type { DashboardContext } from './context.ts';

/** What a handler is told beside its input. */
export interface Visit {
  /** Canonical IP of the caller. */
  readonly ip: string;
  readonly request: FastifyRequest;
  /** Aborted when the caller is gone before the reply. */
  readonly signal: () => AbortSignal;
}
export interface SignedVisit extends Visit {
  readonly user: SignedIn;
  /** The user, for the audit log; an `operator` on the rows for operators. */
  readonly actor: Actor;
}
/** Only the guard mints `account`: the user is a member of it, with at least the role that the row asks. */
export interface AccountVisit extends SignedVisit {
  readonly account: AccountId;
  readonly role: Role;
}

/** What a handler gives back. `body` is sent as JSON; with a `type`, as it is: a string, or a stream of text. */
export interface DashboardAnswer {
  readonly status?: number;
  readonly body: unknown;
  readonly type?: string;
  /** Several Set-Cookie lines are a list. */
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

/** Who may: anybody, anybody signed in, a member of `:account` with at least this role, an operator. */
export type Who = 'anybody' | 'signed-in' | Role | 'operator';

type VisitOf<W extends Who> = W extends 'anybody' ? Visit : W extends Role ? AccountVisit : SignedVisit;
type Read<S> = S extends TSchema ? Static<S> : undefined;

interface Input<B, Q> {
  readonly body: B;
  readonly query: Q;
  /** Of the path, by name; decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** One route of the dashboard's private API; the rows stand in the files of their nouns, and together in table.ts. */
export interface DashboardRow {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Begins with `/dashboard/`; `:account` where `who` is a role. */
  readonly path: string;
  readonly who: Who;
  readonly doc: {
    readonly operationId: string;
    readonly summary: string;
    readonly body?: TSchema;
    readonly query?: TSchema;
    readonly reply: { readonly status?: number; readonly schema: TSchema | 'text/csv' };
    /** Statuses of errors beside those that every row with this `who` can answer. */
    readonly errors?: readonly number[];
  };
  /** Bytes, where a body may be larger than usual. */
  readonly bodyLimit?: number;
  readonly serve: (context: DashboardContext) => (visit: never, input: never) => Promise<DashboardAnswer>;
}

/** Keeps the types of what a row reads with its handler. */
export function row<const W extends Who, B extends TSchema | undefined, Q extends TSchema | undefined>(fields: {
  method: DashboardRow['method'];
  path: string;
  who: W;
  doc: Omit<DashboardRow['doc'], 'body' | 'query'> & { body?: B; query?: Q };
  bodyLimit?: number;
  serve: (context: DashboardContext) => (visit: VisitOf<W>, input: Input<Read<B>, Read<Q>>) => Promise<DashboardAnswer>;
}): DashboardRow {
  return fields as unknown as DashboardRow;
}
