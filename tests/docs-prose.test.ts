/** How the pages are written: wrapped, in one spelling. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../scripts/fresh.mjs';

const COLUMNS = 120;
/** Pages that programs write, with a line for each description. */
const GENERATED = ['docs/api.md', 'docs/metrics.md', 'bench/results.md', 'data/SOURCES.md'];
const BRITISH =
  /\b(?:licenc(?:e|es|ed)|(?:cancel|label|model|travel|signal|dial)l(?:ed|ing)|colours?|behaviours?|favour(?:s|ite)?|honours?|catalogues?|centres?|grey|(?:recogn|organ|normal|summar|author|util)is(?:e|es|ed|ing|ation))\b/gi;

const pages = execFileSync('git', ['ls-files', '-z', '*.md'], { cwd: ROOT, encoding: 'utf8' })
  .split('\0')
  .filter((path) => path !== '' && !GENERATED.includes(path));

/** Lines of prose with their numbers: no code, tables, headings, pictures and definitions of links. */
function proseOf(page: string): [line: number, text: string][] {
  let fence: string | null = null;
  return readFileSync(join(ROOT, page), 'utf8')
    .split('\n')
    .flatMap((text, at): [number, string][] => {
      const [, opens = null] = /^\s*(```+|~~~+)/.exec(text) ?? [];
      if (fence !== null || opens !== null) {
        if (fence === null) fence = opens;
        else if (text.trim() === fence) fence = null;
        return [];
      }
      return /^(?: {4}|\s*[#|<]|\s*!\[|\s*\[[^\]]+\]: )/.test(text) ? [] : [[at + 1, text]];
    });
}

it('lines of prose are wrapped', () => {
  const long = pages.flatMap((page) =>
    proseOf(page)
      // A link, or a name in quotes, is in one piece.
      .filter(([, text]) => text.length > COLUMNS && /\S\s+\S/.test(text.trim().slice(0, COLUMNS)))
      .map(([line, text]) => `${page}:${line}: ${text.length} columns`),
  );
  expect(long).toEqual([]);
});

it('words have their American spelling', () => {
  const british = pages.flatMap((page) =>
    proseOf(page).flatMap(([line, text]) =>
      [...text.replaceAll(/`[^`]*`/g, '').matchAll(BRITISH)].map(([word]) => `${page}:${line}: ${word}`),
    ),
  );
  expect(british).toEqual([]);
  expect('the licence was cancelled, of a grey colour'.match(BRITISH)).toEqual([
    'licence',
    'cancelled',
    'grey',
    'colour',
  ]);
});

/** A relative pronoun behind its noun: after a comma or preposition, or with the verb of its clause. */
const RELATIVE =
  /(?:,|\b(?:in|of|from|to|for|with|by|on|at|those|one|ones|people|person)) (?:which|who|whom|whose)\b|[a-z*)] that (?:is|are|was|were|has|have|had|does|do|did|can|may|must|will|cannot|comes?|came|needs?|knows?|takes?|fails?|gives?)\b/g;

/** Paragraphs and items of lists, each as one line with the number of its first. */
function paragraphsOf(page: string): [line: number, text: string][] {
  const paragraphs: [line: number, text: string][] = [];
  let last = 0;
  for (const [line, text] of proseOf(page)) {
    const open = paragraphs.at(-1);
    if (open === undefined || line !== last + 1 || /^\s*(?:[-*]|\d+\.|$)/.test(text)) paragraphs.push([line, text]);
    else open[1] += ` ${text}`;
    if (text.trim() !== '') last = line;
  }
  return paragraphs;
}

// Not every relative clause is found, as "that" has other uses; what is found is one.
it('no sentence has two relative clauses', () => {
  const nested = pages.flatMap((page) =>
    paragraphsOf(page).flatMap(([line, text]) =>
      text
        .replaceAll(/`[^`]*`/g, 'x')
        .split(/(?<=[.!?:;]) +/)
        .filter((sentence) => (sentence.match(RELATIVE)?.length ?? 0) > 1)
        .map((sentence) => `${page}:${line}: ${sentence}`),
    ),
  );
  expect(nested).toEqual([]);
  expect('a host that has a port, which is open to those who ask'.match(RELATIVE)).toHaveLength(3);
});
