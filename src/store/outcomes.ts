/**
 * What became of mail that accounts sent, and the sums by which verdicts are measured: each change of rows changes them
 * in its transaction, under the lock of the account.
 */

import { sql, type Transaction } from 'kysely';
import { toIso } from '../kernel/clock.ts';
import { contradictingOutcome, groupKey, groupOf, type OutcomeSum } from '../kernel/facts/calibration.ts';
import { keysOf } from '../kernel/facts/keys-of.ts';
import { CONTRADICTIONS_LISTED } from '../kernel/facts/limits.ts';
import { OUTCOME_CLASS_FACTS, OUTCOME_CLASSES, OUTCOME_ORIGINS, type OutcomeClass } from '../kernel/facts/sent-mail.ts';
import { lockExistingAccount } from './account-rows.ts';
import { BATCH_ROWS } from './batches.ts';
import { hashedDomain, hashedMailbox, newSecret } from './charge/seen.ts';
import {
  addedOnConflict,
  numberColumn,
  OUTCOME_ROWS,
  OUTCOME_SUMS,
  OUTCOME_VERDICTS,
  type RowMaker,
  replacedOnConflict,
  rowMaker,
  type TableRows,
  textColumn,
} from './columns.ts';
import type { StorageDriver } from './driver.ts';
import { storeReply } from './idempotency.ts';
import { accountId, storable } from './rows.ts';
import type {
  AccountId,
  Contradiction,
  MailboxOutcomes,
  NewOutcome,
  OutcomeFrom,
  OutcomeOwner,
  OutcomesRecorded,
  ReplyToStore,
  SentAfter,
  Store,
} from './store.ts';
import type { Row, Tables, Trx } from './tables.ts';
import { emitEvent } from './webhooks.ts';

type StoredOutcome = Row<'outcomes'>;
type VerdictRow = Row<'outcome_verdicts'>;
type SumRow = Row<'outcome_sums'>;

const classesOf = (counts: (one: OutcomeClass) => boolean): readonly OutcomeClass[] => OUTCOME_CLASSES.filter(counts);
/** These bounced for a reason of the recipient. */
const BOUNCES = classesOf((one) => {
  const { outcome, about } = OUTCOME_CLASS_FACTS[one];
  return outcome === 'bounced' && about === 'address';
});
/** The mail has arrived: who complains has got it. */
const ARRIVALS: readonly OutcomeClass[] = ['delivered', 'complained'];
const bounces = (one: OutcomeClass): boolean => BOUNCES.includes(one);
/** Whether it says anything of the recipient. */
const measures = (one: OutcomeClass): boolean => bounces(one) || ARRIVALS.includes(one);

// Sums

const SUM_KEY = ['account_id', 'kind', 'key'] as const satisfies readonly (keyof SumRow)[];

/** Changes of sums, one for each row of them. */
class SumChanges {
  readonly #rows = new Map<string, SumRow>();

  add({ account_id, kind, key, sent, bounced, predicted }: SumRow): void {
    const id = `${account_id}\n${kind}\n${key}`;
    const row = this.#rows.get(id) ?? { account_id, kind, key, sent: 0, bounced: 0, predicted: 0 };
    row.sent += sent;
    row.bounced += bounced;
    row.predicted += predicted;
    this.#rows.set(id, row);
  }

  /** `by`: 1 for a row that was added, -1 for one that was deleted. */
  outcome({ account_id, domain, class: of }: Pick<StoredOutcome, 'account_id' | 'domain' | 'class'>, by: 1 | -1): void {
    if (measures(of))
      this.add({ account_id, kind: 'domain', key: domain, sent: by, bounced: bounces(of) ? by : 0, predicted: 0 });
  }

  /** `sent` and `bounced` say by how many they change. */
  verdict({ account_id, verdict, predicted }: VerdictRow, sent: number, bounced: number): void {
    this.add({ account_id, kind: 'verdict', key: verdict, sent, bounced, predicted: 0 });
    if (predicted === null) return;
    const key = String(Math.min(9, Math.floor(predicted / 100)));
    this.add({ account_id, kind: 'predicted', key, sent, bounced, predicted: sent * predicted });
  }

