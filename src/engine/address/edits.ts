/** Which single edits of a name are typos rather than another name. */

const ROWS = ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'];
const NEAR = new Map<string, string[]>();
const pair = (a: string, b: string): void => {
  NEAR.set(a, [...(NEAR.get(a) ?? []), b]);
  NEAR.set(b, [...(NEAR.get(b) ?? []), a]);
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
const neighbors = (a: string, b: string): boolean => NEAR.get(a)?.includes(b) ?? false;

/** How one key went wrong. */
export type Slip = 'swapped' | 'doubled' | 'missing' | 'neighbor' | 'neighbor_added';

/**
 * The slip that turns `target` into `typed`, which is at distance 1: two letters swapped, one doubled or left out, an
 * adjacent key hit instead or as well. Null: rather another name, such as an added plural or number. `first`: the slip
 * is at the first letter.
 */
export function slipBetween(typed: string, target: string): { readonly kind: Slip; readonly first: boolean } | null {
  let at = 0;
  while (at < target.length && typed[at] === target[at]) at++;
  const [was = '', is = ''] = [target[at], typed[at]];
  const slip = (kind: Slip) => ({ kind, first: at === 0 });
  if (typed.length === target.length) {
    if (typed[at + 1] === was && target[at + 1] === is) return slip('swapped');
    return neighbors(is, was) ? slip('neighbor') : null;
  }
  if (typed.length < target.length) return slip('missing');
  if (is === typed[at - 1]) return slip('doubled');
  // A number behind a name is meant, one between two letters is not.
  const odd = /\d/.test(is) ? was !== '' : addsLetter(typed, target);
  const near = odd && [typed[at - 1], was].some((key) => key && neighbors(is, key));
  return near ? slip('neighbor_added') : null;
}

/** Every text that one slip makes of `target`. */
export function slipsOf(target: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < target.length; at++) {
    const [before, key = '', after] = [target.slice(0, at), target[at], target.slice(at + 1)];
    const next = after[0] ?? '';
    found.push(before + after, before + key + key + after);
    if (next !== '') found.push(before + next + key + after.slice(1));
    for (const near of NEAR.get(key) ?? []) found.push(before + near + after, before + near + key + after);
  }
  return found;
}

/** False when the added character makes it another name: a digit, a hyphen, a plural. */
export function addsLetter(typed: string, target: string): boolean {
  return typed !== `${target}s` && typed.replace(/[a-z]/g, '') === target.replace(/[a-z]/g, '');
}
