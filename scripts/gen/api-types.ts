/**
 * The public API as the emitters of the clients need it: named types, operations and errors, without `$ref`s and
 * objects within objects. Made from the OpenAPI document, so a new field of a reply reaches every client.
 */
import { PUBLIC_ERRORS } from '../../src/kernel/errors.ts';
import type { ApiDocument, Media, Operation, Schema } from '../../web/src/pages/reference/document.ts';

export type Shape =
  | { readonly kind: 'text' | 'integer' | 'number' | 'boolean' | 'anything' }
  /** A boolean that a URL has as 1 or 0. */
  | { readonly kind: 'flag' }
  /** One of these texts; a later version of the service may send others. */
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** A type of `objects` or `choices`. */
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'list' | 'map'; readonly of: Shape }
  | { readonly kind: 'union'; readonly of: readonly Shape[] };

export interface Field {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  readonly nullable: boolean;
  readonly shape: Shape;
}
export interface ObjectType {
  readonly name: string;
  readonly description: string;
  readonly fields: readonly Field[];
  /** What replies and events have, what requests have, or both. */
  readonly use: ReadonlySet<'reply' | 'request'>;
}
export interface Choice {
  readonly name: string;
  readonly description: string;
  readonly values: readonly string[];
}
export interface ApiCall {
  readonly operationId: string;
  /** What clients call it, such as `filters.add`. */
  readonly name: string;
  readonly method: string;
  /** With parameters in braces, such as `/v1/filters/{id}`. */
  readonly path: string;
  readonly description: string;
  readonly parameters: readonly Field[];
  readonly query: readonly Field[];
  /** Fields of a JSON body; `upload`: a file as the body; `message`: a mail message. */
  readonly body: readonly Field[] | 'upload' | 'message' | null;
  /** Name of the type of the reply; `file`: one to download. */
  readonly reply: { readonly kind: 'file' } | { readonly kind: 'object'; readonly name: string };
  /** Whether it takes an idempotency key. */
  readonly idempotent: boolean;
  /** A field that every reply has: what lacks it did not come from the service. */
  readonly replyField: string | null;
}
export interface ApiTypes {
  /** Each stands behind those that it uses. */
  readonly objects: readonly ObjectType[];
  readonly choices: readonly Choice[];
  readonly calls: readonly ApiCall[];
  /** Of webhooks: the `type` of an event and the name of its type. */
  readonly events: readonly { readonly type: string; readonly name: string }[];
  readonly errors: readonly { readonly code: string; readonly status: number; readonly fix: string }[];
}

/**
 * What clients call the operations; null: only the TypeScript client has it, as programs that run the service are not
 * written in other languages yet. With an underscore: wrapped by hand.
 */
const NAMES: Readonly<Record<string, string | null>> = {
  verify: 'verify',
  usage: 'usage',
  calibration: 'calibration',
  forgetSeen: 'seen._forget',
  listVerifications: 'verifications.list',
  getVerification: 'verifications.get',
  createList: 'lists.create',
  lists: 'lists.list',
  getList: 'lists.get',
  readList: 'lists.update',
  removeList: 'lists.remove',
  startList: 'lists.start',
  pauseList: 'lists.pause',
  resumeList: 'lists.resume',
  cancelList: 'lists.cancel',
  listRows: 'lists._rows',
  listResults: 'lists.results',
  addFilter: 'filters.add',
  listFilters: 'filters.list',
  importFilters: 'filters.import',
  exportFilters: 'filters.export',
  getFilter: 'filters.get',
  changeFilter: 'filters.change',
  removeFilter: 'filters.remove',
  listPolicies: 'policies.list',
  getPolicy: 'policies.get',
  putPolicy: 'policies.put',
  deletePolicy: 'policies.remove',
  exportPerson: 'privacy.export',
  erasePerson: 'privacy.erase',
  reportOutcomes: 'outcomes.report',
  reportOutcomeMessage: 'outcomes.report_message',
  createWebhook: 'webhooks.create',
  listWebhooks: 'webhooks.list',
  getWebhook: 'webhooks.get',
  changeWebhook: 'webhooks.change',
  deleteWebhook: 'webhooks.remove',
  rotateWebhookSecret: 'webhooks.rotate_secret',
  testWebhook: 'webhooks.test',
  listDeliveries: 'webhooks.deliveries',
  replayDelivery: 'webhooks.replay',
  ...Object.fromEntries(
    [
      'listAccounts',
      'createAccount',
      'getAccount',
      'changeAccount',
      'deleteAccount',
      'suspendAccount',
      'resumeAccount',
      'grantCredits',
      'createAccountKey',
      'revokeAccountKey',
      'accountUsage',
      'accountLedger',
    ].map((operationId) => [operationId, null]),
  ),
};

