/** The pages of the guide: those that docs/README.md lists, in its order. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ROOT } from '../fresh.mjs';
import { withTabs } from './guide-tabs.ts';

export interface GuidePage {
  /** Its last path segment at `/guide/`; empty for the first page. */
  readonly name: string;
  readonly title: string;
  /** What it covers; Markdown. */
  readonly covers: string;
  /** Its Markdown, with links to other pages of the guide and with tabs in place of requests to the API. */
  readonly text: string;
}

interface GuideSection {
  readonly title: string;
  readonly pages: readonly GuidePage[];
}

/** Pages from outside of docs/, by their path in the repository. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'sdk/README.md': 'client',
  'SECURITY.md': 'security',
  'SUPPORT.md': 'support',
  'CONTRIBUTING.md': 'contributing',
};

/**
 * Before the paths of the service that are none of the guide's: VitePress would put them below `/guide`. Taken out
 * after the build.
 */
export const OUTSIDE = 'outside-of-guide:';

const START = 'docs/README.md';

/** The page of a file of the repository; null where it is none. */
function pageOf(path: string): string | null {
  if (path === START) return '';
  const inDocs = /^docs\/((?:[\w-]+\/)?[\w-]+)\.md$/.exec(path)?.[1];
  return ELSEWHERE[path] ?? inDocs?.replace(/\/README$/, '').replace('/', '-') ?? null;
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** A link of a Markdown text: `[label](target#anchor)`, images included. */
const LINK = /(!?\[(?:[^\][]|\[[^\]]*\])*\])\(([^()\s#]*)(#[^()\s]*)?\)/g;

/**
 * A page with its links as the guide needs them. Files that are no pages have no address there: what remains is the
 * label, with the path in the repository.
 */
function textOf(path: string): string {
  return withTabs(read(path)).replace(LINK, (whole: string, label: string, target: string, anchor = '') => {
    if (/^[a-z]+:/i.test(target) || target === '' || label.startsWith('!')) return whole;
    const file = posix.normalize(posix.join(posix.dirname(path), target));
    if (file === 'docs/openapi.json') return `${label}(${OUTSIDE}/openapi.json)`;
    const page = pageOf(file);
    if (page !== null) return `${label}(${page || 'index'}.md${anchor})`;
    const words = label.slice(1, -1);
    return words.includes(file) ? words : `${words} (\`${file}\`)`;
  });
}

/** A row of a table: `| [Title](file.md) | covers |`. */
const ROW = /^\| \[([^\]]+)\]\(([^)]+)\) \| (.*) \|$/;

/** The other pages of a folder whose first page is listed. */
function beside(path: string): { path: string; title: string; covers: string }[] {
  const folder = /^(docs\/[\w-]+)\/README\.md$/.exec(path)?.[1];
  if (folder === undefined) return [];
  const others = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.md') && name !== 'README.md');
  return others.sort().map((name) => {
    const title = /^# (.+)$/m.exec(read(`${folder}/${name}`))?.[1] ?? name;
    return { path: `${folder}/${name}`, title, covers: title };
  });
}

/** The first page, and all others by section. Throws where a page of docs/ is in no section. */
export function guidePages(): { readonly start: GuidePage; readonly sections: readonly GuideSection[] } {
  const sections = read(START)
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.split('\n');
      const rows = lines.flatMap((line) => {
        const [, name = '', target = '', covers = ''] = ROW.exec(line) ?? [];
        if (name === '') return [];
        const row = { path: posix.normalize(posix.join('docs', target)), title: name, covers };
        return [row, ...beside(row.path)];
      });
      return {
        title,
        pages: rows.map(({ path, ...row }) => ({ ...row, name: pageOf(path) ?? '', text: textOf(path) })),
      };
    });
  const listed = sections.flatMap(({ pages }) => pages.map(({ name }) => name));
  const missing = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => pageOf(`docs/${name.replaceAll('\\', '/')}`) ?? name)
    .filter((name) => !listed.includes(name));
  if (missing.length > 0) throw new Error(`${START} does not list ${missing.join(', ')}`);
  const start = { name: '', title: 'Mailvet documentation', covers: '', text: textOf(START) };
  return { start, sections };
}
