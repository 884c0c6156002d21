import type { Range } from './facts/limits.ts';
import { span } from './format.ts';

/** What an option may be: `wants` completes "… must be". */
interface OptionCheck {
  readonly fits: (value: unknown) => boolean;
  readonly wants: string;
}
/** One check for each option. */
export type OptionChecks<Options> = Readonly<Record<keyof Options, OptionCheck>>;

const isText = (value: unknown): value is string => typeof value === 'string';
export const areTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);

export const TEXT: OptionCheck = { fits: isText, wants: 'a string' };
export const TEXTS: OptionCheck = { fits: areTexts, wants: 'an array of strings' };
export const FLAG: OptionCheck = { fits: (value) => typeof value === 'boolean', wants: 'true or false' };
export const within = (range: Range): OptionCheck => ({
  fits: (value) => typeof value === 'number' && value >= range.min && value <= range.max,
  wants: `a number from ${span(range)}`,
});

/**
 * Throws a TypeError for options that are no object, an option that does not exist, since a misspelled one would
 * silently be a default, and a value that does not fit. `taker`: whose options they are. Undefined values count as
 * absent.
 */
export function checkOptions(taker: string, given: unknown, checks: Readonly<Record<string, OptionCheck>>): void {
  if (typeof given !== 'object' || given === null) throw new TypeError(`${taker}: the options must be an object.`);
  for (const [name, value] of Object.entries(given)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined)
      throw new TypeError(`${taker} has no option ${name}; it has ${Object.keys(checks).join(', ')}.`);
    if (value !== undefined && !check.fits(value)) throw new TypeError(`${taker}: ${name} must be ${check.wants}.`);
  }
}
