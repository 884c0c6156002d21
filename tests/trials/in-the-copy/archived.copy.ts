/** Runs in the copy of copied-facts.test.ts, where a list can be archived. */
import { expect, it } from 'vitest';
import { startLab } from '../../lab/service.ts';
import { runSql } from '../../lab/stores.ts';

it('an archived list is there, with its status', async () => {
  const lab = await startLab();
  const member = await lab.member();
  const made = await member.call('POST', '/v1/lists', { emails: ['a@good.com'], start: false });
  await runSql(lab.databaseUrl, `UPDATE lists SET status = 'archived' WHERE id = '${made.json.id}'`);
  const read = await member.call('GET', `/v1/lists/${made.json.id}`);
  expect([read.status, read.json.status]).toEqual([200, 'archived']);
  const found = await member.call('GET', '/v1/lists?status=archived');
  expect(found.json.lists.map((list: { id: string }) => list.id)).toEqual([made.json.id]);
  await lab.close();
});
