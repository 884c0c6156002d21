/** The generated part of the PHP client: a file for each type of a reply, enum, exception and group of calls. */
import type { ApiCall, ApiTypes, Choice, Field, ObjectType, Shape } from './api-types.ts';

const FOLDER = 'clients/php/src';
/** Folders of which every file is generated: others in them are left over. */
export const PHP_FOLDERS = ['Api', 'Enum', 'Exception', 'Model'].map((name) => `${FOLDER}/${name}`);

/** Names that PHP keeps to itself. */
const RENAMED: Readonly<Record<string, string>> = { List: 'AddressList' };
/** Errors of the client itself. */
const OWN_ERRORS: Readonly<Record<string, string>> = {
  unreachable: 'The service could not be reached, so the call may or may not have taken effect.',
  timeout: 'There was no reply in time, so the call may or may not have taken effect.',
  redirected: 'The service answered with a redirect, which is not followed.',
  reply_too_large: 'The reply was larger than 32 MiB, and was not read to its end.',
  unexpected_reply: 'The reply did not come from Mailvet.',
};
/** A field that every reply to the call has: what lacks it did not come from Mailvet. */
const REPLY_FIELDS: Readonly<Record<string, string>> = { verify: 'deliverability' };
/** Their replies say only that they worked. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['policies.remove', 'webhooks.remove']);
const LONGEST_LINE = 116;

export function phpFiles({ objects, choices, calls, events, errors }: ApiTypes): Record<string, string> {
  const files: Record<string, string> = {};
  const add = (kind: string, name: string, body: string): void => {
    const head = '<?php\n\n// Made by `npm run gen` from the OpenAPI document.\n\ndeclare(strict_types=1);\n\n';
    files[`${FOLDER}/${kind}/${name}.php`] = `${head}namespace Mailvet\\${kind};\n\n${body}`;
  };
  const enums = new Set(choices.map(({ name }) => name));
  for (const object of objects.filter(({ use }) => use.has('reply')))
    add('Model', className(object.name), model(object, enums));
  for (const choice of choices) add('Enum', choice.name, enumOf(choice));
  const codes = { ...Object.fromEntries(errors.map(({ code, fix }) => [code, fix])), ...OWN_ERRORS };
  for (const [code, fix] of Object.entries(codes)) add('Exception', `${pascal(code)}Exception`, exception(code, fix));
  add(
    'Exception',
    'ByCode',
    classesByCode(
      'Exceptions',
      Object.keys(codes),
      '\\Mailvet\\MailvetException',
      (code) => `${pascal(code)}Exception`,
    ),
  );
  const eventClasses = Object.fromEntries(events.map(({ type, name }) => [type, className(name)]));
  add(
    'Model',
    'EventTypes',
    classesByCode('Events', Object.keys(eventClasses), '\\Mailvet\\Reply', (type) => eventClasses[type]!),
  );
  const byName = new Map(objects.map((object) => [object.name, object]));
  for (const [group, own] of Object.entries(Object.groupBy(calls, ({ name }) => groupOf(name))))
    add('Api', `${pascal(group)}Api`, api(group, own!, byName));
  return files;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const pascal = (name: string): string => name.split(/[_.]/).map(capital).join('');
const camel = (name: string): string => name.replaceAll(/[_.](.)/g, (_, letter) => letter.toUpperCase());
const className = (name: string): string => RENAMED[name] ?? name;
const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;

/** Of `filters.add`, `filters`; calls without a group are the client's own. */
const groupOf = (name: string): string => (name.includes('.') ? name.slice(0, name.indexOf('.')) : 'client');

