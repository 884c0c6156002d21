/** Asks the whole table of the service, and prints what was found. */
import { setTimeout as after } from 'node:timers/promises';
import type { Lab, Member } from '../service.ts';
import { startLab } from '../service.ts';
import type { Laboratory } from './laboratory.ts';
import type { Row, Yields } from './table.ts';
import type { ASKERS } from './zone.ts';

type Asker = keyof typeof ASKERS;

/** A question of the table, what the service answered, and whether that is what the table says. */
export interface Asked {
  readonly row: Row;
  readonly time: 'first' | 'again';
  readonly expected: Yields;
  readonly found: Yields;
  readonly verdict: 'as expected' | 'wrong';
  readonly durationMs: number;
  /** Rule that read the deciding reply, and the dialogue, for the message of a test that fails. */
  readonly evidence: string;
}

/** The service, once for each asker. */
export async function startAskers(laboratory: Laboratory): Promise<Record<Asker, Lab>> {
  const start = (asker: Asker) => startLab({ MAILVET_DNS_TIMEOUT_MS: '2000', ...laboratory.options(asker) });
  return { fit: await start('fit'), unfit: await start('unfit') };
}

/**
 * Domains side by side, the questions of one domain in the order of the table. Then, one by one, those that end in a
 * refusal of the asker, each after a question that is answered: a service that is refused by one operator after the
 * other concludes that it is refused everywhere, and dials nobody any more.
 */
export async function askAll(labs: Record<Asker, Lab>, table: readonly Row[]): Promise<Asked[]> {
  const rich = { credits: 100_000, rateLimit: 100_000 };
  const members = { fit: await labs.fit.member(rich), unfit: await labs.unfit.member(rich) };
  const calm = { fit: await labs.fit.member(rich), unfit: await labs.unfit.member(rich) };
  const found = new Map<Row, Asked[]>();
  const ask = async (row: Row) => {
    found.set(row, await askRow(members[row.asker ?? 'fit'], row));
  };
  const refused = (row: Row) => row.yields.reason === 'smtp_blocked';
  const domains = new Map<string, Row[]>();
  for (const row of table.filter((one) => !refused(one))) {
    const key = `${row.asker} ${row.email.slice(row.email.lastIndexOf('@'))}`;
    domains.set(key, [...(domains.get(key) ?? []), row]);
  }
  const askDomain = async (rows: readonly Row[]) => {
    for (const row of rows) await ask(row);
  };
  await Promise.all([...domains.values()].map(askDomain));
  for (const row of table.filter(refused)) {
    await calm[row.asker ?? 'fit'].verify('anna@plain.test', { validation_type: 'smtp' });
    await ask(row);
  }
  return table.flatMap((row) => found.get(row)!);
}

async function askRow(member: Member, row: Row): Promise<Asked[]> {
  const first = await askOnce(member, row, 'first', row.yields);
  if (row.again === undefined) return [first];
  await after(row.again.afterMs);
  return [first, await askOnce(member, row, 'again', row.again.yields)];
}

async function askOnce(member: Member, row: Row, time: Asked['time'], expected: Yields): Promise<Asked> {
  const body = { email: row.email, validation_type: 'smtp', timeout_ms: row.timeoutMs ?? 15_000 };
  const { json, text } = await member.call('POST', '/v1/verify?evidence=1', body);
  if (json === null) throw new Error(`${row.email}: ${text}`);
  const fields = Object.keys(expected) as (keyof Yields)[];
  const found = Object.fromEntries(fields.map((field) => [field, json[field]])) as unknown as Yields;
  const smtp = json.evidence?.smtp;
  // What was concluded without asking anybody is no answer to the table's question.
  const dialled = !/^(asker|pace)\./.test(smtp?.rule ?? '');
  const is = (yields: Yields) => dialled && fields.every((field) => found[field] === yields[field]);
  const transcript = (smtp?.transcript ?? []) as { from: string; text: string }[];
  const lines = transcript.map((line) => `${line.from.padEnd(6)} ${line.text}`);
  return {
    row,
    time,
    expected,
    found,
    verdict: is(expected) ? 'as expected' : 'wrong',
    durationMs: json.duration_ms,
    evidence: [`rule ${smtp?.rule}`, ...lines].join('\n'),
  };
}

const MARK = { 'as expected': ' ', wrong: '✗' } as const;

export function printed(asked: readonly Asked[]): string {
  const lines = asked.map(({ row, time, found, verdict, durationMs }) => {
    const who = row.asker === 'unfit' ? `${row.server}; unfit asker` : row.server;
    const what = [found.status, found.deliverability, found.reason ?? '', found.validation_type].join(' ');
    const ask = time === 'again' ? `${who}; again` : who;
    const ends = `${String(found.credits_used).padStart(2)} ${String(durationMs).padStart(6)} ms`;
    return `${MARK[verdict]} ${ask.padEnd(49)} ${row.email.padEnd(38)} ${what.padEnd(46)} ${ends}`;
  });
  return lines.join('\n');
}
