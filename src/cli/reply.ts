import type { Command } from 'commander';
import { loadDomainData } from '../engine/data/domain-data.ts';
import { readOutcome } from '../engine/smtp/bounce.ts';
import { createClassifier } from '../engine/smtp/classify.ts';
import { explainReply, parseReply, type ReplyExplanation } from '../engine/smtp/explain.ts';
import { DISREGARDED, readMailReport } from '../files/mail-report.ts';
import { toIso, toIsoOrNull } from '../kernel/clock.ts';
import { MAIL_REPORT_BYTES, UNCERTAIN_REPLIES_MAX } from '../kernel/facts/limits.ts';
import { OUTCOME_CLASS_FACTS, type OutcomeClass } from '../kernel/facts/sent-mail.ts';
import type { UncertainReplyRow } from '../service/replies.ts';
import { command, optionsFrom, printable, printResult, table, UsageError, wholeNumber, withStore } from './command.ts';
import { openInputFile } from './input-file.ts';

interface ReplyFlags {
  readonly json?: boolean;
  readonly mx?: string;
  readonly to: string;
  readonly dsn?: string;
}

export function replyCommand(): Command {
  return command('reply', 'Explain how an SMTP reply is read: its clauses, the rule that decides, other readings.')
    .argument('[reply]', 'the reply to RCPT, such as "550 5.1.1 User unknown"')
    .option('--mx <host>', 'the mail host that gave it, for codes that only some operators use')
    .option('--to <address>', 'the address that it was given for, which servers echo', '')
    .option(
      '--dsn <file>',
      'explain what a bounce, a notice of delivery or a complaint counts as; - for standard input',
    )
    .action(async (text: string | undefined, flags: ReplyFlags) => {
      if ((text === undefined) === (flags.dsn === undefined))
        throw new UsageError(
          'give either a reply, such as "550 5.1.1 User unknown", or --dsn with the file of a message.',
        );
      if (flags.dsn !== undefined) return explainReport(await beginning(flags.dsn), flags);
      const reply = parseReply(text ?? '');
      if (reply === null) {
        throw new UsageError('the reply must begin with a code from 200 to 599, such as "550 5.1.1 User unknown".');
      }
      const operator =
        flags.mx === undefined ? null : (loadDomainData().provider(flags.mx.toLowerCase())?.name ?? null);
      const account = explainReply(createClassifier(), reply, { stage: 'rcpt', operator, address: flags.to });
      printResult(flags, { ...account, operator }, explanationText(account, operator));
    });
}

/** As much of a message as is read. */
async function beginning(path: string): Promise<Buffer> {
  const { handle } = path === '-' ? { handle: null } : await openInputFile(path, `--dsn ${path}`);
  const stream = handle === null ? process.stdin : handle.createReadStream();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAIL_REPORT_BYTES) break;
  }
  return Buffer.concat(chunks);
}

/** What a message from a mail server counts as, for each recipient that it names. */
async function explainReport(raw: Buffer, flags: ReplyFlags): Promise<void> {
  const { outcomes, disregarded } = await readMailReport(raw);
  const classifier = createClassifier();
  const data = loadDomainData();
  const counted = outcomes.map(({ email, outcome, at, diagnostic }) => {
    const read = readOutcome(
      classifier,
      { outcome, diagnostic, address: email },
      (host) => data.provider(host)?.name ?? null,
    );
    return {
      email,
      outcome,
      at: toIsoOrNull(at),
      diagnostic,
      class: read.class,
      counts_for: OUTCOME_CLASS_FACTS[read.class].about,
      stage: read.diagnostic?.stage ?? null,
      rule: read.reading?.rule ?? null,
      finding: read.reading?.finding ?? null,
    };
  });
  const parts = counted.map((one) => {
    const rows: [string, string][] = [
      ['recipient', one.email],
      ['outcome', one.outcome],
      ['at', one.at ?? '-'],
      ['counts as', `${OUTCOME_CLASS_FACTS[one.class].label} (${one.class})`],
      ['counts for', COUNTS_FOR[one.counts_for]],
      ['diagnostic', one.diagnostic ?? '-'],
      ['refused at', one.stage ?? '-'],
      ['rule', one.rule ?? '-'],
    ];
    return rows.map(([name, value]) => `${name.padEnd(14)} ${printable(value)}`).join('\n');
  });
  for (const { email, why } of disregarded)
    parts.push(printable(`${email === null ? 'Counts' : `${email} counts`} as nothing: ${DISREGARDED[why]}.`));
  printResult(flags, { outcomes: counted, disregarded }, parts.join('\n\n'));
}

