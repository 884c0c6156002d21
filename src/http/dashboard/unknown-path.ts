import type { IncomingMessage } from 'node:http';
import type { Route } from '../route.ts';
import type { Router } from '../router.ts';

/** Paths of programs: their unknown ones are errors in JSON, whoever asks. */
const NOT_PAGES = /^\/(v1|dashboard|assets)(\/|$)/;

/** Whether a person looks at the reply: browsers accept HTML by name, when they load a page. */
export const wantsPage = ({ method, headers }: IncomingMessage, path: string): boolean =>
  (method === 'GET' || method === 'HEAD') && !NOT_PAGES.test(path) && (headers.accept ?? '').includes('text/html');

/** The URL without the slash at its end, if that is a page; else null. */
export function withoutSlash(router: Router<Route>, path: string, url: string): string | null {
  let end = path.length;
  // Not by a pattern: those for an end begin anew at each slash, of which a path may have thousands.
  while (path[end - 1] === '/') end -= 1;
  const trimmed = path.slice(0, end);
  if (trimmed === path || trimmed === '') return null;
  if (router.find('GET', trimmed)?.row.access !== 'page') return null;
  const query = url.indexOf('?');
  return query < 0 ? trimmed : trimmed + url.slice(query);
}
