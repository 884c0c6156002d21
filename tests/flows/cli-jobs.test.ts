import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { openStore } from '../../src/store/open.ts';
import { runCli } from '../lab/process.ts';
import { freshDatabase } from '../lab/stores.ts';

let database: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

const cli = (...args: string[]) => runCli(args, { MAILVET_DATABASE_URL: database.url });
const json = async (...args: string[]) => {
  const { code, out, err } = await cli(...args, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
};

describe('mailvet jobs', () => {
  it('lists failed jobs without their payload, retries and drops them', async () => {
    const store = await openStore({ url: database.url, clock: systemClock });
    await store.migrate();
    const fail = async () => {
      const [claim] = await store.jobs.claim(new Map([['password_reset', 1]]));
      await store.jobs.fail(claim!, 'no \u001b[31mmail', true);
    };
    try {
      const id = (await store.jobs.add({ kind: 'password_reset', payload: { email: 'jane@example.com' } }))!;
      expect((await json('jobs', 'list', '--open')).map((job: { id: string }) => job.id)).toContain(id);
      await fail();
      const [job] = await json('jobs', 'list');
      expect(job).toMatchObject({ id, kind: 'password_reset', state: 'failed', attempts: 1, account_id: null });
      const { out } = await cli('jobs', 'list');
      expect(out).toContain(`${id}  password_reset`);
      expect(out).toContain('no \\u{1b}[31mmail');
      expect(out).not.toContain('jane');
      expect(await json('jobs', 'retry', id)).toEqual({ id, retried: true });
      expect((await cli('jobs', 'retry', id)).code).toBe(1);
      expect((await cli('jobs', 'drop', id)).err).toContain('there is no failed job');
      await fail();
      expect((await cli('jobs', 'drop', id)).out).toBe(`Job ${id} was dropped.\n`);
      expect(await json('jobs', 'list')).toEqual([]);
    } finally {
      await store.close();
    }
  });
});
