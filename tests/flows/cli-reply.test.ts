import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SAMPLE_FEEDBACK, SAMPLE_REPORTS } from '../lab/mail-reports.ts';
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

const file = join(mkdtempSync(join(tmpdir(), 'mailvet-dsn-')), 'report.eml');
const explained = async (server: string) => {
  const sample = [...SAMPLE_REPORTS, ...SAMPLE_FEEDBACK].find((one) => one.server === server);
  writeFileSync(file, sample?.raw ?? '');
  return json('--dsn', file);
};

it('explains what a report of a mail server counts as, and why', async () => {
  expect(await explained('Postfix')).toMatchObject({
    outcomes: [
      {
        email: 'ada@example.com',
        outcome: 'bounced',
        class: 'absent',
        counts_for: 'address',
        at: '2026-11-05T08:15:02.000Z',
        stage: 'rcpt',
        rule: 'recipient.unknown',
      },
    ],
    disregarded: [],
  });
  expect(await explained('Postfix, refused after DATA')).toMatchObject({
    outcomes: [{ class: 'sender', counts_for: 'sender', stage: 'data' }],
  });
  expect(await explained('Fastmail, not spam')).toEqual({
    outcomes: [],
    disregarded: [{ email: null, why: 'not_spam' }],
  });
  await explained('Postfix, delayed');
  const { code, out } = await runCli(['reply', '--dsn', file], {});
  expect([code, out]).toEqual([0, 'ada@example.com counts as nothing: a notice of a delay: the server still tries.\n']);
});

it('wants either a reply or a message', async () => {
  for (const args of [[], ['550 no', '--dsn', file]]) {
    const { code, err } = await runCli(['reply', ...args], {});
    expect([code, err]).toEqual([2, expect.stringContaining('give either a reply')]);
  }
  const { code, err } = await runCli(['reply', '--dsn', '/nowhere/at/all'], {});
  expect([code, err]).toEqual([2, expect.stringContaining('cannot read --dsn')]);
});
