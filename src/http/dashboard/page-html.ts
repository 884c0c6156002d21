import { sha256Base64 } from '../../kernel/ids.ts';
import type { Rendered } from './first-views.ts';

const ROOT = '<div id="root"></div>';
/** Fonts and scripts, each in a line of its own at the end of the page (web/vite.config.ts). */
const LOADED_LAST = /(?:^ *<(?:script type="module"|link rel="(?:module)?preload").*\n)+/m;
/**
 * An inline script waits for the styles before it, and what is in a template is not loaded: without both, scripts would
 * take most of a slow line from the styles.
 */
const LOAD_LAST = 'document.body.append(document.getElementById("last").content)';

/** What only pages with a session need soon. */
const INSIDE = /^ *<link [^>]* data-inside>\n/gm;

/** The page without a first view. `page`: the built one. */
export const withoutFirstView = (page: string): string => page.replaceAll(INSIDE, '');

/** JSON that can stand in a script element, where `<` could end it (HTML §4.12.1.3). */
const embedded = (json: string): string => json.replaceAll('<', '\\u003c');

/** The page with its first view. `page`: the built one. */
export function withFirstView(page: string, { html, account, known }: Rendered<string>): string {
  const [before = '', after = ''] = page.split(ROOT);
  // Ids of accounts have no characters that HTML escapes.
  const head = account === null ? before : before.replace('<html ', `<html data-account="${account}" `);
  const data = `<script type="application/json" id="known">${embedded(known)}</script>`;
  const end = after.replace(
    LOADED_LAST,
    (tags) =>
      `<template id="last">\n${account === null ? withoutFirstView(tags) : tags}</template>\n<script>${LOAD_LAST}</script>\n`,
  );
  return `${head}<div id="root" data-first-view>${html}</div>${data}${end}`;
}

/** Sources of our own inline scripts, for the content security policy (CSP3 §2.3.1). `page`: the built one. */
export const inlineScripts = (page: string): readonly string[] =>
  [...[...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = '']) => script), LOAD_LAST].map(
    (script) => `'sha256-${sha256Base64(script)}'`,
  );
