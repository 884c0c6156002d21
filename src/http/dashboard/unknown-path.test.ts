import { expect, it } from 'vitest';
import { withoutSlash } from '../app.ts';
import type { Route } from '../route.ts';
import { Router } from '../router.ts';
import { PAGE_ROUTES } from './pages.ts';

it('a path of nothing but slashes up to its last character is read once', () => {
  // A pattern that begins anew at each slash takes minutes for it.
  const path = `${'/'.repeat(1_000_000)}x`;
  expect(withoutSlash(new Router<Route>([]), path, path)).toBeNull();
});

it('the URL without its slash is a path with the query, whatever form the request target has', () => {
  const router = new Router(PAGE_ROUTES);
  for (const origin of ['', 'http://other.example']) {
    expect(withoutSlash(router, '/log/', `${origin}/log/?reason=none`)).toBe('/log?reason=none');
    expect(withoutSlash(router, '/log/', `${origin}/log/`)).toBe('/log');
  }
});
