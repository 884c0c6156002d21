/** Edit distance between short names, and the known name that an unknown one probably meant. */

/**
 * Computes the restricted Damerau–Levenshtein distance (optimal string alignment): insertion, deletion, substitution
 * and transposition of adjacent characters cost 1. It is for short names, such as domain labels: above 63 characters it
 * returns Infinity.
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

/** Allows one edit in names of up to 5 letters, two in longer ones. */
const allowedIn = (name: string): number => (name.length > 5 ? 2 : 1);
const comparedName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/**
 * Which of `known` has a spelling close to `name`, or begins with it or as it does; null: none. Case and punctuation do
 * not count, so `validationType` is `validation_type`.
 */
export function nearest<K extends string>(name: string, known: readonly K[]): K | null {
  const wanted = comparedName(name);
  if (wanted === '') return null;
  let best: { readonly name: K; readonly cost: number } | null = null;
  for (const candidate of known) {
    const text = comparedName(candidate);
    const isPart = wanted.length >= 4 && text.length >= 4 && (text.startsWith(wanted) || wanted.startsWith(text));
    const cost = isPart ? Math.min(1, distance(wanted, text)) : distance(wanted, text);
    if (cost <= allowedIn(text) && (best === null || cost < best.cost)) best = { name: candidate, cost };
  }
  return best?.name ?? null;
}
