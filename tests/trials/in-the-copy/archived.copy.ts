/** Runs in the copy of copied-facts.test.ts, where a list can be archived. */
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { startLab } from '../../lab/service.ts';

it('an archived list is there, with its status', async () => {
  const lab = await startLab();
  const member = await lab.member();
  const made = await member.call('POST', '/v1/lists', { emails: ['a@good.com'], start: false });
  const db = new DatabaseSync(lab.databaseUrl.slice('sqlite:'.length));
  db.prepare("UPDATE lists SET status = 'archived' WHERE id = ?").run(made.json.id);
  db.close();
  const read = await member.call('GET', `/v1/lists/${made.json.id}`);
  expect([read.status, read.json.status]).toEqual([200, 'archived']);
  const found = await member.call('GET', '/v1/lists?status=archived');
  expect(found.json.lists.map((list: { id: string }) => list.id)).toEqual([made.json.id]);
  await lab.close();
});
