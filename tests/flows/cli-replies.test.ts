import { expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { openStore } from '../../src/store/open.ts';
import { runCli } from '../lab/process.ts';
import { freshDatabase } from '../lab/stores.ts';

it('mailvet replies lists uncertain replies, the most frequent first', async () => {
  await using database = await freshStore();
  const cli = (...args: string[]) => runCli(['replies', ...args], { MAILVET_DATABASE_URL: database.url });
  const json = async (...args: string[]) => {
    const { code, out, err } = await cli(...args, '--json');
    expect([code, err]).toEqual([0, '']);
    return JSON.parse(out);
  };
  const reply = { operator: 'other', fingerprint: 'a', code: 550, enhanced: '5.0.0', template: 'hm \u001b[31m _rcpt' };
  await database.store.uncertainReplies.add([
    { ...reply, count: 2, rule: 'unmatched.5xx', finding: 'smtp_unverifiable' },
    { ...reply, operator: 'google', count: 3, rule: 'us.refused', finding: 'smtp_blocked' },
  ]);
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  const listed = { enhanced_code: '5.0.0', first_seen: time, last_seen: time };
  expect(await json()).toMatchObject([
    { ...listed, operator: 'google', count: 3, rule: 'us.refused', finding: 'smtp_blocked' },
    { ...listed, operator: 'other', count: 2, rule: 'unmatched.5xx', finding: 'smtp_unverifiable' },
  ]);
  expect(await json('--unmatched')).toMatchObject([{ operator: 'other' }]);
  const { out } = await cli('--limit', '1');
  expect(out).toContain('1 more');
  expect(out).not.toContain('\u001b');
  expect((await cli('--limit', '0')).code).toBe(2);
});

async function freshStore() {
  const database = await freshDatabase();
  const store = await openStore({ url: database.url, clock: systemClock });
  await store.migrate();
  return {
    url: database.url,
    store,
    async [Symbol.asyncDispose]() {
      await store.close();
      await database.drop();
    },
  };
}
