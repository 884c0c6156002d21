interface Row {
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
}

/**
 * How many of the newest rows came after the first one shown: a number, `50+` where they are a whole page (`most`
 * rows), or null for none. Newest first.
 */
export function countNew(newest: readonly Row[], first: Row, most: number): string | null {
  const at = newest.findIndex(({ id }) => id === first.id);
  // Of an answer that is older than the rows shown, none is new.
  const newer = newest.filter((row) => row.at >= first.at).length;
  const count = at >= 0 ? at : newer;
  return count === 0 ? null : at < 0 && count >= most ? `${count}+` : String(count);
}
