import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Lab, startLab } from '../../lab/service.ts';
import { signedIn } from './client.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());

it('the state of the service has throughput, latency, queues, jobs, health and ages of lists', async () => {
  const operator = await signedIn(lab, { operator: true });
  const member = await lab.member({ credits: 100 });
  for (const email of ['a@good.com', 'b@good.com']) await member.verify(email);
  await member.call('POST', '/v1/verify', {});
  const read = async () => (await operator.call('GET', '/dashboard/operator/service')).json;
  // Counters are flushed every few seconds, and a reading is used for as long.
  const sum = (json: { hours: Record<string, number>[] }, what: string) =>
    json.hours.reduce((total, hour) => total + (hour[what] ?? 0), 0);
  await expect
    .poll(
      async () => {
        const json = await read();
        return [sum(json, 'verifications'), sum(json, 'rejected')];
      },
      { timeout: 60_000, interval: 500 },
    )
    .toEqual([2, 1]);
  const json = await read();
  expect(json.hours).toHaveLength(24);
  expect(json.latency).toMatchObject({ mx: { p50: expect.any(Number) }, smtp: null });
  expect(json.problems).toEqual({ store: null, resolver: null, clock: null, lists: null, egress_file: null });
  expect(json.node).toMatchObject({ running: 0, charges_waiting: 0, version: expect.stringMatching(/^\d/) });
  expect(json.egress.state).toEqual(expect.any(String));
  expect(json.lists.disposable_domains).toBeGreaterThan(1_000);
  expect(json.store.jobs).toEqual(expect.any(Array));
  // This process charged, and reports itself every 10 s.
  const nodes = async () => (await read()).nodes;
  await expect
    .poll(nodes, { timeout: 60_000, interval: 500 })
    .toMatchObject([{ version: json.node.version, seen_at: expect.stringMatching(/Z$/), answers: true }]);
  const stranger = await signedIn(lab, { account: member.account, role: 'owner' });
  expect((await stranger.call('GET', '/dashboard/operator/service')).status).toBe(404);
}, 90_000);
