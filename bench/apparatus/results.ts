/** Results of a benchmark, and results.md: one section per benchmark, with commit and machine. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

export interface Figure {
  readonly what: string;
  readonly value: string;
  /** The floor's own figure in the same run. */
  readonly floor?: string;
  readonly ratio?: string;
  /** The target, and whether it was met. */
  readonly aim?: { readonly text: string; readonly met: boolean };
}

export interface Finding {
  /** One or two sentences: what was measured, the floor, and the number of rounds. */
  readonly how: string;
  readonly figures: readonly Figure[];
  /** What could not be measured here, and why. */
  readonly leftOut?: readonly string[];
}

export interface Bench {
  readonly name: string;
  /** Of its section. */
  readonly title: string;
  run(): Promise<Finding>;
}

const FILE = new URL('../results.md', import.meta.url);

const HEAD = `# Measurements

Written by \`npm run bench\`; \`npm run bench -- NAME\` measures only that section. Figures are medians of interleaved runs
(A B A B …), each next to its floor from the same run. Absolute numbers depend on the machine; ratios hardly do.
`;

const git = (...args: string[]): string => {
  try {
    return execFileSync('git', args, { encoding: 'utf8', cwd: new URL('.', import.meta.url), stdio: 'pipe' }).trim();
  } catch {
    return '';
  }
};

/** Commit, Node, CPU; per section, because sections may be measured on different days. */
function circumstances(): string {
  const commit = git('rev-parse', '--short=12', 'HEAD') || 'no commit';
  const changed = git('status', '--porcelain', '--', ':/src', ':/data', ':/migrations') === '' ? '' : ' with changes';
  const cores = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `Commit ${commit}${changed} · Node ${process.version} · ${cores.length} × ${cores[0]?.model ?? 'CPU'} · ${memory} GiB`;
}

function aimOf(aim: Figure['aim']): string {
  if (aim === undefined) return '';
  return `${aim.text} ${aim.met ? '✓' : '✗'}`;
}

function sectionOf(title: string, finding: Finding): string {
  const rows = finding.figures.map(
    (f) => `| ${f.what} | ${f.value} | ${f.floor ?? ''} | ${f.ratio ?? ''} | ${aimOf(f.aim)} |`,
  );
  const table = ['| | measured | floor | ratio | aim |', '|---|---|---|---|---|', ...rows];
  const leftOut = (finding.leftOut ?? []).map((sentence) => `Skipped: ${sentence}`);
  return [`## ${title}`, finding.how, table.join('\n'), ...leftOut, circumstances()].join('\n\n');
}

/** Replaces or adds the section with this title; `titles` is the order of the page. */
export function record(title: string, finding: Finding, titles: readonly string[]): string {
  const sections = new Map<string, string>();
  const text = existsSync(FILE) ? readFileSync(FILE, 'utf8') : '';
  for (const part of text.split(/^(?=## )/m).slice(1)) {
    sections.set(part.slice(3, part.indexOf('\n')), part.trim());
  }
  const section = sectionOf(title, finding);
  sections.set(title, section);
  const ordered = titles.map((title) => sections.get(title)).filter((part) => part !== undefined);
  writeFileSync(FILE, `${[HEAD.trim(), ...ordered].join('\n\n')}\n`);
  return section;
}

/** Three significant digits, with thousands separators. */
export const number = (value: number): string =>
  Number(value.toPrecision(3)).toLocaleString('en-US', { maximumFractionDigits: 3 });
export const ratio = (value: number): string => value.toFixed(2);