/** Lines of a comment, with `indent` blanks before them. */
function comment(paragraphs: readonly string[], indent = 0): string {
  const room = LONGEST_LINE - indent - 3;
  const given = paragraphs.filter((text) => text !== '');
  const firstTag = given.findIndex((text) => text.startsWith('@'));
  const apart = firstTag > 0 ? [...given.slice(0, firstTag), '', ...given.slice(firstTag)] : given;
  const lines = apart.flatMap((text) => wrapped(text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ').trim(), room));
  if (lines.length === 0) return '';
  const margin = ' '.repeat(indent);
  if (lines.length === 1) return `${margin}/** ${lines[0]} */\n`;
  return `${margin}/**\n${lines.map((line) => `${`${margin} * ${line}`.trimEnd()}\n`).join('')}${margin} */\n`;
}

function wrapped(text: string, room: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > room) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

interface PhpType {
  /** As PHP has it, without null. */
  readonly native: string;
  /** As PHPDoc has it, where that says more. */
  readonly doc: string;
  /** The call that reads it from the fields of a reply; `name` is quoted. */
  readonly read: (name: string) => string;
}

const SCALARS = {
  text: ['string', 'text'],
  integer: ['int', 'integer'],
  number: ['float', 'number'],
  boolean: ['bool', 'boolean'],
  flag: ['bool', 'boolean'],
} as const;

function phpType(shape: Shape, enums: ReadonlySet<string>, scope = ''): PhpType {
  if (shape.kind === 'choice') {
    const doc = [...shape.values.map(quoted), 'string'].join('|');
    return { native: 'string', doc, read: (name) => `text(${name})` };
  }
  if (shape.kind === 'named') {
    const isEnum = enums.has(shape.name);
    const name = isEnum ? `\\Mailvet\\Enum\\${shape.name}` : `${scope}${className(shape.name)}`;
    const type = isEnum ? `${name}|string` : name;
    return { native: type, doc: type, read: (field) => `${isEnum ? 'choice' : 'object'}(${field}, ${name}::class)` };
  }
  if (shape.kind === 'list') return listType(shape.of, enums, scope);
  if (shape.kind === 'map') {
    const { doc } = phpType(shape.of, enums, scope);
    const method = shape.of.kind === 'integer' ? 'integersByName' : shape.of.kind === 'text' ? 'textsByName' : 'map';
    return {
      native: 'array',
      doc: `array<string, ${method === 'map' ? 'mixed' : doc}>`,
      read: (n) => `${method}(${n})`,
    };
  }
  if (shape.kind === 'union' || shape.kind === 'anything')
    return { native: 'mixed', doc: 'mixed', read: (name) => `any(${name})` };
  const [native, method] = SCALARS[shape.kind];
  return { native, doc: native, read: (name) => `${method}(${name})` };
}

function listType(of: Shape, enums: ReadonlySet<string>, scope: string): PhpType {
  const { doc } = phpType(of, enums, scope);
  const list = { native: 'array', doc: `list<${doc}>` };
  if (of.kind === 'named' && !enums.has(of.name))
    return { ...list, read: (name) => `objects(${name}, ${scope}${className(of.name)}::class)` };
  if (of.kind === 'text' || of.kind === 'choice') return { ...list, read: (name) => `texts(${name})` };
  return { native: 'array', doc: 'list<mixed>', read: (name) => `items(${name})` };
}

function model({ name, description, fields }: ObjectType, enums: ReadonlySet<string>): string {
  const lines = fields.map((field) => {
    const { native, doc, read } = phpType(field.shape, enums);
    const isOptional = (field.nullable || !field.required) && native !== 'mixed';
    const type = isOptional ? (native.includes('|') ? `${native}|null` : `?${native}`) : native;
    const says = doc === native ? '' : `@var ${doc}${isOptional ? '|null' : ''}`;
    const property = `${comment([field.description, says], 4)}    public ${type} $${camel(field.name)};\n`;
    return { property, read: read(quoted(field.name)), field };
  });
  const assignments = lines.map(({ read, field }) => {
    const isOptional = field.nullable || !field.required;
    const set = `$this->${camel(field.name)} = `;
    const has = `$reader->has(${quoted(field.name)})`;
    const whole = `        ${set}${has} ? $reader->${read} : null;`;
    const broken = `        ${set}${has}\n            ? $reader->${read}\n            : null;`;
    if (isOptional) return `${whole.length > LONGEST_LINE ? broken : whole}\n`;
    return `        if ($reader->has(${quoted(field.name)})) {\n            ${set}$reader->${read};\n        }\n`;
  });
  return `use Mailvet\\Fields;
use Mailvet\\Reply;

${comment([description])}final readonly class ${className(name)} extends Reply
{
${lines.map(({ property }) => property).join('\n')}
    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
${assignments.join('')}    }
}
`;
}

const enumOf = ({ name, description, values }: Choice): string => `${comment([description])}enum ${name}: string
{
${values.map((value) => `    case ${pascal(value)} = ${quoted(value)};\n`).join('')}}
`;

const exception = (code: string, fix: string): string => `use Mailvet\\MailvetException;

${comment([`\`${code}\`: ${fix}`])}final class ${pascal(code)}Exception extends MailvetException
{
}
`;

function classesByCode(what: string, codes: readonly string[], base: string, of: (code: string) => string): string {
  const name = what === 'Events' ? 'EventTypes' : 'ByCode';
  const rows = codes.map((code) => `        ${quoted(code)} => ${of(code)}::class,\n`).join('');
  return `/** @internal */
