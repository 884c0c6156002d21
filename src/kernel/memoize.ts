/**
 * Memoizes `answer` for between `most` and twice as many recently used keys; a hit costs one lookup in a Map. Two
 * generations: when the young one is full it becomes the old one, and keys still in use move back. Nothing is allocated
 * before the first call. `answer` must be pure and never return `undefined`.
 */
export function memoizeBounded<T extends string | boolean | object | null>(
  most: number,
  answer: (key: string) => T,
): (key: string) => T {
  let young = new Map<string, T>();
  let old = young;
  return (key) => {
    const known = young.get(key);
    if (known !== undefined) return known;
    const older = old.get(key);
    const found = older === undefined ? answer(key) : older;
    if (young.size >= most) {
      old = young;
      young = new Map();
    }
    young.set(key, found);
    return found;
  };
}
