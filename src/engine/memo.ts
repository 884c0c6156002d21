/**
 * `answer`, remembering what it said: between `most` and twice as many keys, those asked for last. A key that is asked
 * for again costs one look-up in a Map. In two generations: when the young one is full it becomes the old one, and what
 * is still asked for moves back. Nothing is allocated before the first question. `answer` must always say the same of
 * the same key, and never `undefined`.
 */
export function remembering<T extends string | boolean | object | null>(
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
