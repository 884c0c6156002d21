import { type ApiDocument, type Entry, entries, errorRepliesOf, successOf } from './document.ts';
import { type Field, fieldsOf, type Resolve, resolverOf } from './schema.ts';

/** All that can be found of an entry, in lower case. */
interface Indexed {
  readonly entry: Entry;
  readonly text: string;
}

interface FoundError {
  readonly code: string;
  readonly status: string;
}

const wordsOf = ({ path, meaning, fields }: Field): string[] => [path, meaning, ...fields.flatMap(wordsOf)];

function textOf({ method, path, operation }: Entry, resolve: Resolve): string {
  const { operationId, summary = '', description = '', parameters = [], requestBody } = operation;
  const contents = [requestBody?.content, successOf(operation)?.[1].content];
  const schemas = contents.flatMap((content) => content?.['application/json']?.schema ?? []);
  return [
    method,
    path,
    operationId,
    summary,
    description,
    ...parameters.flatMap(({ name, description = '' }) => [name, description]),
    ...schemas.flatMap((schema) => fieldsOf(schema, resolve)).flatMap(wordsOf),
    ...errorRepliesOf(operation).flatMap(([status, refusals]) => [status, ...refusals.map(({ code }) => code)]),
  ]
    .join('\n')
    .toLowerCase();
}

export function indexOf(document: ApiDocument): readonly Indexed[] {
  const resolve = resolverOf(document);
  return entries(document).map((entry) => ({ entry, text: textOf(entry, resolve) }));
}

/** The errors of all operations, each once. */
export function errorsOf(document: ApiDocument): readonly FoundError[] {
  const statuses = new Map<string, string>();
  for (const { operation } of entries(document))
    for (const [status, refusals] of errorRepliesOf(operation))
      for (const { code } of refusals) statuses.set(code, status);
  return [...statuses].map(([code, status]) => ({ code, status }));
}

/** Errors whose code is the query, or has it within where it is written like one. */
export function foundErrors(errors: readonly FoundError[], query: string): readonly FoundError[] {
  const asked = query.trim().toLowerCase();
  return errors.filter(({ code }) => code === asked || (asked.includes('_') && code.includes(asked)));
}

/** Entries with every word of the query; those with it in their title or path come first. */
export function found(index: readonly Indexed[], query: string): readonly Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = index.filter(({ text }) => words.every((word) => text.includes(word)));
  const inTitle = ({ entry: { method, path, operation } }: Indexed): boolean => {
    const title = `${method} ${path} ${operation.summary ?? ''} ${operation.operationId}`.toLowerCase();
    return words.every((word) => title.includes(word));
  };
  return [...matches.filter(inTitle), ...matches.filter((match) => !inTitle(match))].map(({ entry }) => entry);
}
