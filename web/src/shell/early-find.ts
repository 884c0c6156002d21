import { ADDRESS_LENGTH } from '../../../src/kernel/facts/limits.ts';

/** What was typed into the palette's field before there was the palette; made by a script in index.html. */
interface EarlyFind {
  readonly query: string;
  /** Enter was pressed. */
  readonly entered: boolean;
}

/** Takes over from the field of the page. Null: it is not open. */
export function takeEarlyFind(): EarlyFind | null {
  document.documentElement.removeAttribute('data-find');
  const box = document.getElementById('early-find');
  if (box === null) return null;
  const query = box.querySelector('input')?.value.slice(0, ADDRESS_LENGTH.max) ?? '';
  box.remove();
  return { query, entered: box.dataset.entered !== undefined };
}