const JSON_TYPE = 'application/json';
const PRIMITIVES: Readonly<Record<string, Shape>> = {
  string: { kind: 'text' },
  integer: { kind: 'integer' },
  number: { kind: 'number' },
  boolean: { kind: 'boolean' },
};

/** Of what may be null, that of the other alternative. */
function descriptionOf({ description, anyOf = [] }: Schema): string {
  const [of, ...others] = anyOf.filter(({ type }) => type !== 'null');
  return description ?? (others.length === 0 ? of?.description : undefined) ?? '';
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const camel = (name: string): string => name.split(/[_.-]/).map(capital).join('');

/** Throws Error for an operation that NAMES lacks, and for a schema of a kind that no emitter knows. */
export function apiTypes(document: ApiDocument): ApiTypes {
  const schemas = document.components?.schemas ?? {};
  const objects = new Map<string, ObjectType & { use: Set<'reply' | 'request'> }>();
  const choices = new Map<string, Choice>();

  function resolve(schema: Schema): { readonly schema: Schema; readonly name: string | null } {
    const name = schema.$ref?.split('/').at(-1) ?? null;
    const found = name === null ? schema : schemas[name];
    if (found === undefined) throw new Error(`The document has no schema ${name}.`);
    return { schema: found, name };
  }

  /** `name`: what an object or choice is called that has no name of its own. */
  function shapeOf(given: Schema, name: string, use: 'reply' | 'request'): Shape {
    const { schema, name: own } = resolve(given);
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (alternatives !== undefined) return unionOf(alternatives, name, use);
    if (schema.const !== undefined) return { kind: 'choice', values: [String(schema.const)] };
    if (schema.enum !== undefined) {
      const values = schema.enum.map(String);
      if (own === null) return choiceOf(values);
      choices.set(own, { name: own, description: schema.description ?? '', values });
      return { kind: 'named', name: own };
    }
    if (schema.type === 'array') return { kind: 'list', of: shapeOf(schema.items ?? {}, name, use) };
    if (schema.properties !== undefined) return objectOf(schema, own ?? name, use);
    if (schema.type === 'object') return { kind: 'map', of: shapeOf(additional(schema), name, use) };
    return (typeof schema.type === 'string' && PRIMITIVES[schema.type]) || { kind: 'anything' };
  }

  function unionOf(alternatives: readonly Schema[], name: string, use: 'reply' | 'request'): Shape {
    const of = alternatives.filter(({ type }) => type !== 'null').map((one) => shapeOf(one, name, use));
    return of.length === 1 ? of[0]! : { kind: 'union', of };
  }

  const isNullable = (given: Schema): boolean => {
    const { anyOf, oneOf } = resolve(given).schema;
    return (anyOf ?? oneOf ?? []).some((one) => one.type === 'null' || isNullable(one));
  };

  /** `RowsOfList` where `ListRows` is another type. */
  const innerName = (of: string, field: string): string =>
    Object.hasOwn(schemas, of + camel(field)) ? `${camel(field)}Of${of}` : of + camel(field);

  function fieldsOf(schema: Schema, name: string, use: 'reply' | 'request'): Field[] {
    return Object.entries(schema.properties ?? {}).map(([field, of]) => ({
      name: field,
      description: descriptionOf(of),
      required: schema.required?.includes(field) ?? false,
      nullable: isNullable(of),
      shape: shapeOf(of, innerName(name, field), use),
    }));
  }

  function objectOf(schema: Schema, name: string, use: 'reply' | 'request'): Shape {
    const fields = fieldsOf(schema, name, use);
    const known = objects.get(name);
    if (known !== undefined) known.use.add(use);
    else objects.set(name, { name, description: schema.description ?? '', fields, use: new Set([use]) });
    return { kind: 'named', name };
  }

  function bodyOf(operationId: string, content: Readonly<Record<string, Media>>): ApiCall['body'] {
    if ('message/rfc822' in content) return 'message';
    if ('multipart/form-data' in content) return 'upload';
    const media = content[JSON_TYPE];
    if (media === undefined) return null;
    // A filter may also be wrapped in an object.
    const body = resolve(media.schema).schema;
    const { schema, name } = resolve(body.anyOf?.[0] ?? body.oneOf?.[0] ?? media.schema);
    return fieldsOf(schema, name ?? capital(operationId), 'request');
  }

  function replyOf({ operationId, responses }: Operation): ApiCall['reply'] {
    const [, { content = {} }] = Object.entries(responses).find(([status]) => status.startsWith('2'))!;
    const media = content[JSON_TYPE];
    if (media === undefined) return { kind: 'file' };
    const shape = shapeOf(media.schema, `${capital(operationId)}Reply`, 'reply');
    if (shape.kind !== 'named') throw new Error(`The reply of ${operationId} is no object.`);
    return { kind: 'object', name: shape.name };
  }

  function callOf(name: string, method: string, path: string, operation: Operation): ApiCall {
    const { operationId, summary = '', description = '', parameters = [], requestBody } = operation;
    const of = (place: string): Field[] =>
      parameters
        .filter((one) => one.in === place)
        .map((one) => ({
          name: one.name,
          description: one.description ?? '',
          required: one.required ?? false,
          nullable: false,
          shape: shapeOf(one.schema ?? {}, capital(operationId) + camel(one.name), 'request'),
        }));
    return {
      operationId,
      name,
      method: method.toUpperCase(),
      path,
      parameters: of('path'),
      query: of('query'),
      description: [summary && `${summary}.`, description].filter((text) => text !== '').join(' '),
      body: bodyOf(operationId, requestBody?.content ?? {}),
      reply: replyOf(operation),
      idempotent: of('header').some((one) => one.name.toLowerCase() === 'idempotency-key'),
      replyField: operationId === 'verify' ? 'deliverability' : null,
    };
  }

  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const name = NAMES[operation.operationId];
      if (name === undefined) throw new Error(`What do clients call ${operation.operationId}? NAMES in api-types.ts.`);
      return name === null ? [] : [callOf(name, method, path, operation)];
    }),
  );
  const events = Object.entries(document.webhooks ?? {}).map(([type, { post }]) => {
    const shape = shapeOf(post?.requestBody?.content[JSON_TYPE]?.schema ?? {}, camel(type), 'reply');
    if (shape.kind !== 'named') throw new Error(`The event ${type} is no object.`);
    return { type, name: shape.name };
  });
  const errors = Object.entries(PUBLIC_ERRORS).map(([code, { status, fix }]) => ({ code, status, fix }));
  return { objects: [...objects.values()], choices: [...choices.values()], calls, events, errors };
}

/** Parameters of a URL are texts, of which `true` and `false` are a boolean. */
function choiceOf(all: readonly string[]): Shape {
  if (all.every((one) => one === '0' || one === '1')) return { kind: 'flag' };
  if (!all.includes('true')) return { kind: 'choice', values: all };
  const values = all.filter((one) => one !== 'true' && one !== 'false');
  return values.length === 0
    ? { kind: 'boolean' }
    : { kind: 'union', of: [{ kind: 'boolean' }, { kind: 'choice', values }] };
}

const additional = (schema: Schema & { readonly additionalProperties?: unknown }): Schema =>
  typeof schema.additionalProperties === 'object' && schema.additionalProperties !== null
    ? schema.additionalProperties
    : {};
