import type { Range } from './facts/limits.ts';

/** Sentences in English use this format. */
const english = new Intl.NumberFormat('en-US');

/** `1,024` */
export const grouped = (n: number): string => english.format(n);

/** `1 to 1,024` */
export const span = ({ min, max }: Range): string => `${grouped(min)} to ${grouped(max)}`;

/** `16 KiB` */
export const kibibytes = (bytes: number): string => `${grouped(bytes / 1024)} KiB`;

/** `1 day`, `30 days` */
export const counted = (n: number, one: string, many = `${one}s`): string => `${grouped(n)} ${n === 1 ? one : many}`;

/** `"a", "b" or "c"` */
export function choice(words: readonly string[]): string {
  const quoted = words.map((word) => `"${word}"`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}
