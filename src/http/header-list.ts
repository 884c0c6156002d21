/** Names in lower case. Several Set-Cookie lines are a list. */
export type ReplyHeaders = Readonly<Record<string, string | string[]>>;

/**
 * Names and values in turn. An object with as many names as a reply has is a dictionary to V8: making and
 * writing one costs four times as much.
 */
export type HeaderList = (string | string[])[];

/** Adds a header, or replaces it. */
export function putHeader(list: HeaderList, name: string, value: string | string[]): void {
  const at = placeOf(list, name);
  if (at < 0) list.push(name, value);
  else list[at + 1] = value;
}

export function putHeaders(list: HeaderList, headers: ReplyHeaders): void {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) putHeader(list, name, value);
  }
}

export function removeHeader(list: HeaderList, name: string): void {
  const at = placeOf(list, name);
  if (at >= 0) list.splice(at, 2);
}

/** Of its name; -1: nowhere. */
function placeOf(list: HeaderList, name: string): number {
  for (let at = 0; at < list.length; at += 2) if (list[at] === name) return at;
  return -1;
}
