import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { UNKNOWN_NAME_SHOWN, WARNINGS_MAX } from '../kernel/facts/limits.ts';
import { grouped } from '../kernel/format.ts';
import { nearest } from '../kernel/nearest.ts';

/** In every reply to a request that can have fields or parameters that the contract does not know. */
export const Warnings = Type.Array(Type.String(), {
  description: 'What the request has that is unknown, or changes nothing.',
});

/** A reply of the public API with the warnings of its request, which its handler need not add (http/handler.ts). */
export const WithWarnings = <P extends TProperties>(title: string, { properties }: TObject<P>) =>
  Type.Object({ ...properties, warnings: Warnings }, { title });

/** A property with the names that people give it elsewhere. The note never leaves the server. */
export const AlsoCalled = <T extends TSchema>(names: readonly string[], schema: T) =>
  Object.assign(schema, { '~also': names });

export const NO_WARNINGS: readonly string[] = [];

/**
 * Tells of the properties of an object that a schema does not have, at most WARNINGS_MAX of them. `noun`: what they are
 * called. `but`: names that do not count.
 */
export function unknownFields(
  schema: TSchema,
  noun: 'field' | 'parameter',
  but: readonly string[] = [],
): (sent: object) => readonly string[] {
  const properties: Readonly<Record<string, object>> = Object('properties' in schema ? schema.properties : {});
  const names = Object.keys(properties);
  const known: ReadonlySet<string> = new Set([...names, ...but]);
  const others = Object.entries(properties).flatMap(([name, property]) =>
    '~also' in property && Array.isArray(property['~also'])
      ? property['~also'].map((also) => [String(also), name])
      : [],
  );
  const meant = new Map<string, string>(others.map(([also = '', name = '']) => [also, name]));
  const spellings = [...names, ...meant.keys()];

  const warningOf = (name: string): string => {
    const close = nearest(name, spellings);
    const suggestion = close === null ? '.' : `; did you mean "${meant.get(close) ?? close}"?`;
    return `Unknown ${noun} ${JSON.stringify(name.slice(0, UNKNOWN_NAME_SHOWN))}${suggestion}`;
  };

  return (sent) => {
    let unknown: string[] | null = null;
    for (const name in sent) {
      if (known.has(name)) continue;
      unknown ??= [];
      unknown.push(name);
    }
    if (unknown === null) return NO_WARNINGS;
    const warnings = unknown.slice(0, WARNINGS_MAX).map(warningOf);
    const rest = unknown.length - warnings.length;
    if (rest > 0) warnings.push(`${grouped(rest)} more unknown ${noun}s are not listed.`);
    return warnings;
  };
}
