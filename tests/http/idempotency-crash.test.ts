import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { ENGINE, runSql } from '../lab/stores.ts';

/**
 * A change and the reply stored for its Idempotency-Key are atomic: if the reply cannot be stored, the change is rolled
 * back, so that a retry performs it.
 */
let lab: Lab;
let member: Member;
beforeAll(async () => {
  lab = await startLab();
  member = await lab.member();
});
afterAll(() => lab.close());

/** Makes the store fail to write replies; returns a function that ends this. */
async function failReplies(): Promise<() => Promise<void>> {
  const sql = (...texts: string[]) => texts.reduce((all, text) => all.then(() => run(text)), Promise.resolve());
  const run = async (text: string): Promise<void> => {
    await runSql(lab.databaseUrl, text);
  };
  if (ENGINE === 'sqlite') {
    const when = (event: string) =>
      `CREATE TRIGGER fail_${event} BEFORE ${event} ON idempotency WHEN NEW.state = 'done' BEGIN SELECT RAISE(ABORT, 'injected'); END`;
    await sql(when('INSERT'), when('UPDATE'));
    return () => sql('DROP TRIGGER fail_INSERT', 'DROP TRIGGER fail_UPDATE');
  }
  await sql(
    `CREATE FUNCTION fail_reply() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'injected'; END $$`,
    `CREATE TRIGGER fail_reply BEFORE INSERT OR UPDATE ON idempotency FOR EACH ROW WHEN (NEW.state = 'done') EXECUTE FUNCTION fail_reply()`,
  );
  return () => sql('DROP TRIGGER fail_reply ON idempotency', 'DROP FUNCTION fail_reply');
}

const add = (value: string, key: string) => member.call('POST', '/v1/filters', { value }, { 'idempotency-key': key });
const stored = async (): Promise<string[]> => {
  const { json } = await member.call('GET', '/v1/filters');
  return json.filters.map((filter: { value: string }) => filter.value);
};

describe('a reply that cannot be stored', () => {
  it('leaves no filter behind; the repeated request adds it', async () => {
    const mend = await failReplies();
    expect((await add('crash.com', 'crash')).status).toBe(500);
    expect(await stored()).toEqual([]);
    await mend();
    const again = await add('crash.com', 'crash');
    expect([again.status, again.json.value]).toEqual([201, 'crash.com']);
    const replayed = await add('crash.com', 'crash');
    expect([replayed.text, replayed.headers.get('idempotency-replayed')]).toEqual([again.text, 'true']);
    expect(await stored()).toEqual(['crash.com']);
  });

  it('for an existing filter is not stored partially either', async () => {
    await add('taken.com', 'first');
    const mend = await failReplies();
    expect((await add('taken.com', 'second')).status).toBe(500);
    await mend();
    const again = await add('taken.com', 'second');
    expect([again.status, again.json.code]).toEqual([422, 'filter_exists']);
    expect((await add('taken.com', 'second')).text).toBe(again.text);
  });
});
