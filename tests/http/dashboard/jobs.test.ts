import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Lab, startLab } from '../../lab/service.ts';
import { type Client, signedIn } from './client.ts';

let lab: Lab;
let operator: Client;
beforeAll(async () => {
  lab = await startLab();
  operator = await signedIn(lab, { operator: true });
});
afterAll(() => lab.close());

const JOBS = '/dashboard/operator/jobs';
const call = (method: string, path = '') => operator.call(method, `${JOBS}${path}`);

/** A job of a kind that this service, which sends no mail, leaves alone; failed at once. */
async function failedJob(key: string): Promise<string> {
  const payload = { email: 'jane@example.com' };
  const id = await lab.store.jobs.add({ kind: 'password_reset', payload, key, account: 'acc_1' });
  const claims = await lab.store.jobs.claim(new Map([['password_reset', 1]]));
  for (const claim of claims) await lab.store.jobs.fail(claim, 'The mail server did not take the mail: 550.', true);
  return id!;
}

it('failed jobs are listed without what they carry', async () => {
  expect((await call('GET')).json).toEqual({ jobs: [], total_count: 0 });
  const id = await failedJob('listed');
  const { status, json } = await call('GET');
  expect(status).toBe(200);
  expect(json).toEqual({
    jobs: [
      {
        id,
        kind: 'password_reset',
        description: 'Sends a link to choose a new password.',
        account: 'acc_1',
        attempts: 1,
        last_error: 'The mail server did not take the mail: 550.',
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        failed_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ],
    total_count: 1,
  });
  expect(JSON.stringify(json)).not.toContain('jane');
  expect((await call('DELETE', `/${id}`)).status).toBe(200);
});

it('they are retried, unless the same job is open, and dropped', async () => {
  const id = await failedJob('k');
  const other = (await lab.store.jobs.add({ kind: 'password_reset', payload: { email: '' }, key: 'k' }))!;
  const conflict = await call('POST', `/${id}/retry`);
  expect([conflict.status, conflict.json.code]).toEqual([422, 'job_already_open']);
  const open = await call('DELETE', `/${other}`);
  expect([open.status, open.json.code]).toEqual([404, 'not_found']);
  for (const claim of await lab.store.jobs.claim(new Map([['password_reset', 1]]))) await lab.store.jobs.done(claim);

  expect((await call('POST', `/${id}/retry`)).status).toBe(200);
  expect((await call('POST', `/${id}/retry`)).status).toBe(404);
  expect(await lab.store.jobs.get(id)).toMatchObject({ state: 'waiting' });
  for (const claim of await lab.store.jobs.claim(new Map([['password_reset', 1]])))
    await lab.store.jobs.fail(claim, 'again', true);
  expect((await call('DELETE', `/${id}`)).status).toBe(200);
  expect((await call('DELETE', `/${id}`)).status).toBe(404);
  expect(await lab.store.jobs.get(id)).toBeNull();
});

it.each(['', 'x', '%27', '00000000-0000-0000-0000-000000000000'])('there is no job %j', async (id) => {
  if (id !== '') expect((await call('POST', `/${id}/retry`)).status).toBe(404);
  expect((await call('DELETE', `/${id}`)).status).toBe(404);
});