final class ${name}
{
    /** @var array<string, class-string<${base}>> */
    public const CLASSES = [
${rows}    ];
}
`;
}

/** An argument of a call: where it goes, and how PHP declares it. */
interface Argument {
  readonly field: Field;
  readonly place: 'path' | 'query' | 'body';
}

const argumentsOf = ({ parameters, query, body }: ApiCall): Argument[] => {
  const all: Argument[] = [
    ...parameters.map((field) => ({ field, place: 'path' as const })),
    ...query.map((field) => ({ field, place: 'query' as const })),
    ...(Array.isArray(body) ? body : []).map((field: Field) => ({ field, place: 'body' as const })),
  ];
  // PHP wants those with a default last.
  return [...all.filter(({ field }) => field.required), ...all.filter(({ field }) => !field.required)];
};

function parameterOf({ field, place }: Argument): { readonly code: string; readonly doc: string } {
  const { native, doc } = requestType(field.shape);
  const name = `$${camel(field.name)}`;
  const clears = place === 'body' && field.nullable;
  const parts = native.split('|');
  const type = field.required
    ? native
    : clears
      ? [...parts, 'null', 'Omitted'].join('|')
      : parts.length > 1
        ? `${native}|null`
        : native === 'mixed'
          ? native
          : `?${native}`;
  const docType = [doc, ...(field.required || native === 'mixed' ? [] : ['null']), ...(clears ? ['Omitted'] : [])].join(
    '|',
  );
  return {
    code: `${type} ${name}${field.required ? '' : clears ? ' = Omitted::Field' : ' = null'}`,
    doc: `@param ${docType} ${name}${field.description === '' ? '' : ` ${field.description}`}`,
  };
}

/** Objects of requests are arrays, as PHP programs write them. */
function requestType(shape: Shape): { readonly native: string; readonly doc: string } {
  if (shape.kind === 'named') return { native: 'array', doc: 'array<string, mixed>' };
  if (shape.kind === 'list') return { native: 'array', doc: `list<${requestType(shape.of).doc}>` };
  if (shape.kind === 'map') return { native: 'array', doc: 'array<string, mixed>' };
  if (shape.kind === 'union') {
    const types = [...new Set(shape.of.map((one) => requestType(one).native))];
    return { native: types.join('|'), doc: types.join('|') };
  }
  if (shape.kind === 'choice') {
    return { native: 'string', doc: shape.values.map(quoted).join('|') };
  }
  if (shape.kind === 'anything') return { native: 'mixed', doc: 'mixed' };
  const [native] = SCALARS[shape.kind];
  return { native, doc: native };
}

/** Calls with a file or a message, and those with an underscore, are written by hand. */
const isByHand = ({ name, body, reply }: ApiCall): boolean =>
  name.includes('._') || body === 'upload' || body === 'message' || reply.kind === 'file';

function api(group: string, calls: readonly ApiCall[], objects: ReadonlyMap<string, ObjectType>): string {
  const methods = calls.filter((call) => !isByHand(call)).map((call) => method(call, objects));
  return `use Mailvet\\Model;
