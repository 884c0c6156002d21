/** A verification for an account with ten million outcomes, against one for an account with ten; and reports. */
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { AccountId } from '../src/store/store.ts';
import { whyNoPostgres } from '../tests/lab/postgres.ts';
import { type Loader, type LoadSample, posts, startLoader } from './apparatus/load.ts';
import { interleave, median, medianRatio } from './apparatus/measure.ts';
import { DOMAINS, emails } from './apparatus/names.ts';
import { SERVED_POSTGRES, startServedPostgres } from './apparatus/postgres-server.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';
import { ensureBuilt, prepareGround, startService, verifyOnce } from './apparatus/service.ts';

const MANY = 10_000_000;
const FEW = 10;
/** After this time no more are added, and the section says how many there are. */
const FILL_MS = 60_000;
const BATCH = 250_000;
const CONNECTIONS = 64;
const ROUNDS = 9;
const SECONDS = 1.2;
const WARM_UP_ROUNDS = 3;
const AIM = 1.1;
const ROWS_PER_REPORT = 1_000;
const REPORTS_PER_ROUND = 8;
const REPORTERS = 4;
/** Of one report that nothing runs beside. */
const AIM_MS = 50;

/** Mailboxes are spread over all keys, as HMACs are: six octets that count in such steps, and a fixed rest. */
const STEP = Math.floor(2 ** 48 / MANY);
const REST = '0'.repeat(35);
function mailbox(i: number): string {
  const octets = Buffer.alloc(6);
  octets.writeUIntBE(i * STEP, 0, 6);
  return octets.toString('base64url') + REST;
}
const POSTGRES_MAILBOX = `translate(encode(substring(int8send(i * ${STEP}) FROM 3), 'base64'), '+/', '-_') || '${REST}'`;

/** The rows from `first` on, in SQL that both databases know. */
const rows = (account: AccountId, first: number, end: number, mailboxOf: string): string =>
  `INSERT INTO outcomes (account_id, mailbox, class, at, domain, source)
   WITH RECURSIVE n(i) AS (SELECT CAST(${first} AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < ${end - 1})
   SELECT '${account}', ${mailboxOf}, 'delivered', ${Date.now()} - i, 'domain-' || (i % 7919) || '${REST}', 'bench' FROM n`;

/** As reports would leave them: what is learnt of one kind of verdict, and that there is something to read. */
const learnt = (account: AccountId): string[] => [
  `INSERT INTO outcome_sums (account_id, kind, key, sent, bounced, predicted)
   VALUES ('${account}', 'verdict', '["unknown",null,"mx",null]', 1000, 20, 0)`,
  `UPDATE accounts SET outcomes_version = 1 WHERE id = '${account}'`,
];

interface Database {
  readonly mailboxOf: string;
  execute(text: string): Promise<unknown>;
  end(): Promise<void>;
}

async function openDatabase(url: string): Promise<Database> {
  if (!url.startsWith('sqlite:')) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('SET synchronous_commit = off; SET jit = off');
    return {
      mailboxOf: POSTGRES_MAILBOX,
      execute: (text) => client.query(text),
      async end() {
        await client.query('VACUUM ANALYZE outcomes');
        await client.query('CHECKPOINT');
        await client.end();
      },
    };
  }
  const db = new DatabaseSync(url.slice('sqlite:'.length));
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144');
  db.function('mailbox', { deterministic: true }, (i) => mailbox(Number(i)));
  return {
    mailboxOf: 'mailbox(i)',
    execute: async (text) => db.exec(text),
    async end() {
      db.exec('PRAGMA journal_mode = WAL');
      db.close();
    },
  };
}

/** Returns how many outcomes `many` has then. */
async function fill(url: string, many: AccountId, few: AccountId): Promise<number> {
  const database = await openDatabase(url);
  const began = performance.now();
  let count = 0;
  while (count < MANY && performance.now() - began < FILL_MS) {
    const end = Math.min(MANY, count + BATCH);
    await database.execute(rows(many, count, end, database.mailboxOf));
    count = end;
  }
  await database.execute(rows(few, 0, FEW, database.mailboxOf));
  for (const text of [...learnt(many), ...learnt(few)]) await database.execute(text);
  await database.end();
  return count;
}

/** Reports of mail to addresses that were verified before. No outcome comes twice. */
function reports(): readonly object[] {
  const bodies: object[] = [];
  const now = Date.now();
  for (let i = 0; i < REPORTS_PER_ROUND * (ROUNDS + 1); i += 1) {
    const outcomes = emails(ROWS_PER_REPORT).map((email, n) => ({
      email,
      at: new Date(now - i).toISOString(),
      ...(n % 20 === 0 ? { outcome: 'bounced', diagnostic: '550 5.1.1 User unknown' } : { outcome: 'delivered' }),
    }));
    bodies.push({ outcomes });
  }
  return bodies;
}

