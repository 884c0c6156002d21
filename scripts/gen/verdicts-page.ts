import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { verdictsWith } from '../../src/engine/findings.ts';
import type { Verdict } from '../../src/engine/verdict.ts';
import type { Level } from '../../src/kernel/plans.ts';
import { NO_REASON_COPY, REASON_NAMES, REASONS, reasonAnchor, type VerdictCopy } from '../../src/kernel/reasons.ts';
import { ROOT } from '../fresh.mjs';
import { table } from './markdown.ts';

const PAGE = join(ROOT, 'docs/verdicts.md');
const HEAD = ['`reason`', '`status`', '`deliverability`', 'credits', 'meaning', 'what to do'];
/** The generated tables; the text around them is written by hand. */
const BLOCK = /(<!-- (mx|smtp) verdicts: .*-->\n)[\s\S]*?(<!-- end -->)/g;

/** docs/verdicts.md with its tables of reasons, generated from the tables of engine and kernel. */
export function verdictsPage(): string {
  const anchored = new Set<string>();
  const row = (verdict: Verdict): string[] => {
    const { reason, status, deliverability, credits } = verdict;
    const { title, meaning, advice, note } = copyOf(verdict);
    const anchor = reasonAnchor(reason);
    const mark = anchored.has(anchor) ? '' : `<a id="${anchor}"></a>`;
    anchored.add(anchor);
    const text = [`**${title}.**`, meaning, note].filter(Boolean).join(' ');
    return [`${mark}\`${reason}\``, status, deliverability, String(credits), text, advice];
  };
  const rows = (level: Level): string[][] =>
    [null, ...REASON_NAMES].flatMap((reason) => verdictsWith(reason, level).map(row));
  const [mx, smtp] = [table(HEAD, rows('mx')), table(HEAD, rows('smtp'))];
  return readFileSync(PAGE, 'utf8').replaceAll(BLOCK, (_, open: string, level: string, close: string) => {
    return `${open}\n${level === 'mx' ? mx : smtp}\n${close}`;
  });
}

function copyOf({ reason, status, level }: Verdict): VerdictCopy {
  if (reason === null) return NO_REASON_COPY[level];
  const { copy } = REASONS[reason];
  return 'title' in copy ? copy : copy[status];
}
