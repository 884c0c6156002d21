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

const REPLIES = '/dashboard/operator/replies';
const explain = (body: object) => operator.call('POST', `${REPLIES}/explain`, body);

it('uncertain replies are listed', async () => {
  expect((await operator.call('GET', REPLIES)).json).toEqual({ replies: [], total_count: 0 });
  const reply = {
    operator: 'google',
    fingerprint: 'f',
    code: 550,
    rule: 'unmatched.5xx',
    finding: 'smtp_unverifiable',
  };
  await lab.store.uncertainReplies.add([{ ...reply, enhanced: '5.0.0', template: 'hm', count: 2 }]);
  const { status, json } = await operator.call('GET', REPLIES);
  expect(status).toBe(200);
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(json).toEqual({
    replies: [{ ...reply, enhanced_code: '5.0.0', template: 'hm', count: 2, first_seen: time, last_seen: time }],
    total_count: 1,
  });
});

it('a reply is explained as `mailvet reply` does it', async () => {
  const { status, json } = await explain({ reply: '550-5.7.1 <ada@example.com>: rejected:\r\n550 5.7.1 User unknown' });
  expect(status).toBe(200);
  expect(json).toMatchObject({
    code: 550,
    enhanced_code: '5.7.1',
    operator: null,
    finding: 'mailbox_not_found',
    rule: 'recipient.unknown',
    confidence: 'high',
  });
  const clause = { subject: 'recipient', predicate: 'absent', rule: 'recipient.unknown' };
  expect(json.clauses).toContainEqual(expect.objectContaining(clause));
});

it('the mail host tells the operator, and the address what is echoed', async () => {
  const asked = { reply: '542 ada@example.com Rejected', mx: 'CLUSTER1.eu.messagelabs.com' };
  expect((await explain(asked)).json).toMatchObject({
    operator: 'symantec/broadcom',
    rule: 'messagelabs.unregistered',
  });
  const odd = { reply: '550 hm blocked', address: 'blocked@example.com' };
  expect((await explain(odd)).json).toMatchObject({ rule: 'unmatched.5xx', read_as: 'hm _rcpt' });
});

it('what is no reply is refused, naming the field', async () => {
  for (const reply of ['User unknown', '999 no', '550x', '']) {
    const { status, json } = await explain({ reply });
    expect([status, json.field], reply).toEqual([400, 'reply']);
  }
  expect((await explain({ reply: `550 ${'x'.repeat(6_000)}` })).json).toMatchObject({ field: 'reply' });
});
