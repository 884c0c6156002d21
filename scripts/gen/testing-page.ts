import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decideVerdict } from '../../src/engine/findings.ts';
import { report } from '../../src/engine/report.ts';
import { TEST_OUTCOMES, type TestOutcome, testEvidence } from '../../src/engine/test-mode.ts';
import { ERRORS, PUBLIC_CODES } from '../../src/kernel/errors.ts';
import { LEVELS } from '../../src/kernel/facts/plans.ts';
import { TEST_ERRORS } from '../../src/service/test-errors.ts';
import { ROOT } from '../fresh.mjs';
import { table } from './markdown.ts';

const PAGE = join(ROOT, 'docs/testing.md');
/** The generated tables; the text around them is written by hand. */
const BLOCK = /(<!-- (outcomes|errors): .*-->\n)[\s\S]*?(<!-- end -->)/g;
const FLAGS = [
  'is_disposable',
  'is_role',
  'is_free',
  'is_relay',
  'is_catch_all',
  'is_mailbox_full',
  'is_disabled',
] as const;

const code = (text: string): string => `\`${text}\``;

/** What the service replies, at the level that the outcome needs. */
function row(name: string, outcome: TestOutcome): string[] {
  const replies = LEVELS.map((level) => {
    const evidence = testEvidence(`${name}@example.com`, level, outcome, { listVersion: '', now: 0 });
    const verdict = decideVerdict(evidence);
    if (verdict === null) throw new TypeError(`${name} has no verdict.`);
    return report(evidence, verdict, { id: '', durationMs: 0, at: 0 });
  });
  const [mx, smtp] = replies;
  if (mx === undefined || smtp === undefined) throw new TypeError('There is a level too few.');
  const needsMailbox = mx.reason !== smtp.reason || mx.status !== smtp.status;
  const flags = FLAGS.filter((flag) => smtp[flag] === true).map(code);
  const level = needsMailbox ? '`smtp`' : 'any';
  const { reason, status, deliverability } = smtp;
  return [code(`${name}@…`), level, status, deliverability, reason === null ? '' : code(reason), flags.join(', ')];
}

function errorRow(name: (typeof PUBLIC_CODES)[number]): string[] {
  const fields = Object.keys(TEST_ERRORS[name]).map(code);
  return [code(`${name}@…`), String(ERRORS[name].status), fields.join(', ')];
}

/** docs/testing.md with the tables of what test mode can be asked for. */
export function testingPage(): string {
  const tables = {
    outcomes: table(
      ['address', 'level', '`status`', '`deliverability`', '`reason`', 'true'],
      Object.entries(TEST_OUTCOMES).map(([name, outcome]) => row(name, outcome)),
    ),
    errors: table(['address', 'status', 'fields'], PUBLIC_CODES.map(errorRow)),
  };
  return readFileSync(PAGE, 'utf8').replaceAll(BLOCK, (_, open: string, which: keyof typeof tables, close: string) => {
    return `${open}\n${tables[which]}\n${close}`;
  });
}