const COUNTS_FOR = {
  address: 'the address',
  sender: 'the sender; for or against no verdict',
  nobody: 'nobody',
} as const satisfies Record<(typeof OUTCOME_CLASS_FACTS)[OutcomeClass]['about'], string>;

function explanationText(account: ReplyExplanation, operator: string | null): string {
  const rows: [string, string][] = [
    ['read as', account.read_as],
    ['operator', operator ?? '-'],
    ['enhanced code', account.enhanced_code ?? '-'],
    ['finding', account.finding],
    ['about', account.meaning],
    ['rule', account.rule],
    ['confidence', account.confidence],
    ['decided by', account.decided_by],
  ];
  const parts = [rows.map(([name, value]) => `${name.padEnd(14)} ${printable(value)}`).join('\n')];
  if (account.clauses.length > 0) {
    const clauses = account.clauses.map(({ subject, predicate, words, rule }) => [subject, predicate, words, rule]);
    parts.push(table(clauses, ['SUBJECT', 'PREDICATE', 'WORDS', 'RULE']));
  }
  if (account.alternatives.length > 0) {
    const others = account.alternatives.map(({ rule, finding }) => [rule, finding]);
    parts.push(table(others, ['OTHER READING', 'FINDING']));
  }
  if (account.model !== null) parts.push(...modelOf(account.model));
  return parts.join('\n\n');
}

function modelOf(model: NonNullable<ReplyExplanation['model']>): string[] {
  const { probability, decides_from, denies_below, classes, features_for, features_against } = model;
  const rows = features_for.length > features_against.length ? features_for : features_against;
  const cells = rows.map((_, at) =>
    [features_for[at], features_against[at]].flatMap((one) => [one?.feature, one?.weight]),
  );
  const decides =
    decides_from === null
      ? 'Of such a reply, only rules say that the mailbox is dead'
      : `From ${decides_from} on it calls such a mailbox dead`;
  return [
    `The model: ${probability} that the mailbox cannot be reached. ${decides}; below ${denies_below} it denies that a mailbox is dead.`,
    table(
      classes.filter(({ share }) => share >= 0.01).map(({ name, share }) => [name, share]),
      ['CLASS', 'SHARE'],
    ),
    table(
      cells.map((row) => row.map((cell) => cell ?? null)),
      ['FOR', 'WEIGHT', 'AGAINST', 'WEIGHT'],
    ),
  ];
}

const REPLIES_LIMIT = { min: 1, max: UNCERTAIN_REPLIES_MAX, default: 100 } as const;

const uncertainReplyJson = ({ enhanced, firstSeen, lastSeen, ...row }: UncertainReplyRow) => ({
  ...row,
  enhanced_code: enhanced,
  first_seen: toIso(firstSeen),
  last_seen: toIso(lastSeen),
});

export const repliesCommand = (): Command =>
  command('replies', 'List replies of mail servers that were read with low confidence.', 'replies')
    .option('--unmatched', 'only those that no rule matched')
    .option(
      '--limit <n>',
      'number of kinds',
      wholeNumber('--limit', REPLIES_LIMIT.min, REPLIES_LIMIT.max),
      REPLIES_LIMIT.default,
    )
    .action(async (flags: { json?: boolean; unmatched?: boolean; limit: number }) => {
      await withStore(optionsFrom(flags, 'replies'), async (store) => {
        const query = { unmatched: flags.unmatched === true, limit: flags.limit };
        const { items, total } = await store.uncertainReplies.list(query);
        const rows = items.map(uncertainReplyJson).map((one) => {
          const { count, operator, code, enhanced_code, rule, finding, first_seen, last_seen, template } = one;
          return [count, operator, code, enhanced_code, rule, finding, first_seen, last_seen, printable(template)];
        });
        const head = ['COUNT', 'OPERATOR', 'CODE', 'ENHANCED', 'RULE', 'FINDING', 'FIRST SEEN', 'LAST SEEN', 'TEXT'];
        const more = total > items.length ? `\n${total - items.length} more` : '';
        printResult(flags, items.map(uncertainReplyJson), `${table(rows, head)}${more}`);
      });
    });
