/** What runners of the cases in TypeScript have in common: values of steps, and matchers of replies. */

type Json = ReturnType<JSON['parse']>;

/** `{{name}}` alone is the value itself; within a text it is its text. */
export function filled(value: Json, values: Record<string, Json>): Json {
  if (typeof value === 'string') {
    const name = /^\{\{(\w+)\}\}$/.exec(value)?.[1];
    return name === undefined ? value.replaceAll(/\{\{(\w+)\}\}/g, (_, one) => String(values[one])) : values[name];
  }
  if (Array.isArray(value)) return value.map((one) => filled(one, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, values)]));
}

/** What `$same` of a name was. */
export type Same = Map<string, Json>;

/** Why `actual` is not what the case expects; null where it is. */
export function difference(expected: Json, actual: Json, path: string, same: Same): string | null {
  const differs = `${path}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return differs;
    return first(expected.map((one, n) => difference(one, actual[n], `${path}[${n}]`, same)));
  }
  if (typeof expected !== 'object' || expected === null) return Object.is(expected, actual) ? null : differs;
  const entries = Object.entries(expected);
  if (entries.some(([name]) => name.startsWith('$')))
    return first(entries.map(([name, by]) => (MATCHERS[name]?.(by, actual, same) ? null : differs)));
  if (typeof actual !== 'object' || actual === null) return differs;
  return first(entries.map(([name, one]) => difference(one, actual[name], `${path}.${name}`, same)));
}
const first = (found: (string | null)[]): string | null => found.find((one) => one !== null) ?? null;

const MATCHERS: Readonly<Record<string, (by: Json, actual: Json, same: Same) => boolean>> = {
  $matches: (by, actual) => typeof actual === 'string' && new RegExp(by, 'u').test(actual),
  $lacks: (by, actual) => typeof actual === 'string' && !actual.includes(by),
  $above: (by, actual) => actual > by,
  $absent: (_, actual) => actual === undefined,
  $json: (by, actual, same) => difference(by, JSON.parse(actual), '', same) === null,
  $same(by, actual, same) {
    if (!same.has(by)) same.set(by, actual);
    return same.get(by) === actual;
  },
};
