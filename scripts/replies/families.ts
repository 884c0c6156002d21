/**
 * Families of wording: texts that share most of their words, directly or through others of the family. Deterministic;
 * quadratic in the number of texts at worst.
 */
export function familiesOf(texts: readonly string[], similarity = 0.5): readonly number[] {
  const parents = texts.map((_, index) => index);
  const root = (index: number): number => {
    let at = index;
    while (parents[at] !== at) {
      parents[at] = parents[parents[at]!]!;
      at = parents[at]!;
    }
    return at;
  };
  const wordSets = texts.map((text) => new Set(text.match(/\p{L}{2,}/gu) ?? []));
  const holders = new Map<string, number[]>();
  wordSets.forEach((words, index) => {
    const shared = new Map<number, number>();
    for (const word of words) {
      const there = holders.get(word) ?? [];
      for (const other of there) shared.set(other, (shared.get(other) ?? 0) + 1);
      holders.set(word, [...there, index]);
    }
    for (const [other, common] of shared) {
      const all = words.size + wordSets[other]!.size - common;
      if (common / all >= similarity) parents[root(index)] = root(other);
    }
  });
  return texts.map((_, index) => root(index));
}

/** Fold of each family, from 0: the largest families first, each to the smallest fold. */
export function foldsOf(families: readonly number[], folds: number): ReadonlyMap<number, number> {
  const sizes = new Map<number, number>();
  for (const family of families) sizes.set(family, (sizes.get(family) ?? 0) + 1);
  const filled = Array.from({ length: folds }, () => 0);
  const sorted = [...sizes].sort(([a, many], [b, few]) => few - many || a - b);
  return new Map(
    sorted.map(([family, size]) => {
      const fold = filled.indexOf(Math.min(...filled));
      filled[fold]! += size;
      return [family, fold];
    }),
  );
}
