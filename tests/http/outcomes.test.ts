import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../src/kernel/clock.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { runSql } from '../lab/stores.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());

const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();
const report = (by: Member, outcomes: readonly unknown[], headers?: Record<string, string>) =>
  by.call('POST', '/v1/outcomes', { outcomes }, headers);
const bounce = (email: string, diagnostic: string | null = '550 5.1.1 User unknown') => ({
  ...{ email, outcome: 'bounced', at: ago(1_000) },
  ...(diagnostic === null ? {} : { diagnostic }),
});
const rowsOf = ({ account }: Member) =>
  runSql(lab.databaseUrl, `SELECT * FROM outcomes WHERE account_id = '${account.id}'`);

describe('POST /v1/outcomes', () => {
  it('says of each row what became of it, and what a bounce is evidence of, for free', async () => {
    const own = await lab.member({ credits: 1 });
    const id = (await own.verify('jane@good.com')).json.id;
    const { status, json } = await report(own, [
      bounce('jane@good.com'),
      { verification_id: id, outcome: 'delivered', at: ago(2_000) },
      bounce('june@good.com', '550 5.7.1 Client host [192.0.2.1] blocked using Spamhaus'),
      bounce('none@good.com', null),
      bounce('full@good.com', '552 5.2.2 mailbox full'),
      { email: 'june@good.com', outcome: 'deferred', at: ago(3_000), source: 'newsletter' },
      { email: 'june@good.com', outcome: 'complained', at: ago(3_000) },
    ]);
    expect(status).toBe(200);
    expect(json.results.map((row: { class: string }) => row.class)).toEqual([
      ...['absent', 'delivered', 'sender', 'unclear', 'full', 'deferred', 'complained'],
    ]);
    expect(json).toMatchObject({ recorded: 7, duplicates: 0, errors: 0, warnings: [] });
    expect((await lab.store.accounts.get(own.account.id))?.balance).toBe(0);
    const stored = JSON.stringify(await rowsOf(own));
    expect(stored).not.toMatch(/jane|june|good|unknown|Spamhaus|192/i);
    expect(stored).toContain('550 5.1.1');
  });

  it('counts once what is sent twice, in any spelling of the mailbox', async () => {
    const own = await lab.member();
    const one = bounce('Jane.Doe+x@gmail.com');
    expect((await report(own, [one, one])).json).toMatchObject({ recorded: 1, duplicates: 1 });
    expect((await report(own, [{ ...one, email: ' janedoe@googlemail.com' }])).json).toMatchObject({ duplicates: 1 });
    expect(await rowsOf(own)).toHaveLength(1);
  });

  it.each([
    [{ email: 'a@good.com', outcome: 'bounced' }, 'at'],
    [{ email: 'a@good.com', outcome: 'bounced', at: 'yesterday' }, 'at'],
    [{ email: 'a@good.com', outcome: 'bounced', at: ago(-10 * 60_000) }, 'at'],
    [{ email: 'a@good.com', outcome: 'bounced', at: ago(401 * DAY_MS) }, 'at'],
    [{ email: 'a@good.com', outcome: 'opened', at: ago(0) }, 'outcome'],
    [{ email: 'nobody', outcome: 'bounced', at: ago(0) }, 'email'],
    [{ outcome: 'bounced', at: ago(0) }, 'email'],
    [{ email: 'a@good.com', verification_id: 'ver_1', outcome: 'bounced', at: ago(0) }, 'verification_id'],
    [{ verification_id: 'ver_0VkP3Zq1n7Jc2mQ9sT4bXd', outcome: 'bounced', at: ago(0) }, 'verification_id'],
    [{ email: 'a@good.com', outcome: 'bounced', at: ago(0), source: 'x'.repeat(65) }, 'source'],
    [{ email: 'a@good.com', outcome: 'bounced', at: ago(0), diagnostic: 550 }, 'diagnostic'],
    ['a@good.com', null],
    [null, null],
  ])('%j is an error of its row alone, at %s', async (row, field) => {
    const own = await lab.member();
    const { status, json } = await report(own, [row, bounce('b@good.com')]);
    expect(status).toBe(200);
    expect(json.results).toEqual([
      { result: 'error', error: expect.any(String), field },
      { result: 'recorded', class: 'absent' },
    ]);
    expect(await rowsOf(own)).toHaveLength(1);
  });

  it('takes 1,000 rows, and neither more nor none', async () => {
    const own = await lab.member();
    const rows = Array.from({ length: 1_001 }, (_, i) => bounce(`m${i}@good.com`));
    expect((await report(own, rows.slice(1))).json).toMatchObject({ recorded: 1_000 });
    for (const wrong of [rows, [], 'x', { 0: rows[0] }]) {
      const { status, json } = await report(own, wrong as never);
      expect([status, json.code, json.field]).toEqual([400, 'invalid_parameter', 'outcomes']);
    }
  });

  it('gives the stored reply to a repeated Idempotency-Key', async () => {
    const own = await lab.member();
    const [rows, key] = [[bounce('a@good.com'), 'x'], { 'idempotency-key': 'one' }];
    const first = await report(own, rows, key);
    const again = await report(own, rows, key);
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect(first.json).toMatchObject({ recorded: 1, errors: 1 });
    expect((await report(own, [bounce('b@good.com')], key)).json.code).toBe('idempotency_key_reused');
  });

  it('needs its scope, and knows no verification of another account', async () => {
    const [own, other] = [await lab.member({ scopes: ['verify'] }), await lab.member()];
    expect((await report(own, [bounce('a@good.com')])).json).toMatchObject({
      code: 'scope_missing',
      scope: 'outcomes',
    });
    const id = (await own.verify('a@good.com')).json.id;
    const { json } = await report(other, [{ verification_id: id, outcome: 'delivered', at: ago(0) }]);
    expect(json.results[0]).toMatchObject({ result: 'error', field: 'verification_id' });
  });

  it('measures a verdict by the mail that was sent after it', async () => {
    const own = await lab.member();
    await own.verify('Jane@good.com');
    await report(own, [
      { email: 'jane@good.com', outcome: 'delivered', at: ago(0) },
      { email: 'jane@good.com', outcome: 'delivered', at: ago(DAY_MS) },
      { email: 'june@good.com', outcome: 'delivered', at: ago(0) },
    ]);
    const sums = await runSql(
      lab.databaseUrl,
      `SELECT kind, key, sent, bounced FROM outcome_sums WHERE account_id = '${own.account.id}' AND kind = 'verdict'`,
    );
    expect(sums).toEqual([
      { kind: 'verdict', key: '["unknown",null,"mx",null]', sent: expect.anything(), bounced: expect.anything() },
    ]);
    expect(sums.map(({ sent, bounced }) => [Number(sent), Number(bounced)])).toEqual([[1, 0]]);
  });
});
