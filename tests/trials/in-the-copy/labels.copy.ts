/** Runs in the copy of copied-facts.test.ts, where a reply has the number of the domain's labels. */
import { expect, it } from 'vitest';
import { startLab } from '../../lab/service.ts';

it('each address has the labels of its own domain', async () => {
  const lab = await startLab();
  const member = await lab.member();
  const labels: unknown[] = [];
  for (const email of ['a@null-mx.com', 'b@mail.null-mx.com', 'c@a.b.null-mx.com'])
    labels.push((await member.verify(email)).json.labels);
  await lab.close();
  expect(labels).toEqual([2, 3, 4]);
});
