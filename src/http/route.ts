import type { IncomingHttpHeaders } from 'node:http';
import type { Static, TSchema } from 'typebox';
import type { Read } from '../contract/schema.ts';
import type { BodyCostName } from '../kernel/costs.ts';
import type { ApiError, ErrorCode, PublicCode } from '../kernel/errors.ts';
import type { Role } from '../kernel/facts/roles.ts';
import { KEY_SCOPES, type KeyScope, OPERATOR_SCOPES, type OperatorScope } from '../kernel/facts/scopes.ts';
import type { OutcomeProvider } from '../kernel/facts/sent-mail.ts';
import type { Via } from '../kernel/log-origins.ts';
import type { Caller, IdempotencyRef, RateWindow } from '../service/admission.ts';
import type { CalledHook } from '../service/hooks.ts';
import type { AccountId, Actor } from '../service/members.ts';
import type { CalledOutcomeSource } from '../service/outcome-sources.ts';
import type { SignedIn } from '../service/sign-in/session.ts';
import type { HttpContext } from './context.ts';
import type { HttpReply, HttpRequest, ReplyHeaders } from './exchange.ts';
import type { ArrivingBody } from './input/arrival.ts';
import type { PacedBody } from './paced-body.ts';

/** What every handler gets beside its input. */
export interface RequestContext {
  /** The caller's IP address is canonical. */
  readonly ip: string;
  readonly request: HttpRequest;
  readonly reply: HttpReply;
}
/** A request whose API key was admitted and counted. */
export interface ApiKeyContext extends RequestContext {
  readonly caller: Caller;
  readonly window: RateWindow;
  /** Where the route takes an Idempotency-Key and the request has one: the service stores the reply with its change. */
  readonly idempotency: IdempotencyRef | null;
}
/** A well-formed API key, still to be admitted, within the transaction of the charge. */
export interface ChargedKeyContext extends RequestContext {
  readonly keyHash: string;
  /** Whether it is a test key. */
  readonly test: boolean;
  readonly idempotency: IdempotencyRef | null;
  /** What the row says in `via`. */
  readonly via: Via | null;
  /** Admits the request as one that cannot be used, and reports why. */
  readonly refuse: (apiError: ApiError) => Promise<StoredJson<never>>;
}
/** A request of a program that runs the service: it acts on any account. */
export interface OperatorKeyContext extends RequestContext {
  /** Names the operator key, for the audit log. */
  readonly actor: Actor;
  /** Where the request has an Idempotency-Key, which the guard has reserved. */
  readonly idempotency: { readonly owner: string; readonly ref: IdempotencyRef } | null;
}
export interface SessionContext extends RequestContext {
  readonly user: SignedIn;
  /** Names the user, for the audit log; an `operator` on the rows for operators. */
  readonly actor: Actor;
}
/** Only the guard mints `account`: the user is a member of it, with at least the role that the row requires. */
export interface AccountContext extends SessionContext {
  readonly account: AccountId;
  readonly role: Role;
  /** Whether it is the test account of the one that the user is a member of. */
  readonly test: boolean;
}
/** A call of an auth server whose signature fits the hook. */
export interface HookCallContext extends RequestContext {
  readonly hook: CalledHook;
  /** This secret matched. */
  readonly secret: string;
  readonly sent: unknown;
  /** What all attempts at one event have in common; null: nothing tells them from another event. */
  readonly event: string | null;
  /** `Clock.elapsed()` when it arrived. */
  readonly began: number;
}
/** A request as it arrived. `json`: undefined where its body is none. */
export interface ProviderRequest {
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  readonly json: unknown;
}

/** What proves that a request comes from the provider. */
export interface ProviderProof {
  /** When it was signed, ms; null: the provider signs nothing, and shows a secret. */
  readonly at: number | null;
  /** A signed request may come once with this id. Null means that nothing tells a request from another. */
  readonly id: string | null;
}

