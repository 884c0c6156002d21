import type { Command } from 'commander';
import { toIso } from '../kernel/clock.ts';
import { UNCERTAIN_REPLIES_MAX } from '../kernel/facts/limits.ts';
import type { UncertainReplyRow } from '../service/replies.ts';
import { command, optionsFrom, printable, printResult, table, wholeNumber, withStore } from './command.ts';

const LIMIT = { min: 1, max: UNCERTAIN_REPLIES_MAX, default: 100 } as const;

const toJson = ({ enhanced, firstSeen, lastSeen, ...row }: UncertainReplyRow) => ({
  ...row,
  enhanced_code: enhanced,
  first_seen: toIso(firstSeen),
  last_seen: toIso(lastSeen),
});

export const repliesCommand = (): Command =>
  command('replies', 'List replies of mail servers that were read with low confidence.', 'replies')
    .option('--unmatched', 'only those that no rule matched')
    .option('--limit <n>', 'number of kinds', wholeNumber('--limit', LIMIT.min, LIMIT.max), LIMIT.default)
    .action(async (flags: { json?: boolean; unmatched?: boolean; limit: number }) => {
      await withStore(optionsFrom(flags, 'replies'), async (store) => {
        const query = { unmatched: flags.unmatched === true, limit: flags.limit };
        const { items, total } = await store.uncertainReplies.list(query);
        const rows = items.map(toJson).map((one) => {
          const { count, operator, code, enhanced_code, rule, finding, first_seen, last_seen, template } = one;
          return [count, operator, code, enhanced_code, rule, finding, first_seen, last_seen, printable(template)];
        });
        const head = ['COUNT', 'OPERATOR', 'CODE', 'ENHANCED', 'RULE', 'FINDING', 'FIRST SEEN', 'LAST SEEN', 'TEXT'];
        const more = total > items.length ? `\n${total - items.length} more` : '';
        printResult(flags, items.map(toJson), `${table(rows, head)}${more}`);
      });
    });
