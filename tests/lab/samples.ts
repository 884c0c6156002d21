/** The samples of the documentation: what stands between fences, as readers see it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../scripts/fresh.mjs';

export interface Sample {
  /** Path in the repository. */
  readonly page: string;
  /** After the opening fence; empty for plain text. */
  readonly language: string;
  readonly code: string;
}

/** Pages for users; those about the project itself have no samples. */
export const SAMPLE_PAGES: readonly string[] = [
  'README.md',
  'SECURITY.md',
  'SUPPORT.md',
  'sdk/README.md',
  'library/README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('.'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .sort(),
];

/** In their order. Fences in lists are indented, and so is their content; those in tabs have a label. */
export const samplesOf = (page: string): Sample[] =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^( *)```(\w*)(?: \[[^\]\n]*\])?\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = '', language = '', code = '']) => ({
      page,
      language,
      code: indent === '' ? code : code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