  /** Writes them. The accounts are locked; those that have changed have another version then. */
  async write(driver: StorageDriver, trx: Trx): Promise<void> {
    const rows = [...this.#rows.values()].filter(({ sent, bounced }) => sent !== 0 || bounced !== 0);
    if (rows.length === 0) return;
    await sql`${insertFrom(driver, OUTCOME_SUMS, rows)}
      ${sql.raw(addedOnConflict(OUTCOME_SUMS, SUM_KEY))}`.execute(trx);
    const fewer = rows.filter(({ sent }) => sent < 0);
    if (fewer.length === 0) return;
    await sql`DELETE FROM outcome_sums WHERE sent <= 0 AND (account_id, kind, key) IN (
      SELECT c.account_id, c.kind, c.key FROM ${driver.tableOf(OUTCOME_SUMS, fewer)})`.execute(trx);
  }
}

const insertFrom = <From>(driver: StorageDriver, rows: TableRows<From>, from: readonly From[]) => {
  const columns = sql.join(rows.columns.map((name) => sql.ref(name)));
  return sql`INSERT INTO ${sql.table(rows.table)} (${columns}) SELECT ${columns} FROM ${driver.tableOf(rows, from)}
    WHERE true`;
};

const touch = (driver: StorageDriver, trx: Trx, accounts: readonly string[]) =>
  trx
    .updateTable('accounts')
    .set((eb) => ({ outcomes_version: eb('outcomes_version', '+', 1) }))
    .where(({ ref }) => driver.oneOf(ref('id'), accounts))
    .execute();

// Recording

const outcomeId = ({ mailbox, class: of, at }: Pick<StoredOutcome, 'mailbox' | 'class' | 'at'>): string =>
  `${mailbox}\n${of}\n${at}`;

interface Given {
  readonly outcome: NewOutcome;
  readonly row: StoredOutcome;
}

/** Those that were not there; of equal ones the first. */
async function addOutcomes(driver: StorageDriver, trx: Trx, given: readonly Given[]): Promise<ReadonlySet<Given>> {
  if (given.length === 0) return new Set();
  const rows = given.map(({ row }) => row);
  const { rows: added } = await sql<Pick<StoredOutcome, 'mailbox' | 'class' | 'at'>>`
    ${insertFrom(driver, OUTCOME_ROWS, rows)} ON CONFLICT DO NOTHING RETURNING mailbox, class, at`.execute(trx);
  const left = new Set(added.map(outcomeId));
  return new Set(given.filter(({ row }) => left.delete(outcomeId(row))));
}

interface VerdictChange {
  readonly before: VerdictRow | undefined;
  readonly after: VerdictRow;
}

type BounceWords = Pick<VerdictRow, 'code' | 'template'>;
const NO_BOUNCE: BounceWords = { code: null, template: null };
/** Of several bounces, the same whichever came first. */
const ofBounces = (known: BounceWords = NO_BOUNCE, { code, template }: BounceWords): BounceWords =>
  (code ?? '') > (known.code ?? '') || (code === known.code && (template ?? '') > (known.template ?? ''))
    ? { code, template }
    : known;

/** Returns the name of a way, as the log is searched by it. */
const wayOf = (from: OutcomeFrom): string => ('connection' in from ? from.connection : from.origin);
/** As `came_from` has it, so that one is found in it. */
export const markedWay = (way: string): string => ` ${way} `;
const withWay = (ways: string | null, way: string): string =>
  ways?.includes(markedWay(way)) ? ways : `${ways ?? ''}${markedWay(way)}`;

/** What verdicts become by outcomes, in whatever order these arrive: one bounce of the recipient outweighs the rest. */
function verdictChanges(before: ReadonlyMap<string, VerdictRow>, added: Iterable<Given>, way: string): VerdictChange[] {
  const after = new Map<string, VerdictRow>();
  for (const { outcome, row } of added) {
    const { verdict } = outcome;
    if (verdict === null || !measures(outcome.class)) continue;
    const { verificationId: id, group, predicted, rule, reply } = verdict;
    const known = after.get(id) ?? before.get(id);
    const bounced = Math.max(known?.bounced ?? 0, Number(bounces(outcome.class)));
    const contradicting = contradictingOutcome(group);
    const contradicts = Number(contradicting === (bounced === 1 ? 'bounced' : 'delivered'));
    const { code, template } = bounces(outcome.class) ? ofBounces(known, outcome) : (known ?? NO_BOUNCE);
    const verdictRow = {
      account_id: row.account_id,
      verification_id: id,
      mailbox: row.mailbox,
      verdict: groupKey(group),
      predicted,
      rule,
      reply,
    };
    after.set(id, {
      ...verdictRow,
      // What the first outcome wrote stays, so that the sums still agree.
      ...known,
      at: Math.max(known?.at ?? 0, outcome.at),
      bounced,
      contradicts,
      code,
      template: contradicts === 1 ? template : null,
      came_from: withWay(known?.came_from ?? null, way),
    });
  }
  return Array.from(after.values(), (row) => ({ before: before.get(row.verification_id), after: row }));
}

async function changeVerdicts(
  driver: StorageDriver,
  trx: Trx,
  account: AccountId,
  added: Iterable<Given>,
  from: OutcomeFrom,
) {
  const all = [...added];
  const ids = [...new Set(all.flatMap(({ outcome: { verdict } }) => verdict?.verificationId ?? []))];
  if (ids.length === 0) return [];
  const mine = trx.selectFrom('outcome_verdicts').selectAll().where('account_id', '=', account);
  const known = await mine.where(({ ref }) => driver.oneOf(ref('verification_id'), ids)).execute();
  const changes = verdictChanges(new Map(known.map((row) => [row.verification_id, row])), all, wayOf(from));
  if (changes.length === 0) return [];
  const rows = changes.map(({ after }) => after);
  await sql`${insertFrom(driver, OUTCOME_VERDICTS, rows)}
    ${sql.raw(replacedOnConflict(OUTCOME_VERDICTS, VERDICT_KEY.columns))}`.execute(trx);
  return changes;
}

function toContradiction(row: VerdictRow): Contradiction {
  const { verification_id: verificationId, at, rule, reply, code, template } = row;
  const group = groupOf(row.verdict);
  return {
    verificationId,
    group,
    outcome: row.bounced === 1 ? 'bounced' : 'delivered',
    at,
    rule,
    reply,
    code,
    template,
  };
}

/** A contradiction as the API and its event show it; without the words of the mail server. */
export const contradictionObject = ({ verificationId, group, outcome, at, rule, reply, code }: Contradiction) => ({
  verification_id: verificationId,
  deliverability: group.deliverability,
  reason: group.reason,
  validation_type: group.level,
  provider: group.provider,
  outcome,
  at: toIso(at),
  rule,
  reply,
  code,
});

/** How many came on which way. The account is locked. */
async function count(trx: Trx, account: AccountId, from: OutcomeFrom, n: number, now: number): Promise<void> {
  if ('connection' in from) {
    await trx
      .updateTable('outcome_sources')
      .set((eb) => ({ received: eb('received', '+', n), last_received_at: now }))
      .where('id', '=', from.connection)
      .execute();
    return;
  }
  const row: SumRow = { account_id: account, kind: 'origin', key: from.origin, sent: n, bounced: 0, predicted: now };
  await trx
    .insertInto('outcome_sums')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(SUM_KEY).doUpdateSet((eb) => ({ sent: eb('outcome_sums.sent', '+', n), predicted: now })),
    )
    .execute();
}

