import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Verdict, verdictsWith } from '../../src/engine/findings.ts';
import type { Level } from '../../src/kernel/facts/plans.ts';
import {
  NO_REASON_COPY,
  REASON_NAMES,
  REASONS,
  type Reason,
  reasonAnchor,
  type Status,
  type VerdictCopy,
} from '../../src/kernel/facts/reasons.ts';
import { ROOT } from '../fresh.mjs';
import { table } from './markdown.ts';

const PAGE = join(ROOT, 'docs/verdicts.md');
const HEAD = ['`reason`', '`status`', '`deliverability`', 'credits', 'meaning', 'what to do'];
/** The generated tables; the text around them is written by hand. */
const BLOCK = /(<!-- (mx|smtp) verdicts: .*-->\n)[\s\S]*?(<!-- end -->)/g;

/** Markdown for the page alone: fields of the reply that say more. */
const NOTES: Readonly<Partial<Record<Reason, string | Readonly<Record<Status, string>>>>> = {
  blocked_by_filter: '`checks.filter` names the [filter](filters.md).',
  invalid_format: '`checks.syntax` has the [error code](syntax-errors.md) and its position.',
  disposable_domain: '`checks.disposable.matched` is the list entry.',
  domain_not_found: 'The suggestion is in `did_you_mean`.',
  dns_failure: '`checks.mx.failure` says how the lookup failed.',
  mailbox_full: { good: 'The server replied 4xx.', bad: 'The server replied 5xx.' },
  greylisted: 'Wait `retry_after` seconds where it is set.',
  smtp_temporary_failure: 'Wait `retry_after` seconds where it is set.',
  smtp_timeout: 'Also given when the rate limit for this operator left no time to connect before the deadline.',
  smtp_blocked: 'See [asking mail servers](operating.md#asking-mail-servers).',
  smtp_unverifiable: 'Yahoo accepts every recipient; the extension is SMTPUTF8.',
};

/** docs/verdicts.md with its tables of reasons, generated from the tables of engine and kernel. */
export function verdictsPage(): string {
  const anchored = new Set<string>();
  const row = (verdict: Verdict): string[] => {
    const { reason, status, deliverability, credits } = verdict;
    const { title, meaning, advice } = copyOf(verdict);
    const noted = reason === null ? undefined : NOTES[reason];
    const note = typeof noted === 'object' ? noted[status] : noted;
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
