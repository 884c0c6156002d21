import type { Command } from 'commander';
import { loadDomainData } from '../engine/data/domain-data.ts';
import { createClassifier } from '../engine/smtp/classify.ts';
import { explainReply, parseReply, type ReplyExplanation } from '../engine/smtp/explain.ts';
import { command, printable, printResult, table, UsageError } from './command.ts';

interface Flags {
  readonly json?: boolean;
  readonly mx?: string;
  readonly to: string;
}

export function replyCommand(): Command {
  return command('reply', 'Explain how an SMTP reply is read: its clauses, the rule that decides, other readings.')
    .argument('<reply>', 'the reply to RCPT, such as "550 5.1.1 User unknown"')
    .option('--mx <host>', 'the mail host that gave it, for codes that only some operators use')
    .option('--to <address>', 'the address that it was given for, which servers echo', '')
    .action((text: string, flags: Flags) => {
      const reply = parseReply(text);
      if (reply === null) {
        throw new UsageError('the reply must begin with a code from 200 to 599, such as "550 5.1.1 User unknown".');
      }
      const operator =
        flags.mx === undefined ? null : (loadDomainData().provider(flags.mx.toLowerCase())?.name ?? null);
      const account = explainReply(createClassifier(), reply, { stage: 'rcpt', operator, address: flags.to });
      printResult(flags, { ...account, operator }, textOf(account, operator));
    });
}

function textOf(account: ReplyExplanation, operator: string | null): string {
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
  return [
    `The model: ${probability} that the mailbox cannot be reached. From ${decides_from} on it decides where no rule does, or only a weak one; below ${denies_below} it denies what a rule says.`,
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
