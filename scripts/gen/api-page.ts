import { ERRORS, PUBLIC_CODES } from '../../src/kernel/errors.ts';
import type { ApiDocument, Operation, Schema } from '../../web/src/pages/reference/document.ts';
import { scopesOf } from '../../web/src/pages/reference/document.ts';
import {
  type Field,
  fieldsOf,
  type Resolve,
  resolverOf,
  typeAndMeaning,
  typeName,
} from '../../web/src/pages/reference/schema.ts';
import { table } from './markdown.ts';

/** docs/api.md: every operation with its parameters, body, reply and errors. */
export function apiPage(document: ApiDocument): string {
  const resolve = resolverOf(document);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => section(method, path, operation, resolve)),
  );
  return `<!-- Generated from the OpenAPI document by \`npm run gen\`; edit the schemas in src/contract/ and the route table. -->
# API reference

${document.info.description ?? ''}

The service itself serves this as an OpenAPI 3.1 document at \`/openapi.json\` and as a page at \`/docs\`.
The codes of refusals are on the [page of errors](errors.md).

${operations.join('\n')}`;
}

function section(method: string, path: string, operation: Operation, resolve: Resolve): string {
  const parts = [`## ${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}\n`];
  for (const text of [operation.summary && `${operation.summary}.`, operation.description])
    if (text) parts.push(`${text}\n`);
  const scopes = scopesOf(operation);
  if (scopes.length > 0) parts.push(`The key needs the scope ${scopes.map((scope) => `\`${scope}\``).join(', ')}.\n`);
  if (operation.parameters?.length) {
    const rows = operation.parameters.map((parameter) => {
      const where = parameter.in + (parameter.required ? ', required' : '');
      return [
        `\`${parameter.name}\``,
        where,
        ...typeAndMeaning(parameter.schema ?? {}, resolve, parameter.description),
      ];
    });
    parts.push(table(['parameter', 'in', 'type', 'meaning'], rows));
  }
  const body = operation.requestBody?.content['application/json']?.schema;
  if (body) parts.push(`**Request body**\n\n${shape(body, resolve)}`);
  const errors: string[][] = [];
  for (const [status, response] of Object.entries(operation.responses)) {
    const schema = response.content?.['application/json']?.schema;
    if (Number(status) >= 400) errors.push([status, codesOf(operation, Number(status))]);
    else parts.push(`**Reply ${status}.** ${response.description}\n\n${schema ? shape(schema, resolve) : ''}`);
  }
  if (errors.length > 0) parts.push(`**Refusals**\n\n${table(['status', 'codes'], errors)}`);
  return parts.join('\n');
}

const codesOf = ({ 'x-error-codes': codes = [] }: Operation, status: number): string =>
  PUBLIC_CODES.filter((code) => codes.includes(code) && ERRORS[code].status === status)
    .map((code) => `\`${code}\``)
    .join(', ');

function shape(schema: Schema, resolve: Resolve): string {
  const whole = resolve(schema);
  const choices = (whole.anyOf ?? whole.oneOf)?.map(resolve);
  if (choices && !whole.properties) return choices.map((choice) => shape(choice, resolve)).join('\nor\n\n');
  const note = whole.description ? `${whole.description}\n\n` : '';
  const rows = fieldsOf(whole, resolve).flatMap(rowsOf);
  return note + (rows.length > 0 ? table(['field', 'type', 'meaning'], rows) : `\`${typeName(whole, resolve)}\`\n`);
}

/** Of a field and those in it. */
const rowsOf = ({ path, type, required, meaning, fields }: Field): readonly (readonly string[])[] => [
  [`\`${path}\``, required ? type : `${type} (optional)`, meaning],
  ...fields.flatMap(rowsOf),
];