/** A request of a provider that is proved to be its own. */
export interface OutcomeSourceContext extends RequestContext {
  readonly source: CalledOutcomeSource;
  readonly sent: ProviderRequest;
  readonly proof: ProviderProof;
}
export interface MetricsContext extends RequestContext {
  /** Returns the Prometheus text format. */
  readonly metrics: () => Promise<string>;
}

/** Where the dashboard has the routes of an account. */
export const ACCOUNT_PATH = '/dashboard/accounts/:account';

/** Has every access rule, and what its guard mints for the handler. */
export interface Contexts
  extends Record<Role, AccountContext>,
    /** Takes an API key of an account (`/v1`) with the scope. */
    Record<`api-key:${KeyScope}`, ApiKeyContext>,
    /** Takes an operator key with the scope, on `/v1/operator`. */
    Record<`operator-key:${OperatorScope}`, OperatorKeyContext> {
  /** Takes the key of `api-key:verify`, which the service admits together with the charge. */
  readonly 'charged-api-key:verify': ChargedKeyContext;
  /** Takes a signature with the secret of the hook in the path. */
  readonly hook: HookCallContext;
  /** Takes the proof of a provider, by the secret of the connection in the path. */
  readonly 'outcome-source': OutcomeSourceContext;
  /** Serves the dashboard's API without a session. */
  readonly anybody: RequestContext;
  /** Any user who is signed in. */
  readonly 'signed-in': SessionContext;
  /** A user who runs the service. */
  readonly operator: SessionContext;
  /** Serves the dashboard's pages and files. */
  readonly page: RequestContext;
  /** Health and documentation: answered by workers as well. */
  readonly open: RequestContext;
  /** The metrics token; answered by workers as well. */
  readonly 'metrics-token': MetricsContext;
}
export type Access = keyof Contexts;

/** The scope that a row's API key needs; null for rows that are not for API keys. */
export const scopeOf = (access: Access): KeyScope | null => {
  const [kind, named] = access.split(':');
  return kind?.endsWith('api-key') ? (KEY_SCOPES.find((scope) => scope === named) ?? null) : null;
};

/** Returns the same for an operator key. */
export const operatorScopeOf = (access: Access): OperatorScope | null =>
  OPERATOR_SCOPES.find((scope) => access === `operator-key:${scope}`) ?? null;

/** A body that the handler reads itself, as it arrives. Beyond `maxBodyBytes` the stream fails. */
export interface StreamBody {
  /** What it holds meanwhile, and how fast it has to arrive. */
  readonly cost: BodyCostName;
  /** A larger one gets this error; `body_too_large` by default. */
  readonly tooLarge?: ErrorCode;
  /** The media types that are accepted, without parameters; with `anyType`, those that the document names. */
  readonly stream: readonly string[];
  /** What it has as JSON, for the document alone: its handler reads it. */
  readonly schema?: TSchema;
  /** Whatever the type says, or without one. */
  readonly anyType?: true;
}
export interface RouteInput {
  /** The parameters of the path; a value that does not fit is 404. Parameters without a schema are strings. */
  readonly params?: TSchema;
  readonly query?: TSchema;
  /** Names in lower case; each may be sent once. */
  readonly headers?: TSchema;
  readonly body?: TSchema | StreamBody;
  /** JSON whatever its media type says, the fields of a form, or no body at all. */
  readonly lenient?: true;
  /** Defaults to BODY_BYTES. */
  readonly maxBodyBytes?: number;
}
export interface RouteOutput {
  /** Defaults to 200. */
  readonly status?: number;
  /** The content is the schema of JSON, or the media type of a text. */
  readonly content: TSchema | 'text/csv' | 'application/jsonl';
  readonly description?: string;
  /** The headers of this reply alone. */
  readonly headers?: Readonly<Record<string, string>>;
}
export interface RouteDoc {
  readonly operationId: string;
  /** By default, the row is one of the dashboard's. */
  readonly tag?:
    | 'Verification'
    | 'Lists'
    | 'Usage'
    | 'Filters'
    | 'Policies'
    | 'Outcomes'
    | 'Privacy'
    | 'Webhooks'
    | 'Operator';
  readonly summary: string;
  readonly description?: string;
  /**
   * Errors beside those that every row with this access and input can return: codes, for the public document, or
   * statuses.
   */
  readonly errors?: readonly (PublicCode | number)[];
}

