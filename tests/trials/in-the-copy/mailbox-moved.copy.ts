/** Runs in the copy of new-reason.test.ts, where a mailbox can have moved. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClassifier } from '../../../src/engine/smtp/classify.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { type SmtpLab, startSmtp } from '../../lab/smtp.ts';

let server: SmtpLab;
let lab: Lab;
beforeAll(async () => {
  server = await startSmtp({ on: ({ verb }) => (verb === 'RCPT' ? '551 User has moved' : undefined) });
  const net = { 'moved.com': { MX: [[10, 'mx.moved.com']] }, 'mx.moved.com': { A: [server.address] } } as const;
  lab = await startLab({ MAILVET_SMTP_PORT: String(server.port), MAILVET_SMTP_RATE_PER_OPERATOR: '0' }, { net });
});
afterAll(async () => {
  await lab.close();
  await server.close();
});

const reading = (code: number) =>
  createClassifier().classify({
    stage: 'rcpt',
    reply: { code, enhanced: null, text: 'User has moved' },
    operator: null,
    echoes: { address: 'jane@moved.com', ourNames: ['verifier.lab'], ourIps: [] },
  });

describe('a mailbox that has moved', () => {
  it('is classified by its rule', () => expect(reading(551)).toMatchObject({ finding: 'mailbox_moved' }));

  it('is judged and reported, and counted under its reason', async () => {
    const member = await lab.member();
    const { status, json } = await member.verify('jane@moved.com', { validation_type: 'smtp' });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      status: 'bad',
      deliverability: 'undeliverable',
      reason: 'mailbox_moved',
      validation_type: 'smtp',
      credits_used: 10,
      is_mailbox_full: false,
      is_disabled: false,
      checks: { smtp: { result: 'fail', code: 551 } },
    });
    const usage = await member.call('GET', '/v1/usage');
    expect(usage.json.totals.by_reason).toEqual({ mailbox_moved: 1 });
  });

  it('is in the document that the service gives out', async () => {
    const { text } = await (await lab.member()).call('GET', '/openapi.json');
    expect(text).toContain('"mailbox_moved"');
  });
});
