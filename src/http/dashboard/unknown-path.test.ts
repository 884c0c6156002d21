import { expect, it } from 'vitest';
import type { Route } from '../route.ts';
import { Router } from '../router.ts';
import { withoutSlash } from './unknown-path.ts';

it('a path of nothing but slashes up to its last character is read once', () => {
  // A pattern that begins anew at each slash takes minutes for it.
  const path = `${'/'.repeat(1_000_000)}x`;
  expect(withoutSlash(new Router<Route>([]), path, path)).toBeNull();
});