/** Routes that charge have these errors. */
export const CREDIT_ERRORS = [
  'plan_upgrade_required',
  'insufficient_credits',
  'key_budget_spent',
] as const satisfies readonly PublicCode[];

/** What a handler of any row returns. `body` is sent as JSON; with a `type`, as it is. */
export type Answer = JsonAnswer<unknown> | RawAnswer;

export interface JsonAnswer<Body> {
  /** By default, it is that of the output of the row. */
  readonly status?: number;
  readonly headers?: ReplyHeaders;
  readonly body: Body;
  readonly type?: undefined;
}
export interface RawAnswer {
  readonly status?: number;
  readonly headers?: ReplyHeaders;
  readonly body: string | Buffer | PacedBody | undefined;
  readonly type: string;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** JSON that is text already, as it was stored or is to be: of `Body`; never: an error, or of an earlier request. */
export class StoredJson<out Body, Text extends string | PacedBody = string> {
  /** Only the compiler sees it. */
  declare readonly contents: Body;
  readonly type = JSON_TYPE;
  readonly status: number;
  readonly body: Text;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: Text, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** Input as its readers return it, for a handler of any row. */
export interface AnyInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
  /** The row does not know these fields and parameters; they come only where its reply has `warnings`. */
  readonly warnings: readonly string[];
}
/** How a row speaks the contract of another service. */
export interface ForeignForm {
  /** The API key in the request, or null. `body`: undefined while it is not read. */
  readonly keyOf: (request: HttpRequest, body: unknown) => string | null;
  /** Whether the key may be in the body, which is then read before the key is known. */
  readonly inBody: boolean;
  /** By default, errors are ours. */
  readonly error?: (apiError: ApiError) => { readonly status: number; readonly body: object };
}
/** A method, so that a row's handler with its own narrower types is one of these. */
type ServeRow = { serve(granted: RequestContext, input: AnyInput): Promise<Answer> }['serve'];

/** Whether a row's reply names what the request has beyond the contract. */
export const hasWarnings = ({ output }: Pick<Route, 'output'>): boolean =>
  typeof output?.content === 'object' &&
  'properties' in output.content &&
  Object.hasOwn(Object(output.content.properties), 'warnings');

/** One route of the service, whatever API it belongs to. */
export interface Route {
  /** Monitoring asks every few seconds: a line of its success is for debugging. */
  readonly probe?: true;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** The path has `:account` where `access` is a role. */
  readonly path: string;
  readonly access: Access;
  readonly input?: RouteInput;
  readonly output?: RouteOutput;
  /** The form of a row with an API key that is not part of our own API. */
  readonly form?: ForeignForm;
  /** The contract that it speaks; absent: our own. */
  readonly via?: Via;
  /** Whose requests it takes. */
  readonly provider?: OutcomeProvider;
  /** The turn in which it is served. Null: it reads few rows by an index, or a place is held. */
  readonly cost?: 'query' | null;
  /** The route is about an account itself, not about its data: its test account has nothing there. */
  readonly liveOnly?: true;
  /** Where it is absent, the route is in no document. */
  readonly doc?: RouteDoc;
  readonly serve: (context: HttpContext) => ServeRow;
}

type Names<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Name
    : never;
type ParamsOf<P extends string, S> = S extends TSchema ? Read<S> : { readonly [N in Names<P>]: string };
type BodyOf<B> = B extends StreamBody ? ArrivingBody : B extends TSchema ? Read<B> : undefined;
type QueryOf<S> = S extends TSchema ? Read<S> : undefined;

interface TypedInput<P extends string, I extends RouteInput> {
  readonly params: ParamsOf<P, I['params']>;
  readonly query: QueryOf<I['query']>;
  readonly headers: QueryOf<I['headers']>;
  readonly body: BodyOf<I['body']>;
  readonly warnings: readonly string[];
}

/** What a handler may return: JSON of its row's schema, or text. Warnings that it leaves out are put in for it. */
type AnswerOf<O> = RouteOutput extends O
  ? Answer
  : O extends { readonly content: string }
    ? RawAnswer
    : O extends { readonly content: infer S extends TSchema }
      ? JsonAnswer<ReplyBody<S>> | StoredJson<ReplyBody<S>, string | PacedBody>
      : Answer;

/** JSON of a schema as a handler makes it. Rows name unknown fields themselves, so `warnings` may be left out. */
export type ReplyBody<S extends TSchema> = WithoutWarnings<Frozen<Static<S>>>;
type WithoutWarnings<T> = T extends { readonly warnings: infer W }
  ? Omit<T, 'warnings'> & { readonly warnings?: W }
  : T;
/** Deeply readonly; optional properties may be undefined, which JSON leaves out. */
type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> | (undefined extends T[K] ? undefined : never) }
    : T;

