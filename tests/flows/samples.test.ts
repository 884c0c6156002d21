import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requestOf } from '../debian/machine.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

let lab: Lab;
let test: Member;
beforeAll(async () => {
  // No resolver, and no mail server.
  lab = await startLab({ MAILVET_DNS_SERVERS: '127.0.0.1:9' });
  test = await lab.testMember(await lab.member());
});
afterAll(() => lab.close());

/** The first `curl` command of a page, as a reader with the test key would send it. */
async function firstRequest(page: string): Promise<unknown> {
  const [curl = ''] =
    /^curl [\s\S]*?-d '[^']*'$/m.exec(readFileSync(join(import.meta.dirname, '../..', page), 'utf8')) ?? [];
  expect(curl).toMatch(/mv_test_…|\$MAILVET_TEST_KEY/);
  const sent = curl
    .replace(/mv_test_…|\$MAILVET_TEST_KEY/, test.key)
    .replaceAll('"Auth', "'Auth")
    .replace(/(Bearer \S+)"/, "$1'");
  const { url, init } = requestOf(sent);
  const { pathname } = new URL(url);
  const reply = await fetch(lab.url + pathname, init);
  expect([reply.status, reply.headers.get('x-mailvet-mode')]).toEqual([200, 'test']);
  return reply.json();
}

it('the README shows what its request returns', async () => {
  const shown = /^```json\n([\s\S]*?)^```$/m.exec(
    readFileSync(join(import.meta.dirname, '../..', 'README.md'), 'utf8'),
  )?.[1];
  expect(await firstRequest('README.md')).toMatchObject(JSON.parse(shown ?? ''));
});

it.each([
  ['README.md', { status: 'bad', deliverability: 'undeliverable' }],
  ['docs/quickstart.md', { status: 'good', deliverability: 'deliverable' }],
  ['docs/testing.md', { status: 'bad', reason: 'mailbox_not_found' }],
])('the first request of %s works without DNS', async (page, reply) => {
  expect(await firstRequest(page)).toMatchObject({ ...reply, validation_type: 'smtp', credits_used: 0 });
});