use Mailvet\\Omitted;
use Mailvet\\Transport;

/** @internal what the class of the same name has without wrapping it */
abstract class ${pascal(group)}Api
{
    public function __construct(protected readonly Transport $transport)
    {
    }
${methods.map((text) => `\n${text}`).join('')}}
`;
}

/** The field of a reply that is nothing but a list of objects, besides its warnings. */
function listIn(reply: ObjectType | undefined): Field | null {
  const [field, ...others] = (reply?.fields ?? []).filter(({ name }) => name !== 'warnings');
  const isList = field?.shape.kind === 'list' && field.shape.of.kind === 'named' && others.length === 0;
  return isList ? field : null;
}

/** What a call returns, and its type for PHPDoc where that says more. `sent`: the call itself. */
function returned({ name, reply }: ApiCall, objects: ReadonlyMap<string, ObjectType>) {
  if (SAYS_NOTHING.has(name)) return { type: 'void', doc: '', code: (call: string) => `${call};` };
  const { name: object } = reply as { readonly name: string };
  const type = `Model\\${className(object)}`;
  const list = listIn(objects.get(object));
  if (list === null) return { type, doc: '', code: (call: string) => `return new ${type}(${call});` };
  const { doc } = phpType(list.shape, new Set(), 'Model\\');
  return {
    type: 'array',
    doc: `@return ${doc}`,
    code: (call: string) => `return (new ${type}(${call}))->${camel(list.name)};`,
  };
}

function method(call: ApiCall, objects: ReadonlyMap<string, ObjectType>): string {
  const given = argumentsOf(call);
  const parameters = given.map(parameterOf);
  const { type, doc, code } = returned(call, objects);
  const shared = [...(call.idempotent ? ['?string $idempotencyKey = null'] : []), '?float $timeout = null'];
  const of = (place: Argument['place']): string[] =>
    given
      .filter((one) => one.place === place)
      .map((one) => `                ${quoted(one.field.name)} => ${sent(one)},\n`);
  const part = (name: string, rows: string[]): string =>
    rows.length === 0 ? '' : `            ${name}: [\n${rows.join('')}            ],\n`;
  const path = call.path.replaceAll(/\{(\w+)\}/g, (_, name) => `' . rawurlencode((string) $${camel(name)}) . '`);
  const name = call.name.split('.').at(-1)!;
  const isBody = Array.isArray(call.body);
  const replyField = REPLY_FIELDS[call.name];
  const request = `$this->transport->send(
            ${quoted(call.method)},
            ${`'${path}'`.replaceAll(/ \. ''$/g, '')},
${part('query', of('query'))}${isBody ? part('body', of('body')) : ''}${call.idempotent ? '            idempotencyKey: $idempotencyKey,\n' : ''}            timeout: $timeout,
${replyField === undefined ? '' : `            replyField: ${quoted(replyField)},\n`}        )`;
  const tags = [...parameters.map((parameter) => parameter.doc), doc];
  return `${comment([call.description, ...tags], 4)}    public function ${camel(name)}(
${[...parameters.map((parameter) => parameter.code), ...shared].map((line) => `        ${line},\n`).join('')}    ): ${type} {
        ${code(request)}
    }
`;
}

/** What of an argument is sent. Omitted::Field is left out of a body, null of a query. */
function sent({ field, place }: Argument): string {
  const name = `$${camel(field.name)}`;
  if (field.shape.kind === 'flag') return `${name} === null ? null : (int) ${name}`;
  if (place !== 'body' || (field.nullable && !field.required)) return name;
  // An empty array would be a list.
  const isObject = field.shape.kind === 'named' || field.shape.kind === 'map';
  if (field.required) return isObject ? `(object) ${name}` : name;
  return isObject ? `${name} === null ? Omitted::Field : (object) ${name}` : `${name} ?? Omitted::Field`;
}