/** See `Outcomes.record`. */
async function record(
  driver: StorageDriver,
  account: AccountId,
  outcomes: readonly NewOutcome[],
  from: OutcomeFrom,
  stored: ReplyToStore<OutcomesRecorded> | null,
): Promise<OutcomesRecorded> {
  const now = await driver.now();
  return driver.transaction(async (trx) => {
    await lockExistingAccount(driver, trx, account);
    const owner = { secret: await secretOf(trx, account) };
    const domains = new Map<string, string>();
    const given = outcomes.map((outcome): Given => {
      const { class: of, at, code, source } = outcome;
      const domain = domains.get(outcome.domain) ?? hashedDomain(owner, outcome.domain);
      domains.set(outcome.domain, domain);
      const mailbox = hashedMailbox(owner, outcome.mailbox);
      return { outcome, row: { account_id: account, mailbox, class: of, at, domain, code, source } };
    });
    const added = await addOutcomes(driver, trx, given);
    const changes = await changeVerdicts(driver, trx, account, added, from);
    const sums = new SumChanges();
    for (const { row } of added) sums.outcome(row, 1);
    for (const { before, after } of changes)
      sums.verdict(after, before === undefined ? 1 : 0, after.bounced - (before?.bounced ?? 0));
    await sums.write(driver, trx);
    if (added.size > 0) {
      await touch(driver, trx, [account]);
      await count(trx, account, from, added.size, now);
    }
    const fresh = changes.filter(({ before, after }) => after.contradicts === 1 && before?.contradicts !== 1);
    const contradictions = fresh.map(({ after }) => toContradiction(after));
    if (contradictions.length > 0)
      await emitEvent({ driver, trx, now }, account, 'outcomes.contradiction', {
        total: contradictions.length,
        contradictions: contradictions.slice(0, CONTRADICTIONS_LISTED).map(contradictionObject),
      });
    const results = given.map((one) => (added.has(one) ? ('recorded' as const) : ('duplicate' as const)));
    const recorded = { results, contradictions };
    await storeReply(driver, trx, account, now, stored, recorded);
    return recorded;
  });
}

