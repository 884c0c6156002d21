/** Schemas of bounded values. The error message (`x-error`) names the bounds, unless the options have their own. */
import Type from 'typebox';
import type { Range } from '../kernel/facts/limits.ts';
import { grouped, span } from '../kernel/format.ts';

export const Text = (field: string, length: Range, options: object = {}) =>
  Type.String({
    ...(length.min > 0 ? { minLength: length.min } : {}),
    maxLength: length.max,
    'x-error': `${field} must have ${length.min > 0 ? span(length) : `at most ${grouped(length.max)}`} characters.`,
    ...options,
  });

/** A `default` of the range stands in the schema: its reader fills it in. */
export const WholeNumber = <R extends Range>(field: string, range: R, options: object = {}) => {
  const { min, max, ...defaults } = range;
  const schema = Type.Integer({
    minimum: min,
    maximum: max,
    'x-error': `${field} must be a whole number from ${span(range)}.`,
    ...options,
  });
  return Object.assign(schema, defaults);
};
