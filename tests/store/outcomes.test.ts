import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/kernel/clock.ts';
import { groupKey, type VerdictGroup } from '../../src/kernel/facts/calibration.ts';
import { OUTCOME_CLASSES, type OutcomeClass } from '../../src/kernel/facts/sent-mail.ts';
import type { AccountId, NewOutcome, Store } from '../../src/store/store.ts';
import { describeStores, type StoreLab } from '../lab/stores.ts';
import { eraseAddress, type Member, member, newVerificationId, removeDeleted, verifyNow } from './cast.ts';
import { BY } from './people.ts';

const GROUP: VerdictGroup = { deliverability: 'deliverable', reason: null, level: 'smtp', provider: 'Example' };
const DEAD: VerdictGroup = { ...GROUP, deliverability: 'undeliverable', reason: 'mailbox_not_found' };

interface Said {
  readonly mailbox: string;
  readonly of: OutcomeClass;
  readonly at: number;
  readonly group: VerdictGroup | null;
  readonly predicted: number | null;
}
const outcome = ({ mailbox, of, at, group, predicted }: Said): NewOutcome => ({
  mailbox: `${mailbox}@example.com`,
  domain: 'example.com',
  class: of,
  at,
  code: of === 'absent' ? '550 5.1.1' : null,
  source: null,
  verdict: group && { verificationId: `ver_${mailbox}`, group, predicted, rule: 'r', reply: '250' },
  template: of === 'absent' ? 'user unknown' : null,
});
const said = (mailbox: string, of: OutcomeClass, at: number, group: VerdictGroup | null = null): NewOutcome =>
  outcome({ mailbox, of, at, group, predicted: null });

const record = (store: Store, { account }: Member, ...rows: NewOutcome[]) =>
  store.outcomes.record(account.id, rows, { origin: 'api' }, null).then(({ results }) => results);

/** Sums that differ from those of the rows that they are of. */
async function miscounted(lab: StoreLab): Promise<unknown[]> {
  const bounced = `CASE WHEN class IN ('absent', 'disabled', 'full') THEN 1 ELSE 0 END`;
  const rows = await lab.sql(`SELECT account_id, kind, key, sum(sent) AS sent, sum(bounced) AS bounced,
      sum(predicted) AS predicted FROM (
    SELECT account_id, kind, key, sent, bounced, predicted FROM outcome_sums WHERE kind <> 'origin'
    UNION ALL SELECT account_id, 'domain', domain, -count(*), -sum(${bounced}), 0 FROM outcomes
      WHERE class IN ('delivered', 'complained', 'absent', 'disabled', 'full') GROUP BY account_id, domain
    UNION ALL SELECT account_id, 'verdict', verdict, -count(*), -sum(bounced), 0 FROM outcome_verdicts
      GROUP BY account_id, verdict
    UNION ALL SELECT account_id, 'predicted', CAST(predicted / 100 AS TEXT), -count(*), -sum(bounced), -sum(predicted)
      FROM outcome_verdicts WHERE predicted IS NOT NULL GROUP BY account_id, predicted / 100
  ) AS everything GROUP BY account_id, kind, key`);
  return rows.filter((row) => Number(row.sent) !== 0 || Number(row.bounced) !== 0 || Number(row.predicted) !== 0);
}

const OF_OUTCOMES = ['outcomes', 'outcome_verdicts', 'outcome_sums'] as const;
const rowsOf = async (lab: StoreLab, account: AccountId) =>
  Promise.all(
    OF_OUTCOMES.map(async (table) => {
      const all = await lab.sql(`SELECT * FROM ${table} WHERE account_id = '${account}'`);
      // Counts of what came stay, with the time of the last one.
      const rows = all.filter((row) => row.kind !== 'origin');
      // HMACs under a secret of the account.
      const hashed = (row: object) => ('kind' in row && row.kind === 'domain' ? { key: null } : {});
      const plain = { account_id: null, mailbox: null, domain: null };
      return rows.map((row) => JSON.stringify({ ...row, ...plain, ...hashed(row) })).sort();
    }),
  );