// The end of outcomes

const OUTCOME_KEY = rowMaker<Pick<StoredOutcome, 'account_id' | 'mailbox' | 'class' | 'at'>>({
  account_id: textColumn((row) => row.account_id),
  mailbox: textColumn((row) => row.mailbox),
  class: textColumn((row) => row.class),
  at: numberColumn((row) => row.at),
});
const VERDICT_KEY = rowMaker<Pick<VerdictRow, 'account_id' | 'verification_id'>>({
  account_id: textColumn((row) => row.account_id),
  verification_id: textColumn((row) => row.verification_id),
});

const outcomesWithoutRows = async (
  driver: StorageDriver,
  trx: Trx,
  outcomes: readonly Pick<StoredOutcome, 'account_id' | 'domain' | 'class'>[],
  verdicts: readonly VerdictRow[],
): Promise<number> => {
  const sums = new SumChanges();
  for (const row of outcomes) sums.outcome(row, -1);
  for (const row of verdicts) sums.verdict(row, -1, -row.bounced);
  await sums.write(driver, trx);
  const accounts = [...new Set([...outcomes, ...verdicts].map((row) => row.account_id))];
  if (accounts.length > 0) await touch(driver, trx, accounts);
  return outcomes.length + verdicts.length;
};

/** Erases what became of mail to a mailbox; returns how many rows there were. The account is locked. */
export async function eraseOutcomes(
  driver: StorageDriver,
  trx: Trx,
  account: AccountId,
  mailbox: string,
): Promise<{ readonly outcomes: number; readonly verdicts: number }> {
  const owners = trx.selectFrom('seen_secrets').select('secret').where('account_id', '=', account);
  const owner = await owners.executeTakeFirst();
  if (owner === undefined) return { outcomes: 0, verdicts: 0 };
  const hashed = hashedMailbox(owner, mailbox);
  const outcomes = trx.deleteFrom('outcomes').where('account_id', '=', account).where('mailbox', '=', hashed);
  const verdicts = trx.deleteFrom('outcome_verdicts').where('account_id', '=', account).where('mailbox', '=', hashed);
  const [deleted, ended] = [await outcomes.returningAll().execute(), await verdicts.returningAll().execute()];
  await outcomesWithoutRows(driver, trx, deleted, ended);
  return { outcomes: deleted.length, verdicts: ended.length };
}

