/** The parts of an OpenAPI 3.1 document that the reference shows. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}
export interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  /** Scopes that the key needs, by security scheme. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly requestBody?: { readonly description?: string; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
  /** The errors that it can have. */
  readonly 'x-error-codes'?: readonly string[];
}
interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string; readonly schema?: Schema }>>;
  readonly content?: Readonly<Record<string, Media>>;
}
interface Ref {
  readonly $ref: string;
}
export interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly examples?: readonly unknown[];
}

/** What responses and headers are in a document as it is served: some are in its `components`. */
type Served<T> = { readonly [K in keyof T]: T[K] | Ref };
interface ServedResponse extends Omit<Response, 'headers'> {
  readonly headers?: Served<NonNullable<Response['headers']>>;
}
type ServedOperation = Omit<Operation, 'responses'> & {
  readonly responses: Served<Readonly<Record<string, ServedResponse>>>;
};
type ServedPaths = Readonly<Record<string, Readonly<Record<string, ServedOperation>>>>;
interface ServedDocument extends Omit<ApiDocument, 'paths' | 'webhooks' | 'components'> {
  readonly paths: ServedPaths;
  readonly webhooks?: ServedPaths;
  readonly components?: ApiDocument['components'] & {
    readonly responses?: Readonly<Record<string, ServedResponse>>;
    readonly headers?: NonNullable<Response['headers']>;
  };
}

/** Puts responses and their headers in the place of references to them. */
export function readDocument(served: ServedDocument): ApiDocument {
  const { responses = {}, headers = {} } = served.components ?? {};
  const complete = ({ headers: named, ...response }: ServedResponse): Response =>
    named ? { ...response, headers: mapValues(named, (header) => referredTo(header, headers)) } : response;
  const pathsOf = (paths: ServedPaths = {}): ApiDocument['paths'] =>
    mapValues(paths, (methods) =>
      mapValues(methods, (operation) => ({
        ...operation,
        responses: mapValues(operation.responses, (response) => complete(referredTo(response, responses))),
      })),
    );
  return { ...served, paths: pathsOf(served.paths), webhooks: pathsOf(served.webhooks) };
}

/** What is there, or what is referred to, of the `components` of its kind. */
function referredTo<T extends object>(value: T | Ref, components: Readonly<Record<string, T>>): T {
  if (!('$ref' in value)) return value;
  const found = components[value.$ref.split('/').at(-1) ?? ''];
  if (found === undefined) throw new Error(`The document lacks ${value.$ref}.`);
  return found;
}

const mapValues = <A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));

/** An operation of the API, or an event that webhooks get. */
export interface Entry {
  readonly kind: 'operation' | 'event';
  /** In capitals. */
  readonly method: string;
  /** `/v1/lists/{id}`; the type of an event. */
  readonly path: string;
  readonly operation: Operation;
}

const JSON_TYPE = 'application/json';

const entriesOf = (kind: Entry['kind'], paths: ApiDocument['paths'] = {}): Entry[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ kind, method: method.toUpperCase(), path, operation })),
  );

/** Operations first, then events, each in the order of the document. */
export const entries = ({ paths, webhooks }: ApiDocument): readonly Entry[] => [
  ...entriesOf('operation', paths),
  ...entriesOf('event', webhooks),
];

/** Title of an entry. */
export const titleOf = ({ operation, path }: Entry): string => operation.summary ?? path;

export const scopesOf = ({ security = [] }: Operation): readonly string[] =>
  security.flatMap((needed) => Object.values(needed).flat());

/** The example of a JSON request; undefined where there is no body. */
export const bodyExample = ({ requestBody }: Operation): unknown => requestBody?.content[JSON_TYPE]?.example;

/** The query of a request, with the parameters that have an example; empty where none has. */
export function queryExample({ parameters = [] }: Operation): string {
  const query = new URLSearchParams();
  for (const { in: place, name, schema } of parameters) {
    const [example] = schema?.examples ?? [];
    if (place === 'query' && example !== undefined) query.set(name, String(example));
  }
  return query.size === 0 ? '' : `?${query}`;
}

/** A type of the files that are the body; null where it is none. */
export function uploadType({ requestBody }: Operation): string | null {
  const files = Object.entries(requestBody?.content ?? {}).filter(([, { schema }]) => schema.format === 'binary');
  return files.find(([type]) => type.startsWith('text/'))?.[0] ?? null;
}

/** The reply to a request that succeeded, with its status. */
export const successOf = ({ responses }: Operation): readonly [status: string, Response] | undefined =>
  Object.entries(responses).find(([status]) => status.startsWith('2'));

interface ErrorReply {
  readonly code: string;
  readonly message: string;
  readonly example: unknown;
}

/** The errors that an operation can have, by status: its responses are shared with others, which have more. */
export function errorRepliesOf({
  responses,
  'x-error-codes': codes = [],
}: Operation): readonly (readonly [status: string, readonly ErrorReply[]])[] {
  return Object.entries(responses)
    .filter(([status]) => /^[45]/.test(status))
    .map(([status, { content }]) => {
      const all = Object.entries(content?.[JSON_TYPE]?.examples ?? {});
      const examples = all.filter(([code]) => codes.includes(code));
      return [status, examples.map(([code, { value }]) => ({ code, message: messageOf(value), example: value }))];
    });
}

const messageOf = (example: unknown): string =>
  typeof example === 'object' && example !== null && 'error' in example ? String(example.error) : '';

/** The parameter of a path, `{id}` or `{name}`. */
const PATH_PARAMETER = /\{(\w+)\}/;

/**
 * A value for one parameter of a path: the one in the example of what `POST` at the collection returns, or else of the
 * operation's own reply, or of what `GET` shows.
 */
function exampleOf(document: ApiDocument, path: string, operation: Operation, found: RegExpExecArray): string {
  const [braced, parameter = ''] = found;
  const collection = document.paths[path.slice(0, found.index - 1)];
  const item = document.paths[path.slice(0, found.index) + braced];
  for (const described of [collection?.post, operation, item?.get]) {
    const example = described && successOf(described)?.[1].content?.[JSON_TYPE]?.example;
    // A path that ends in the name of a collection has the id of one of its objects.
    const id = idIn(example, parameter) ?? (described === collection?.post ? idIn(example, 'id') : null);
    if (id !== null) return id;
  }
  throw new Error(`The document has no example of ${braced} for ${path}.`);
}

/** An example for each parameter of the path, in its order. */
export const exampleIds = (document: ApiDocument, { path, operation }: Entry): string[] =>
  [...path.matchAll(new RegExp(PATH_PARAMETER, 'g'))].map((found) => exampleOf(document, path, operation, found));

/** The path with an example for each parameter. */
export const examplePath = (document: ApiDocument, entry: Entry): string =>
  exampleIds(document, entry).reduce((path, id) => path.replace(PATH_PARAMETER, encodeURIComponent(id)), entry.path);

/** The property, or that of the only object within, as in `{"status": "success", "filter": {"id": 17}}`. */
function idIn(example: unknown, property: string): string | null {
  if (typeof example !== 'object' || example === null) return null;
  if (Object.hasOwn(example, property)) return String(Reflect.get(example, property));
  return (
    Object.values(example)
      .map((within) => idIn(within, property))
      .find((id) => id !== null) ?? null
  );
}
