/** The generated module of the nodes for n8n: the fields of requests, and the events of webhooks. */
import { N8N, REPOSITORY } from '../release/project.ts';
import type { ApiCall, ApiTypes, Field, Shape } from './api-types.ts';

const HEAD = '// Generated from the OpenAPI document by `npm run gen`; edit the contract or scripts/gen/n8n.ts.\n';

/** The list of fields by what it is called, the call that takes them, and fields that the node asks for by itself. */
const LISTS: readonly (readonly [name: string, call: string, own: readonly string[]])[] = [
  ['VERIFY_FIELDS', 'verify', ['email']],
  ['UPLOAD_FIELDS', 'lists.create', []],
  ['LISTS_FIELDS', 'lists.list', ['page', 'per_page']],
  ['ROW_FIELDS', 'lists._rows', ['after', 'limit']],
  ['RESULT_FIELDS', 'lists.results', []],
  ['USAGE_FIELDS', 'usage', []],
  ['FILTER_FIELDS', 'filters.add', ['value']],
  ['FILTERS_FIELDS', 'filters.list', ['page', 'per_page']],
];

/** Words that are no words. */
const ACRONYMS: Readonly<Record<string, string>> = {
  ip: 'IP',
  ms: 'Ms',
  mx: 'MX',
  smtp: 'SMTP',
  csv: 'CSV',
  bom: 'BOM',
};
const capital = (word: string): string => ACRONYMS[word] ?? word.charAt(0).toUpperCase() + word.slice(1);
const titled = (name: string): string => name.split(/[_.]/).map(capital).join(' ');

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);
const optionsOf = (values: readonly string[]) =>
  values.map((value) => ({ name: /\w/.test(value) ? titled(value) : value, value })).sort(byName);

/** The kind of input in n8n's editor. Throws Error for a shape that has none here. */
function inputOf(shape: Shape): object {
  switch (shape.kind) {
    case 'text':
      return { type: 'string', default: '' };
    case 'integer':
    case 'number':
      return { type: 'number', default: 0 };
    case 'boolean':
    case 'flag':
      return { type: 'boolean', default: true };
    case 'choice': {
      // A tab would be invisible; it has a name as well.
      const values = shape.values.filter((value) => value.trim() !== '');
      return { type: 'options', options: optionsOf(values), default: values[0] };
    }
    case 'union':
      return inputOf({ kind: 'choice', values: shape.of.flatMap(valuesOf) });
    default:
      throw new Error(`scripts/gen/n8n.ts has no input for ${JSON.stringify(shape)}.`);
  }
}

function valuesOf(shape: Shape): readonly string[] {
  if (shape.kind === 'boolean') return ['true', 'false'];
  if (shape.kind === 'choice') return shape.values;
  throw new Error(`scripts/gen/n8n.ts has no values for ${JSON.stringify(shape)}.`);
}

function property({ name, description, shape }: Field): object {
  // In the editor a flag is a switch, not `1`.
  const text =
    shape.kind === 'flag' ? description.replace(/^`1` (.)/, (_, first: string) => first.toUpperCase()) : description;
  return {
    displayName: titled(name),
    name,
    ...inputOf(shape),
    ...(text === '' ? {} : { description: text.replaceAll('`', '') }),
  };
}

function fieldsOf(calls: readonly ApiCall[], name: string, own: readonly string[]): object[] {
  const call = calls.find((one) => one.name === name);
  if (call === undefined) throw new Error(`There is no call ${name}.`);
  const fields = [...(Array.isArray(call.body) ? call.body : []), ...call.query];
  const missing = own.filter((one) => !fields.some((field) => field.name === one));
  if (missing.length > 0) throw new Error(`The call ${name} has no field ${missing[0]}.`);
  return [...fields]
    .filter((field) => !own.includes(field.name))
    .sort(byName)
    .map(property);
}

export function n8nFiles({ calls, events }: ApiTypes): Record<string, string> {
  const lists = LISTS.map(
    ([name, call, own]) =>
      `/** Of the call \`${call.replace('._', '.')}\`. */\nexport const ${name}: INodeProperties[] = ${JSON.stringify(fieldsOf(calls, call, own), null, 2)};\n`,
  );
  const types = optionsOf(events.map(({ type }) => type));
  return {
    [`${N8N}/nodes/fields.ts`]: `${HEAD}import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

${lists.join('\n')}
export const README = ${JSON.stringify(`${REPOSITORY}/tree/main/${N8N}#readme`)};

/** What webhooks can be sent. */
export const EVENTS: INodePropertyOptions[] = ${JSON.stringify(types, null, 2)};
`,
  };
}