/** Deletes a batch of what is `keepMs` old or older. */
export async function purgeOutcomes(driver: StorageDriver, now: number, keepMs: number): Promise<number> {
  const until = now - keepMs;
  const { db } = driver;
  const old = db.selectFrom('outcomes').select(['account_id', 'mailbox', 'class', 'at']).where('at', '<=', until);
  const oldVerdicts = db.selectFrom('outcome_verdicts').select(['account_id', 'verification_id']);
  const found = await old.orderBy('at').limit(BATCH_ROWS).execute();
  const verdicts = await oldVerdicts.where('at', '<=', until).orderBy('at').limit(BATCH_ROWS).execute();
  const accounts = [...new Set([...found, ...verdicts].map((row) => row.account_id))];
  if (accounts.length === 0) return 0;
  return driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, accounts);
    const deleted = await deleteKeys<StoredOutcome, (typeof found)[number]>(
      driver,
      trx,
      'outcomes',
      OUTCOME_KEY,
      found,
      until,
    );
    const ended = await deleteKeys<VerdictRow, (typeof verdicts)[number]>(
      driver,
      trx,
      'outcome_verdicts',
      VERDICT_KEY,
      verdicts,
      until,
    );
    return outcomesWithoutRows(driver, trx, deleted, ended);
  });
}

/** Unless there was another outcome meanwhile. */
async function deleteKeys<R, From>(
  driver: StorageDriver,
  trx: Trx,
  table: 'outcomes' | 'outcome_verdicts',
  key: RowMaker<From>,
  found: readonly From[],
  until: number,
): Promise<R[]> {
  if (found.length === 0) return [];
  const columns = sql.join(key.columns.map((name) => sql.ref(name)));
  const { rows } = await sql<R>`DELETE FROM ${sql.table(table)} WHERE at <= ${until}
    AND (${columns}) IN (SELECT ${columns} FROM ${driver.tableOf(key, found)}) RETURNING *`.execute(trx);
  return rows;
}

// What a verification asks for.

const MAILBOXES = rowMaker<{ readonly mailbox: string; readonly domain: string; readonly wanted: number }>({
  wanted: numberColumn(({ wanted }) => wanted),
  mailbox: textColumn(({ mailbox }) => mailbox),
  domain: textColumn(({ domain }) => domain),
});

/** The latest time of one of the classes: each is the end of a range of the index. */
function latest(account: AccountId, classes: readonly OutcomeClass[]) {
  const one = (of: OutcomeClass) => sql`SELECT max(o.at) AS at FROM outcomes AS o
    WHERE o.account_id = ${account} AND o.mailbox = c.mailbox AND o.class = ${of}`;
  return sql<number | null>`(SELECT max(at) FROM (${sql.join(classes.map(one), sql` UNION ALL `)}) AS each_class)`;
}