describeStores('outcomes of mail', (lab) => {
  it('count once, within a request and later', async () => {
    const store = await lab.open();
    const who = await member(store);
    const one = said('jane', 'delivered', 5, GROUP);
    expect(await record(store, who, one, said('jane', 'delivered', 6, GROUP), one)).toEqual([
      'recorded',
      'recorded',
      'duplicate',
    ]);
    expect(await record(store, who, one)).toEqual(['duplicate']);
    expect(await store.outcomes.verdictSums(who.account.id)).toEqual(
      new Map([[groupKey(GROUP), { sent: 1, bounced: 0 }]]),
    );
    expect(await miscounted(lab)).toEqual([]);
  });

  it('are told of the mailbox and of its domain, and of no other account', async () => {
    const store = await lab.open();
    const [who, other] = [await member(store), await member(store)];
    await record(store, who, said('jane', 'delivered', 10), said('jane', 'full', 20), said('jane', 'absent', 15));
    await record(store, who, said('jane', 'sender', 90), said('jane', 'complained', 30), said('june', 'delivered', 40));
    const owner = await store.outcomes.owner({ account: who.account.id });
    const [jane, june, nobody] = await store.outcomes.ofMailboxes(
      owner!,
      ['jane', 'june', 'nobody'].map((name) => ({ mailbox: `${name}@example.com`, domain: 'example.com' })),
    );
    const domain = { sent: 5, bounced: 2 };
    expect(jane).toEqual({ deliveredAt: 10, bouncedAt: 20, complainedAt: 30, domain });
    expect(june).toEqual({ deliveredAt: 40, bouncedAt: null, complainedAt: null, domain });
    expect(nobody).toEqual({ deliveredAt: null, bouncedAt: null, complainedAt: null, domain });
    expect(await store.outcomes.owner({ account: other.account.id })).toMatchObject({ version: 0, secret: null });
  });

  it('are measured alike in whatever order and requests they arrive', async () => {
    const store = await lab.open();
    const one = fc.record({
      mailbox: fc.constantFrom('a', 'b', 'c'),
      of: fc.constantFrom(...OUTCOME_CLASSES),
      at: fc.integer({ min: 1, max: 4 }),
    });
    const groups: Record<string, Pick<Said, 'group' | 'predicted'>> = {
      a: { group: GROUP, predicted: 955 },
      b: { group: DEAD, predicted: null },
      c: { group: null, predicted: null },
    };
    await fc.assert(
      fc.asyncProperty(fc.array(one, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (list, size) => {
        const rows = list.map((row) => outcome({ ...row, ...groups[row.mailbox]! }));
        const [together, apart] = [await member(store), await member(store)];
        await record(store, together, ...rows);
        const turned = [...rows].reverse();
        for (let from = 0; from < turned.length; from += size)
          await record(store, apart, ...turned.slice(from, from + size));
        expect(await rowsOf(lab, apart.account.id)).toEqual(await rowsOf(lab, together.account.id));
        expect(await miscounted(lab)).toEqual([]);
      }),
      { numRuns: 25, seed: 38 },
    );
  });

  it('contradict what was said, once, until a bounce says otherwise', async () => {
    const store = await lab.open();
    const who = await member(store);
    const newContradictions = async (...rows: NewOutcome[]) =>
      (await store.outcomes.record(who.account.id, rows, { origin: 'api' }, null)).contradictions.map((one) => [
        one.verificationId,
        one.outcome,
      ]);
    expect(await newContradictions(said('dead', 'delivered', 1, DEAD), said('live', 'delivered', 1, GROUP))).toEqual([
      ['ver_dead', 'delivered'],
    ]);
    expect(await newContradictions(said('dead', 'delivered', 2, DEAD), said('live', 'sender', 2, GROUP))).toEqual([]);
    // Accepted first, and refused by a later message.
    expect(await newContradictions(said('dead', 'absent', 3, DEAD), said('live', 'absent', 3, GROUP))).toEqual([
      ['ver_live', 'bounced'],
    ]);
    const [left, ...more] = await store.outcomes.contradictions(who.account.id, 10);
    expect([left, more]).toMatchObject([
      { verificationId: 'ver_live', code: '550 5.1.1', template: 'user unknown' },
      [],
    ]);
    const test = { account: await store.accounts.testAccount(who.account.id) };
    await store.outcomes.record(test.account.id, [said('mine', 'absent', 4, GROUP)], { origin: 'api' }, null);
    expect(await store.outcomes.contradictions(test.account.id, 10)).toHaveLength(1);
    expect(await store.outcomes.contradictions(null, 10)).toEqual([left]);
    expect(await miscounted(lab)).toEqual([]);
  });

  it('are found by id, and by address the latest verification before them', async () => {
    const store = await lab.open();
    const [who, other] = [await member(store), await member(store)];
    const verified = async (by: Member, email: string) => {
      const id = newVerificationId();
      await verifyNow(store, by, { email }, { id });
      return id;
    };
    const first = await verified(who, 'Jane@example.com');
    const between = lab.clock.now();
    lab.clock.advance(HOUR_MS);
    const second = await verified(who, 'jane@example.com');
    await verified(other, 'jane@example.com');
    const after = lab.clock.now();
    const asked = [after, between, between - 1].map((until) => ({ email: 'JANE@example.com', until }));
    const { byId, byAddress } = await store.outcomes.verifications(who.account.id, [first, 'ver_none'], asked);
    expect([...byId.keys()]).toEqual([first]);
    expect(byAddress.map((row) => row?.id ?? null)).toEqual([second, first, null]);
    expect((await store.outcomes.verifications(other.account.id, [first], [])).byId.size).toBe(0);
  });

  it('end with their age, with the mailbox that is erased, and with the account; the sums follow', async () => {
    const store = await lab.open();
    const [who, other] = [await member(store), await member(store)];
    const now = lab.clock.now();
    const both = (at: number) =>
      ['jane', 'june'].flatMap((name) => [said(name, 'delivered', at - 2, GROUP), said(name, 'absent', at - 1, GROUP)]);
    for (const by of [who, other]) await record(store, by, ...both(now - 30 * DAY_MS), ...both(now));
    await store.clock.read();
    const round = (days: number) => store.upkeep.purge(1_000 * DAY_MS, undefined, undefined, days * DAY_MS);
    expect(await round(31)).toMatchObject({ total: 0 });
    expect(await round(29)).toMatchObject({ deleted: { outcomes: 8 } });
    expect(await miscounted(lab)).toEqual([]);
    expect(await lab.sql('SELECT account_id FROM outcome_verdicts')).toHaveLength(4);
    const before = await store.outcomes.owner({ account: who.account.id });
    expect(await eraseAddress(store, who.account.id, 'jane@example.com', BY, 'jane@example.com')).toBe(3);
    expect((await store.outcomes.owner({ account: who.account.id }))?.version).toBeGreaterThan(before!.version);
    expect(await miscounted(lab)).toEqual([]);
    expect(await store.outcomes.verdictSums(who.account.id)).toEqual(
      new Map([[groupKey(GROUP), { sent: 1, bounced: 1 }]]),
    );
    expect(await round(0)).toMatchObject({ paused: false });
    // Counts of what came stay.
    for (const table of OF_OUTCOMES) {
      const left = await lab.sql(`SELECT * FROM ${table}`);
      expect(
        left.filter(({ kind }) => kind !== 'origin'),
        table,
      ).toEqual([]);
    }
    for (const by of [who, other]) await record(store, by, ...both(now));
    await store.accounts.remove(who.account.id);
    await expect(record(store, who, said('jane', 'delivered', now))).rejects.toThrow('no such account');
    expect(await removeDeleted(store)).toEqual([]);
    for (const table of OF_OUTCOMES)
      expect(new Set((await lab.sql(`SELECT account_id FROM ${table}`)).map((row) => row.account_id)), table).toEqual(
        new Set([other.account.id]),
      );
  });

  it('of two nodes that report the same at once are counted once', async () => {
    const stores = [await lab.open(), await lab.open()];
    const who = await member(stores[0]!);
    const rows = Array.from({ length: 40 }, (_, i) => said(`m${i % 20}`, i < 20 ? 'delivered' : 'absent', i, GROUP));
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, i) => record(stores[i % 2]!, who, ...rows.slice(i), ...rows.slice(0, i))),
    );
    expect(replies.flat().filter((result) => result === 'recorded')).toHaveLength(40);
    expect(await stores[0]!.outcomes.verdictSums(who.account.id)).toEqual(
      new Map([[groupKey(GROUP), { sent: 20, bounced: 20 }]]),
    );
    expect(await miscounted(lab)).toEqual([]);
  });
});
