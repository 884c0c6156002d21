import type { IconName } from '../../parts/icon.tsx';

/** What the palette offers: a page, a record or an action. */
export interface Item {
  /** Unique; the path of what it opens, if that has one. */
  readonly id: string;
  readonly label: string;
  /** A paler second half. */
  readonly note?: string | undefined;
  readonly icon: IconName;
  /** Also found by these: an id, what others call it. */
  readonly words?: string | undefined;
  readonly run: () => void;
}

export const item = (
  id: string,
  label: string,
  icon: IconName,
  run: () => void,
  more: Pick<Item, 'note' | 'words'> = {},
): Item => ({ id, label, icon, run, ...more });

export interface Group {
  readonly title: string;
  readonly items: readonly Item[];
}

/** Of each group, the best matches. */
const SHOWN = 6;

/**
 * How well an item matches: each word of the text must be found. 3: the label begins with the text, 2: its words do, 1:
 * it contains them, 0: no match.
 */
export function scoreOf({ label, note = '', words = '' }: Item, text: string): number {
  const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
  const name = label.toLowerCase();
  const all = `${name} ${note} ${words}`.toLowerCase();
  if (!parts.every((part) => all.includes(part))) return 0;
  if (name.startsWith(parts.join(' '))) return 3;
  const starts = name.split(/[^\p{L}\p{N}]+/u);
  return parts.every((part) => starts.some((word) => word.startsWith(part))) ? 2 : 1;
}

/** The groups with what matches, best first; of equal matches, the order stays. */
export function search(groups: readonly Group[], text: string): readonly Group[] {
  const found = groups.flatMap(({ title, items }) => {
    const scored = items
      .map((item) => ({ item, score: scoreOf(item, text) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, SHOWN);
    return scored.length === 0 ? [] : [{ title, items: scored.map(({ item }) => item), best: scored[0]!.score }];
  });
  return found.toSorted((a, b) => b.best - a.best);
}

/** What a text may be the name of, beside names of records. */
export type Subject =
  | { readonly is: 'address' | 'domain' | 'text'; readonly text: string }
  | { readonly is: 'id'; readonly text: string; readonly of: keyof typeof ID_PREFIXES };

/** Prefixes of the IDs that have a page. */
const ID_PREFIXES = { ver: true, lst: true, key: true, whk: true, acc: true } as const;
const isPrefix = (prefix: string): prefix is keyof typeof ID_PREFIXES => Object.hasOwn(ID_PREFIXES, prefix);

/** Null for an empty text. */
export function subjectOf(typed: string): Subject | null {
  const text = typed.trim();
  if (text === '') return null;
  const prefix = /^([a-z]{3})_[0-9A-Za-z]{22}$/.exec(text)?.[1] ?? '';
  if (isPrefix(prefix)) return { is: 'id', text, of: prefix };
  if (/^\S+@\S+$/.test(text)) return { is: 'address', text };
  return { is: /^[^\s@/]+\.[^\s@/.]{2,}$/.test(text) ? 'domain' : 'text', text };
}
