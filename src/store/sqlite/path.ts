/** `sqlite:PATH` → PATH. Throws when there is none. */
export function pathOf(url: string): string {
  const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
  if (path === '') throw new Error('The store\'s URL names no file: write "sqlite:./data/mailvet.db".');
  return path;
}
