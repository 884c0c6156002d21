/** The generated modules of the client in Python: types of replies and requests, errors, and the calls. */
import type { ApiCall, ApiTypes, Choice, Field, ObjectType, Shape } from './api-types.ts';

const FOLDER = 'clients/python/src/mailvet';
const HEAD = '# Generated from the OpenAPI document by `npm run gen`; edit the contract or scripts/gen/python.ts.\n';
const WIDTH = 100;
const KEYWORDS = new Set([
  'from',
  'class',
  'import',
  'global',
  'in',
  'is',
  'not',
  'or',
  'and',
  'def',
  'pass',
  'return',
]);

const named = (name: string): string => (KEYWORDS.has(name) ? `${name}_` : name);
const quoted = (text: string): string => JSON.stringify(text);
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const camel = (name: string): string => name.split(/[_.-]/).map(capital).join('');

/** Lines of text that end before WIDTH. */
function wrapped(text: string, indent: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && indent.length + line.length + 1 + word.length > WIDTH) {
      lines.push(indent + line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  if (line !== '') lines.push(indent + line);
  return lines;
}

/** One line where it fits, else several. A backslash would begin an escape. */
function docstring(text: string, indent: string): string[] {
  const safe = text.trim().replaceAll('\\', '\\\\').replaceAll('"""', "'''");
  if (safe === '') return [];
  const one = `${indent}"""${safe}"""`;
  if (one.length <= WIDTH && !safe.endsWith('"')) return [one];
  return [`${indent}"""`, ...wrapped(safe, indent), `${indent}"""`];
}

/** `models.`: of another module than that of the types. */
function typeOf(shape: Shape, models: string, list = 'list'): string {
  switch (shape.kind) {
    case 'text':
      return 'str';
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
    case 'flag':
      return 'bool';
    case 'anything':
      return 'Any';
    case 'choice':
      return `Literal[${shape.values.map(quoted).join(', ')}]`;
    case 'named':
      return models + shape.name;
    case 'list':
      return `${list}[${typeOf(shape.of, models, list)}]`;
    case 'map':
      return `${list === 'list' ? 'dict' : 'Mapping'}[str, ${typeOf(shape.of, models, list)}]`;
    case 'union':
      return [...new Set(shape.of.map((one) => typeOf(one, models, list)))].join(' | ');
  }
}

/** How a value is read; null: as it is. */
function decoderOf(shape: Shape, isObject: (name: string) => boolean): string | null {
  if (shape.kind === 'named') return isObject(shape.name) ? `${shape.name}.from_dict` : null;
  if (shape.kind === 'union') {
    const found = shape.of.flatMap((one) => decoderOf(one, isObject) ?? []);
    return found.length === 1 ? found[0]! : null;
  }
  if (shape.kind !== 'list' && shape.kind !== 'map') return null;
  const inner = decoderOf(shape.of, isObject);
  return inner === null ? null : `${shape.kind === 'list' ? 'items' : 'values'}(${inner})`;
}

const optional = (type: string, isOptional: boolean): string => (isOptional ? `${type} | None` : type);

function replyClass({ name, description, fields }: ObjectType, isObject: (name: string) => boolean): string {
  const decoders = fields.flatMap((field) => {
    const decoder = decoderOf(field.shape, isObject);
    return decoder === null ? [] : [`        ${quoted(field.name)}: ${decoder},`];
  });
  // Those that may be missing come last, as dataclasses require.
  const sorted = [...fields.filter(({ required }) => required), ...fields.filter(({ required }) => !required)];
  return [
    '@dataclass(frozen=True)',
    `class ${name}(Model):`,
    ...docstring(description || `The object \`${name}\` of the API.`, '    '),
    '',
    ...sorted.flatMap((field) => [
      `    ${named(field.name)}: ${optional(typeOf(field.shape, ''), field.nullable || !field.required)}${field.required ? '' : ' = None'}`,
      ...docstring(field.description, '    '),
    ]),
    ...(decoders.length === 0 ? [] : ['', '    _decoders: ClassVar[Decoders] = {', ...decoders, '    }']),
  ].join('\n');
}

function requestDict({ name, description, fields }: ObjectType): string {
  const line = (field: Field) => `    ${field.name}: ${optional(typeOf(field.shape, '', 'Sequence'), field.nullable)}`;
  const required = fields.filter((field) => field.required);
  const rest = fields.filter((field) => !field.required);
  const base = `_${name}Required`;
  const doc = docstring(description || `The object \`${name}\` of a request.`, '    ');
  if (required.length === 0)
    return [`class ${name}(TypedDict, total=False):`, ...doc, '', ...rest.map(line)].join('\n');
  const first = [`class ${base}(TypedDict):`, ...required.map(line), '', ''];
  return [...first, `class ${name}(${base}, total=False):`, ...doc, '', ...rest.map(line)].join('\n');
}

const choice = ({ name, description, values }: Choice): string =>
  [`${name} = Literal[`, ...values.map((one) => `    ${quoted(one)},`), ']', ...docstring(description, '')].join('\n');

function modelsModule({ objects, choices, events }: ApiTypes): string {
  const replies = objects.filter(({ use }) => use.has('reply'));
  const isObject = (name: string) => replies.some((one) => one.name === name);
  const requests = objects.filter(({ use }) => use.has('request'));
  const classes = replies.map((one) => replyClass(one, isObject)).join('\n\n\n');
  const decoders = ['items', 'values'].filter((name) => classes.includes(`${name}(`));
  return `${HEAD}"""
What the service answers and is sent.

The service of a later version may send fields and values that these types do not name: fields are
in \`\`extra\`\`, and texts with a \`\`Literal\`\` type may have other values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypedDict

from ._model import ${['Decoders', 'Model', ...decoders].join(', ')}

${choices.map(choice).join('\n\n')}


${classes}


${requests.map(requestDict).join('\n\n\n')}


WebhookEvent = ${events.map(({ name }) => name).join(' | ')}
"""What a webhook receives: \`\`type\`\` says which one it is, and \`\`data\`\` is what it is about."""

WEBHOOK_EVENTS: dict[str, type[WebhookEvent]] = {
${events.map(({ type, name }) => `    ${quoted(type)}: ${name},`).join('\n')}
}
`;
}

function errorsModule({ errors }: ApiTypes): string {
  const nameOf = (code: string) => camel(code.replace(/_error$/, '')) + 'Error';
  const classes = errors.map(({ code, status, fix }) =>
    [
      `class ${nameOf(code)}(MailvetError):`,
      ...docstring(`\`\`${code}\`\` (${status}). ${fix.replaceAll('`', '``')}`, '    '),
    ].join('\n'),
  );
  return `${HEAD}"""A class for each error code of the service; all are of the class \`\`MailvetError\`\`."""

from __future__ import annotations

from ._error import MailvetError

${classes.map((one) => `\n${one}\n`).join('\n')}

BY_CODE: dict[str, type[MailvetError]] = {
${errors.map(({ code }) => `    ${quoted(code)}: ${nameOf(code)},`).join('\n')}
}
`;
}

interface Argument {
  readonly name: string;
  readonly type: string;
  /** Null: it has to be given. */
  readonly fallback: string | null;
  readonly field: Field | null;
}

/** What may be null has another mark for what is not given. */
function argumentOf(field: Field): Argument {
  const type = typeOf(field.shape, 'models.', 'Sequence');
  const name = named(field.name);
  if (field.required) return { name, field, type: optional(type, field.nullable), fallback: null };
  if (field.nullable) return { name, field, type: `${type} | None | NotGiven`, fallback: 'NOT_GIVEN' };
  return { name, field, type: `${type} | None`, fallback: 'None' };
}

const own = (name: string, type: string, fallback: string | null = 'None'): Argument => ({
  name,
  type,
  fallback,
  field: null,
});

function argumentsOf(call: ApiCall, isAsync: boolean): Argument[] {
  const path = call.parameters.map(({ name, shape }) =>
    own(name, shape.kind === 'text' ? 'str | HasId' : typeOf(shape, ''), null),
  );
  const source = isAsync ? 'Source | AsyncSource' : 'Source';
  const sent =
    call.body === 'upload'
      ? [own('source', source, null)]
      : call.body === 'message'
        ? [own('message', 'bytes | str', null)]
        : [];
  const fields = [...(Array.isArray(call.body) ? call.body : []), ...call.query].map(argumentOf);
  const options = [
    ...(call.body === 'upload' ? [own('type', 'str | None')] : []),
    ...(call.idempotent ? [own('idempotency_key', 'str | None')] : []),
    own('timeout', 'float | None'),
  ];
  return [...path, ...sent, ...fields, ...options];
}

/** \`given({…}, {…})\` of the fields: those that may be null are told apart from those that were not given. */
function given(fields: readonly Field[], indent: string): string {
  const valueOfField = ({ name, shape }: Field) => (shape.kind === 'flag' ? `flag(${named(name)})` : named(name));
  const row = (field: Field) => `${indent}    ${quoted(field.name)}: ${valueOfField(field)},`;
  const dict = (some: readonly Field[]) => (some.length === 0 ? '{}' : `{\n${some.map(row).join('\n')}\n${indent}}`);
  const nullable = fields.filter((field) => field.nullable);
  const rest = dict(fields.filter((field) => !field.nullable));
  return nullable.length === 0 ? `given(${rest})` : `given(${rest}, ${dict(nullable)})`;
}

function pathOf({ path, parameters }: ApiCall): string {
  if (parameters.length === 0) return quoted(path);
  const filled = parameters.reduce(
    (text, { name, shape }) => text.replace(`{${name}}`, `{${shape.kind === 'text' ? `path_of(${name})` : name}}`),
    path,
  );
  return `f${quoted(filled)}`;
}

function method(call: ApiCall, isAsync: boolean): string {
  const name = named(call.name.split('.').at(-1)!);
  const all = argumentsOf(call, isAsync);
  const parameter = ({ name: one, type, fallback }: Argument) =>
    `        ${one}: ${type}${fallback === null ? '' : ` = ${fallback}`},`;
  const isFile = call.reply.kind === 'file';
  const reply = call.reply.kind === 'file' ? (isAsync ? 'AsyncDownload' : 'Download') : `models.${call.reply.name}`;
  const inner = '                ';
  const parts = [
    `            Call(`,
    `${inner}${quoted(call.method)},`,
    `${inner}${pathOf(call)},`,
    ...(call.query.length === 0 ? [] : [`${inner}query=${given(call.query, inner)},`]),
    ...(Array.isArray(call.body) ? [`${inner}body=${given(call.body, inner)},`] : []),
    ...(call.body === 'message' ? [`${inner}upload=message_upload(message),`] : []),
    ...(call.idempotent ? [`${inner}idempotency_key=idempotency_key,`] : []),
    ...(call.replyField === null ? [] : [`${inner}reply_field=${quoted(call.replyField)},`]),
    `${inner}timeout=timeout,`,
    `            ),`,
  ];
  const decode = call.reply.kind === 'file' ? [] : [`            models.${call.reply.name}.from_dict,`];
  const via = isFile ? 'download' : call.body === 'upload' ? 'upload' : 'send';
  const extra = call.body === 'upload' ? ['            source,', '            type,'] : [];
  return [
    `    ${isAsync && !isFile ? 'async ' : ''}def ${name}(`,
    '        self,',
    ...all.filter(({ fallback }) => fallback === null).map(parameter),
    '        *,',
    ...all.filter(({ fallback }) => fallback !== null).map(parameter),
    `    ) -> ${reply}:`,
    ...documented(call, '        '),
    `        return ${isAsync && !isFile ? 'await ' : ''}self._transport.${via}(`,
    ...parts,
    ...extra,
    ...decode,
    '        )',
  ].join('\n');
}

/** What the call does, and a paragraph for each argument that the contract says something about. */
function documented(call: ApiCall, indent: string): string[] {
  const fields = [...(Array.isArray(call.body) ? call.body : []), ...call.query];
  const marked = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('`', '``');
  const rows = fields.flatMap(({ name, description }) => {
    if (description === '') return [];
    const [first = '', ...rest] = wrapped(`${named(name)}: ${marked(description)}`, `${indent}        `);
    return [first.slice(4), ...rest];
  });
  if (rows.length === 0) return docstring(call.description.replaceAll('`', '``'), indent);
  const text = wrapped(marked(call.description), indent);
  return [`${indent}"""`, ...text, '', `${indent}Args:`, ...rows, `${indent}"""`];
}

function callsModule({ calls }: ApiTypes, isAsync: boolean): string {
  const groups = Map.groupBy(calls, ({ name }) => (name.includes('.') ? name.split('.')[0]! : ''));
  const prefix = isAsync ? 'Async' : '';
  const transport = `${prefix}Transport`;
  const init = `    def __init__(self, transport: ${transport}) -> None:\n        self._transport = transport`;
  const classes = [...groups].map(([group, of]) =>
    [
      `class ${prefix}${group === '' ? 'Root' : camel(group)}Calls:`,
      ...docstring(group === '' ? 'The calls without a group.' : `The calls of \`\`${group}\`\`.`, '    '),
      '',
      init,
      ...of.map((call) => `\n${method(call, isAsync)}`),
    ].join('\n'),
  );
  const code = classes.join('\n\n\n');
  const collections = ['Mapping', 'Sequence'].filter((name) => code.includes(`${name}[`));
  return `${HEAD}"""The calls of the API, as methods${isAsync ? ' that are awaited' : ''}."""

from __future__ import annotations

from collections.abc import ${collections.join(', ')}
from typing import Literal

from . import models
from ._call import NOT_GIVEN, Call, HasId, NotGiven, flag, given, message_upload, path_of
from ._source import ${isAsync ? 'AsyncSource, ' : ''}Source
from ._transport import ${isAsync ? 'AsyncDownload, AsyncTransport' : 'Download, Transport'}

__all__ = [${[...groups.keys()].map((group) => quoted(`${prefix}${group === '' ? 'Root' : camel(group)}Calls`)).join(', ')}]


${code}
`;
}

export const pythonFiles = (types: ApiTypes): Record<string, string> => ({
  [`${FOLDER}/models.py`]: modelsModule(types),
  [`${FOLDER}/errors.py`]: errorsModule(types),
  [`${FOLDER}/_calls.py`]: callsModule(types, false),
  [`${FOLDER}/_async_calls.py`]: callsModule(types, true),
});