/** See `Outcomes.ofMailboxes`. */
async function ofMailboxes(
  { db, tableOf }: StorageDriver,
  { account, secret }: OutcomeOwner,
  mailboxes: readonly { readonly mailbox: string; readonly domain: string }[],
): Promise<MailboxOutcomes[]> {
  if (secret === null || mailboxes.length === 0) return mailboxes.map(() => NO_OUTCOMES);
  const owner = { secret };
  const domains = new Map<string, string>();
  const wanted = mailboxes.map(({ mailbox, domain: name }, i) => {
    const domain = domains.get(name) ?? hashedDomain(owner, name);
    domains.set(name, domain);
    return { wanted: i, mailbox: hashedMailbox(owner, mailbox), domain };
  });
  const { rows } = await sql<FoundOutcomes>`
    SELECT c.wanted, ${latest(account, ['delivered'])} AS delivered, ${latest(account, BOUNCES)} AS bounced,
      ${latest(account, ['complained'])} AS complained, s.sent AS domain_sent, s.bounced AS domain_bounced
    FROM ${tableOf(MAILBOXES, wanted)}
      LEFT JOIN outcome_sums AS s ON s.account_id = ${account} AND s.kind = 'domain' AND s.key = c.domain`.execute(db);
  const found = new Map(rows.map((row) => [row.wanted, row]));
  return mailboxes.map((_, i): MailboxOutcomes => {
    const row = found.get(i);
    if (row === undefined) return NO_OUTCOMES;
    const domain = { sent: row.domain_sent ?? 0, bounced: row.domain_bounced ?? 0 };
    return { deliveredAt: row.delivered, bouncedAt: row.bounced, complainedAt: row.complained, domain };
  });
}

interface FoundOutcomes
  extends Readonly<Record<'delivered' | 'bounced' | 'complained' | 'domain_sent' | 'domain_bounced', number | null>> {
  readonly wanted: number;
}

const NO_OUTCOMES: MailboxOutcomes = {
  deliveredAt: null,
  bouncedAt: null,
  complainedAt: null,
  domain: { sent: 0, bounced: 0 },
};

const IDS = rowMaker<string>({ wanted: textColumn((id) => storable(id)) });

const SENT_AFTER = ['id', 'email', 'deliverability', 'reason', 'validation_type'] as const;

/**
 * What mail is measured by, and where a reply has it: to read a thousand whole replies takes longer than all the
 * rest.
 */
const EVIDENCE_PATHS = {
  provider: ['checks', 'mx', 'provider'],
  rule: ['checks', 'smtp', 'rule'],
  code: ['checks', 'smtp', 'code'],
  enhanced: ['checks', 'smtp', 'enhanced_code'],
  p: ['confidence', 'p'],
} as const satisfies Record<keyof SentAfter['evidence'], readonly string[]>;
const evidenceIn = (driver: StorageDriver) => driver.jsonValues(sql.ref<string>('body'), Object.values(EVIDENCE_PATHS));

function evidenceOf(json: string): SentAfter['evidence'] {
  const values: readonly (string | number | null)[] = JSON.parse(json);
  const named = keysOf(EVIDENCE_PATHS).map((name, i) => [name, values[i] ?? null]);
  return Object.fromEntries(named);
}

interface SentAfterRow extends Pick<Row<'verifications'>, (typeof SENT_AFTER)[number]> {
  readonly evidence: string;
}

const toSentAfter = (row: SentAfterRow): SentAfter => {
  const { id, email, deliverability, reason, validation_type: validationType } = row;
  return { id, email, deliverability, reason, validationType, evidence: evidenceOf(row.evidence) };
};

/** See `Outcomes.verifications`. */
const outcomeVerifications =
  (driver: StorageDriver): Store['outcomes']['verifications'] =>
  async (account, ids, addresses) => {
    const { scans } = driver;
    const byId = new Map<string, SentAfter>();
    if (ids.length > 0) {
      const { rows } = await sql<SentAfterRow>`
        SELECT ${sql.join(SENT_AFTER.map((name) => sql.ref(name)))}, ${evidenceIn(driver)} AS evidence FROM ${driver.tableOf(IDS, ids)}
        CROSS JOIN verifications WHERE id = wanted AND account_id = ${account}`.execute(scans);
      for (const row of rows) byId.set(row.id, toSentAfter(row));
    }
    const byAddress = addresses.map((): SentAfter | null => null);
    if (addresses.length === 0) return { byId, byAddress };
    const rows = await driver.newestOfAddresses(
      account,
      addresses.map(({ email, until }) => ({ email: storable(email), until })),
    );
    if (rows.length === 0) return { byId, byAddress };
    const seqs = [...new Set(rows.map(({ seq }) => seq))];
    const all = scans
      .selectFrom('verifications')
      .select(['seq', ...SENT_AFTER])
      .select(evidenceIn(driver).as('evidence'))
      .where('account_id', '=', account);
    const bySeq = new Map((await all.where('seq', 'in', seqs).execute()).map(({ seq, ...row }) => [seq, row]));
    for (const { wanted: i, seq } of rows) {
      const row = bySeq.get(seq);
      if (row !== undefined) byAddress[i] = toSentAfter(row);
    }
    return { byId, byAddress };
  };

