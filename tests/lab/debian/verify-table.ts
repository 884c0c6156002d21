/** Verifies the whole table through the service and prints the results. */
import { setTimeout as after } from 'node:timers/promises';
import type { Lab, Member } from '../service.ts';
import { startLab } from '../service.ts';
import type { Laboratory } from './laboratory.ts';
import type { Row, Yields } from './table.ts';
import type { EGRESS_HOSTS } from './zone.ts';

type Egress = keyof typeof EGRESS_HOSTS;

/** A row of the table, the service's verdict, and whether it is the expected one. */
export interface TableResult {
  readonly row: Row;
  readonly time: 'first' | 'again';
  readonly expected: Yields;
  readonly found: Yields;
  readonly verdict: 'as expected' | 'wrong';
  readonly durationMs: number;
  /** The rule that matched the deciding reply, and the dialogue, for the failure message. */
  readonly evidence: string;
}

/** One service per egress. */
export async function startServices(laboratory: Laboratory): Promise<Record<Egress, Lab>> {
  const start = (egress: Egress) => startLab({ MAILVET_DNS_TIMEOUT_MS: '2000', ...laboratory.options(egress) });
  return { fit: await start('fit'), unfit: await start('unfit') };
}

/**
 * Domains run in parallel, the rows of one domain in the order of the table. Then, one by one, those that end in a
 * rejection of the client, each after a successful check: after rejections by several operators in a row the service
 * concludes that it is rejected everywhere and stops connecting.
 */
export async function verifyTable(labs: Record<Egress, Lab>, table: readonly Row[]): Promise<TableResult[]> {
  const rich = { credits: 100_000, rateLimit: 100_000 };
  const members = { fit: await labs.fit.member(rich), unfit: await labs.unfit.member(rich) };
  const calm = { fit: await labs.fit.member(rich), unfit: await labs.unfit.member(rich) };
  const found = new Map<Row, TableResult[]>();
  const ask = async (row: Row) => {
    found.set(row, await verifyRow(members[row.egress ?? 'fit'], row));
  };
  const refused = (row: Row) => row.yields.reason === 'smtp_blocked';
  const domains = new Map<string, Row[]>();
  for (const row of table.filter((one) => !refused(one))) {
    const key = `${row.egress} ${row.email.slice(row.email.lastIndexOf('@'))}`;
    domains.set(key, [...(domains.get(key) ?? []), row]);
  }
  const askDomain = async (rows: readonly Row[]) => {
    for (const row of rows) await ask(row);
  };
  await Promise.all([...domains.values()].map(askDomain));
  for (const row of table.filter(refused)) {
    await calm[row.egress ?? 'fit'].verify('anna@plain.test', { validation_type: 'smtp' });
    await ask(row);
  }
  return table.flatMap((row) => found.get(row)!);
}

async function verifyRow(member: Member, row: Row): Promise<TableResult[]> {
  const first = await askOnce(member, row, 'first', row.yields);
  if (row.again === undefined) return [first];
  await after(row.again.afterMs);
  return [first, await askOnce(member, row, 'again', row.again.yields)];
}

async function askOnce(member: Member, row: Row, time: TableResult['time'], expected: Yields): Promise<TableResult> {
  const body = { email: row.email, validation_type: 'smtp', timeout_ms: row.timeoutMs ?? 15_000 };
  const { json, text } = await member.call('POST', '/v1/verify?evidence=1', body);
  if (json === null) throw new Error(`${row.email}: ${text}`);
  const fields = Object.keys(expected) as (keyof Yields)[];
  const found = Object.fromEntries(fields.map((field) => [field, json[field]])) as unknown as Yields;
  const smtp = json.evidence?.smtp;
  // A verdict reached without connecting does not test the row.
  const dialled = !/^(egress|pace)\./.test(smtp?.rule ?? '');
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

export function printed(asked: readonly TableResult[]): string {
  const lines = asked.map(({ row, time, found, verdict, durationMs }) => {
    const who = row.egress === 'unfit' ? `${row.server}; unfit egress` : row.server;
    const what = [found.status, found.deliverability, found.reason ?? '', found.validation_type].join(' ');
    const ask = time === 'again' ? `${who}; again` : who;
    const ends = `${String(found.credits_used).padStart(2)} ${String(durationMs).padStart(6)} ms`;
    return `${MARK[verdict]} ${ask.padEnd(49)} ${row.email.padEnd(38)} ${what.padEnd(46)} ${ends}`;
  });
  return lines.join('\n');
}