async function against(loader: Loader, engine: string, url?: string): Promise<{ count: number; figures: Figure[] }> {
  const ground = await prepareGround(url);
  const [many, few, none] = [await ground.account(), await ground.account(), await ground.account()];
  const count = await fill(ground.store, many.id, few.id);
  const service = await startService(ground);
  for (const domain of DOMAINS) await verifyOnce(service.port, few.key, `jane@${domain}`);
  const bodies = emails(4096).map((email) => ({ email }));
  const verifying = (key: string) => {
    const requests = posts('/v1/verify', key, bodies);
    return () => loader.run(service.pid, { port: service.port, connections: CONNECTIONS, requests, seconds: SECONDS });
  };
  const verify = { many: verifying(many.key), few: verifying(few.key), none: verifying(none.key) };
  await interleave(WARM_UP_ROUNDS, verify);
  const verified = await interleave(ROUNDS, verify);
  const reporting = (key: string, connections: number) => {
    const requests = posts('/v1/outcomes', key, reports());
    const next = () => requests.splice(0, REPORTS_PER_ROUND);
    const load = { port: service.port, connections, seconds: FILL_MS / 1_000, count: REPORTS_PER_ROUND };
    return () => loader.run(service.pid, { ...load, requests: next() });
  };
  const report = { many: reporting(many.key, REPORTERS), few: reporting(few.key, REPORTERS) };
  await interleave(1, report);
  const reported = await interleave(ROUNDS, report);
  const alone = { many: reporting(many.key, 1), few: reporting(few.key, 1) };
  await interleave(1, alone);
  const single = await interleave(ROUNDS, alone);
  await service.stop();
  await ground.clear();
  return { count, figures: figuresOf(engine, count, verified, { reported, single }) };
}

function figuresOf(
  engine: string,
  count: number,
  verified: Readonly<Record<'many' | 'few' | 'none', readonly LoadSample[]>>,
  {
    reported,
    single,
  }: Readonly<Record<'reported' | 'single', Readonly<Record<'many' | 'few', readonly LoadSample[]>>>>,
): Figure[] {
  const compare = (
    what: string,
    [ours, theirs]: readonly (readonly LoadSample[])[],
    [field, unit]: readonly ['cpuMicros' | 'perSecond' | 'p50', string],
    aim?: number,
  ): Figure => {
    const [a, b] = [(ours ?? []).map((one) => one[field]), (theirs ?? []).map((one) => one[field])];
    const found = medianRatio(a, b);
    const shown = { value: `${number(median(a))}${unit}`, floor: `${number(median(b))}${unit}`, ratio: ratio(found) };
    const met = aim !== undefined && { aim: { text: `≤ ${aim}`, met: found <= aim } };
    return { what: `${engine}: ${what}`, ...shown, ...(met || {}) };
  };
  const [cpu, perSecond, latency] = [
    ['cpuMicros', ' µs'],
    ['perSecond', ''],
    ['p50', ' ms'],
  ] as const;
  const [more, fewer] = [count.toLocaleString('en-US'), `${FEW}`];
  const [growth, first] = [
    [verified.many, verified.few],
    [verified.few, verified.none],
  ];
  const [reports, alone] = [
    [reported.many, reported.few],
    [single.many, single.few],
  ];
  return [
    compare(`CPU of a verification, ${more} outcomes relative to ${fewer}`, growth, cpu, AIM),
    compare(`verifications per second, ${more} outcomes relative to ${fewer}`, growth, perSecond),
    compare(`CPU of a verification, ${fewer} outcomes relative to none`, first, cpu),
    compare(`CPU of a report of 1,000, at ${more} outcomes relative to ${fewer}`, reports, cpu),
    compare(
      `a report of 1,000 beside ${REPORTERS - 1} others, median, at ${more} outcomes relative to ${fewer}`,
      reports,
      latency,
    ),
    {
      ...compare(`a report of 1,000 alone, median, at ${more} outcomes relative to ${fewer}`, alone, latency),
      aim: { text: `≤ ${AIM_MS} ms`, met: median(single.many.map(({ p50 }) => p50)) <= AIM_MS },
    },
  ];
}

export const outcomes: Bench = {
  name: 'outcomes',
  title: 'Outcomes',
  async run() {
    ensureBuilt();
    const loader = await startLoader();
    const onSqlite = await against(loader, 'SQLite');
    const why = whyNoPostgres();
    const postgres = why === null ? await startServedPostgres() : null;
    const onPostgres = postgres && (await against(loader, 'PostgreSQL', postgres.url));
    await postgres?.stop();
    await loader.end();
    const counts = Object.entries({ SQLite: onSqlite, PostgreSQL: onPostgres }).flatMap(([engine, found]) =>
      found === null || found.count === MANY ? [] : `${found.count.toLocaleString('en-US')} on ${engine}`,
    );
    const fewer =
      counts.length === 0 ? '' : ` In the minute that is given to write them there were ${counts.join(', ')}.`;
    return {
      how:
        `POST /v1/verify (mx level, DNS cached, ${CONNECTIONS} connections) for an account with ${MANY.toLocaleString('en-US')} outcomes ` +
        `relative to one with ${FEW}, and that relative to one with none; the addresses are others than those of the ` +
        `outcomes.${fewer} Then POST /v1/outcomes with ${ROWS_PER_REPORT.toLocaleString('en-US')} outcomes of addresses that were ` +
        `verified, one in 20 a bounce, none reported before, ${REPORTERS} connections or one. ${ROUNDS} rounds of ${SECONDS} s, or ` +
        `${REPORTS_PER_ROUND} reports. ${SERVED_POSTGRES}`,
      figures: [...onSqlite.figures, ...(onPostgres?.figures ?? [])],
      leftOut: why === null ? [] : [`PostgreSQL, because ${why}.`],
    };
  },
};
