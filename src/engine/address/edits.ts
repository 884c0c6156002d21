/** Edit distance between short names, and which single edits are typos rather than another name. */

/**
 * Restricted Damerau–Levenshtein distance (optimal string alignment): insertion, deletion, substitution and
 * transposition of adjacent characters cost 1. Domain labels only: both at most 63 characters, else Infinity.
 */
export function distance(a: string, b: string): number {
  if (a.length > 63 || b.length > 63) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

const ROWS = ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'];
const NEIGHBOURS = new Set<string>();
const pair = (a: string, b: string): void => {
  NEIGHBOURS.add(a + b).add(b + a);
};
for (const [r, row] of ROWS.entries()) {
  for (const [i, key] of [...row].entries()) {
    for (const near of [row[i + 1], ROWS[r + 1]?.[i - 1], ROWS[r + 1]?.[i]]) if (near) pair(key, near);
  }
}
// These look alike; they are not adjacent keys.
pair('i', 'l');
pair('1', 'l');
pair('1', 'i');

/** Adjacent keys on a QWERTY keyboard, or characters that look alike. */
const neighbours = (a: string, b: string): boolean => NEIGHBOURS.has(a + b);

/**
 * Whether `typed`, at distance 1 from `target`, is a plausible typo: two letters swapped, one doubled or left out, an
 * adjacent key hit instead or as well. A different first letter is another name (email, ymail), and so is an added
 * plural or number.
 */
export function isFingerSlip(typed: string, target: string): boolean {
  let at = 0;
  while (at < target.length && typed[at] === target[at]) at++;
  const [was = '', is = ''] = [target[at], typed[at]];
  if (typed.length === target.length) {
    const swapped = typed[at + 1] === was && target[at + 1] === is;
    return swapped || (at > 0 && neighbours(is, was));
  }
  if (typed.length < target.length) return at > 0;
  return (
    is === typed[at - 1] ||
    (addsLetter(typed, target) && [typed[at - 1], was].some((key) => key && neighbours(is, key)))
  );
}

/** False when the added character makes it another name: a digit, a hyphen, a plural. */
export function addsLetter(typed: string, target: string): boolean {
  return typed !== `${target}s` && typed.replace(/[a-z]/g, '') === target.replace(/[a-z]/g, '');
}