/** Names of properties that a body has beyond its schema, at whatever depth. */
export type Beyond<B, S> = unknown extends S | B
  ? never
  : B extends string
    ? never
    : B extends readonly (infer E)[]
      ? Beyond<E, Extract<S, readonly unknown[]>[number]>
      : B extends object
        ? Exclude<keyof B, KeyOf<S>> | { [K in keyof B & KeyOf<S>]: Beyond<B[K], At<S, K>> }[keyof B & KeyOf<S>]
        : never;
/** A record's keys may be numbers, too, as objects have their keys as text. */
type KeyOf<S> = S extends readonly unknown[]
  ? never
  : S extends object
    ? keyof S | (string extends keyof S ? number : never)
    : never;
type At<S, K> = S extends object ? (K extends keyof S ? S[K] : never) : never;

/** A body with other properties than its schema is not what its contract says; TypeScript alone would let it pass. */
type Exact<O, R> = O extends { readonly content: infer S extends TSchema }
  ? R extends JsonAnswer<infer B> | StoredJson<infer B, string | PacedBody>
    ? [Beyond<B, ReplyBody<S>>] extends [never]
      ? unknown
      : { readonly 'beyond the contract': Beyond<B, ReplyBody<S>> }
    : unknown
  : unknown;

/** A row that reads what accounts have, or can be asked for a search, a page or a range, says what that costs. */
type CostOf<M extends Route['method'], A extends Access, I extends RouteInput> =
  | (I extends { readonly query: TSchema } ? true : never)
  | ([M, A] extends ['GET', Role | 'operator' | `api-key:${KeyScope}` | `operator-key:${OperatorScope}`]
      ? true
      : never) extends never
  ? { readonly cost?: 'query' | null }
  : { readonly cost: 'query' | null };

/** Ties a row's handler to the types of its access, path, input and output. */
export function route<
  const M extends Route['method'],
  const A extends Access,
  const P extends string,
  R extends AnswerOf<O>,
  const I extends RouteInput = object,
  const O extends RouteOutput = RouteOutput,
>(
  row: Omit<Route, 'method' | 'access' | 'path' | 'input' | 'output' | 'cost' | 'serve'> &
    CostOf<M, A, I> & {
      readonly method: M;
      readonly access: A;
      readonly path: P;
      readonly input?: I;
      readonly output?: O;
      readonly serve: (
        context: HttpContext,
      ) => (granted: Contexts[A], input: TypedInput<P, I>) => Promise<R & Exact<O, R>>;
    },
): Route {
  return row;
}
