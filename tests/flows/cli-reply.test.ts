import { expect, it } from 'vitest';
import { runCli } from '../lab/process.ts';

const json = async (...args: string[]) => {
  const { code, out, err } = await runCli(['reply', ...args, '--json'], {});
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
};

it('explains a reply: what is read, the clauses, the rule, the other readings', async () => {
  const text = '550 5.7.1 <jane@example.com>: Recipient address rejected: User unknown';
  expect(await json(text, '--to', 'jane@example.com')).toMatchObject({
    code: 550,
    enhanced_code: '5.7.1',
    read_as: '_rcpt recipient address rejected user unknown',
    finding: 'mailbox_not_found',
    rule: 'recipient.unknown',
    confidence: 'high',
    clauses: [
      { subject: 'recipient', predicate: 'refused', rule: 'us.recipient-rejected' },
      { subject: 'recipient', predicate: 'absent', rule: 'recipient.unknown' },
    ],
    alternatives: [{ rule: 'code.policy' }, { rule: 'us.recipient-rejected' }],
  });
  const { code, out } = await runCli(['reply', `${text}\u001b[31m`], {});
  expect(code).toBe(0);
  expect(out).toContain('mailbox_not_found');
  expect(out).not.toContain('\u001b');
});

it('knows the mail host of an operator, and several lines', async () => {
  const reply = '550 5.5.0 Requested action not taken: mailbox unavailable';
  expect(await json(reply, '--mx', 'hotmail-com.olc.protection.outlook.com')).toMatchObject({
    operator: 'outlook.com',
    rule: 'outlook.unavailable',
  });
  expect(await json('550-5.1.1 No such\r\n550 5.1.1 user')).toMatchObject({ finding: 'mailbox_not_found' });
  expect(await json('550-5.1.1 No such\nuser')).toMatchObject({ finding: 'mailbox_not_found' });
});

it('names the fault of what is not a reply', async () => {
  for (const text of ['', 'User unknown', '5500 no', '650 no']) {
    const { code, err } = await runCli(['reply', text], {});
    expect([code, err]).toEqual([2, expect.stringContaining('must begin with a code from 200 to 599')]);
  }
});