export function outcomes(driver: StorageDriver): Store['outcomes'] {
  const { db } = driver;
  const sumsOf = (account: AccountId, kind: SumRow['kind']) =>
    db.selectFrom('outcome_sums').selectAll().where('account_id', '=', account).where('kind', '=', kind).execute();
  return {
    verifications: outcomeVerifications(driver),
    record: (account, list, from, stored) => record(driver, account, list, from, stored),

    async owner(of) {
      const accounts = db
        .selectFrom('accounts as a')
        .leftJoin('seen_secrets as s', 's.account_id', 'a.id')
        .select(['a.id', 'a.outcomes_version', 'a.trust_bounces_days', 's.secret']);
      const keys = db.selectFrom('keys').select('account_id');
      const row = await (typeof of === 'string'
        ? accounts.where('a.id', '=', keys.where('hash', '=', of))
        : accounts.where('a.id', '=', of.account)
      ).executeTakeFirst();
      if (row === undefined) return null;
      const { id, outcomes_version: version, secret, trust_bounces_days: trustBouncesDays } = row;
      return { account: accountId(id), version, secret, trustBouncesDays };
    },

    ofMailboxes: (owner, mailboxes) => ofMailboxes(driver, owner, mailboxes),

    async verdictSums(account) {
      const rows = await sumsOf(account, 'verdict');
      return new Map(rows.map(({ key, sent, bounced }): [string, OutcomeSum] => [key, { sent, bounced }]));
    },

    async predictions(account) {
      const rows = await sumsOf(account, 'predicted');
      return new Map(
        rows.map(({ key, sent, bounced, predicted }) => [Number(key), { sent, bounced, predicted }] as const),
      );
    },

    async origins(account) {
      const found = new Map((await sumsOf(account, 'origin')).map((row) => [row.key, row]));
      return new Map(
        OUTCOME_ORIGINS.flatMap((origin) => {
          const row = found.get(origin);
          return row === undefined ? [] : [[origin, { received: row.sent, lastReceivedAt: row.predicted }] as const];
        }),
      );
    },

    async contradictions(account, limit) {
      // It is written literally, so that the partial index answers.
      const all = db.selectFrom('outcome_verdicts').selectAll().where(sql<boolean>`contradicts = 1`);
      const wanted =
        account === null
          ? all.where(({ not, exists, selectFrom }) => {
              const owner = selectFrom('accounts as a').whereRef('a.id', '=', 'outcome_verdicts.account_id');
              return not(exists(owner.select('a.id').where('a.test_of', 'is not', null)));
            })
          : all.where('account_id', '=', account);
      return (await wanted.orderBy('at', 'desc').limit(limit).execute()).map(toContradiction);
    },
  };
}

/** The secret of the account, made on first use. The account is locked. */
async function secretOf(trx: Transaction<Tables>, account: AccountId): Promise<string> {
  const row = { account_id: account, secret: newSecret(), mailboxes: 0 };
  await trx
    .insertInto('seen_secrets')
    .values(row)
    .onConflict((oc) => oc.doNothing())
    .execute();
  const secrets = trx.selectFrom('seen_secrets').select('secret').where('account_id', '=', account);
  return (await secrets.executeTakeFirstOrThrow()).secret;
}
