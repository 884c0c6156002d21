import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  HOSTILE_REPORTS,
  RECIPIENT,
  REPORTED_AT,
  SAMPLE_FEEDBACK,
  SAMPLE_REPORTS,
} from '../../tests/lab/mail-reports.ts';
import { loadDomainData } from '../engine/data/domain-data.ts';
import { readOutcome } from '../engine/smtp/bounce.ts';
import { createClassifier } from '../engine/smtp/classify.ts';
import { MAIL_REPORT_READ } from '../kernel/facts/limits.ts';
import { DISREGARDED, messagesOf, readMailReport } from './mail-report.ts';

const classifier = createClassifier();
const data = loadDomainData();

async function countOf(raw: Uint8Array) {
  const { outcomes, disregarded } = await readMailReport(raw);
  const [first] = outcomes;
  if (first === undefined) return disregarded[0]?.why;
  const { email, outcome, diagnostic } = first;
  const said = { outcome, diagnostic, address: email };
  const { class: as } = readOutcome(classifier, said, (host) => data.provider(host)?.name ?? null);
  return { outcome, as };
}

it.each([...SAMPLE_REPORTS, ...SAMPLE_FEEDBACK])('$server ($language)', async ({ raw, counts }) => {
  const { outcomes } = await readMailReport(raw);
  expect(await countOf(raw)).toEqual(counts);
  for (const { email, at } of outcomes) expect({ email, at }).toEqual({ email: RECIPIENT, at: REPORTED_AT });
});

it('has samples of twenty mail servers in ten languages', () => {
  const servers = new Set(SAMPLE_REPORTS.map(({ server }) => server.split(/,| before/)[0]));
  expect(servers.size).toBeGreaterThanOrEqual(20);
  expect(new Set(SAMPLE_REPORTS.map(({ language }) => language)).size).toBeGreaterThanOrEqual(10);
});

it('reads each recipient of a report for itself', async () => {
  const raw = Buffer.from(
    [
      'Content-Type: multipart/report; boundary=b',
      `Date: Thu, 05 Nov 2026 09:15:02 +0100`,
      '',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; a.example',
      '',
      'Final-Recipient: rfc822; one@example.com',
      'Action: failed',
      'Diagnostic-Code: smtp; 550 5.1.1 No',
      '',
      'Final-Recipient: rfc822; two@example.com',
      'Action: delayed',
      'Status: 4.4.1',
      '',
      'Final-Recipient: rfc822; three@example.com',
      'Status: 5.2.2',
      '',
      // Forwarded: what was sent to is the original.
      'Original-Recipient: rfc822; four@example.com',
      'Final-Recipient: rfc822; x@else.example',
      'Action: failed',
      'Final-Recipient: local; five',
      'Action: failed',
      'Status: 5.1.1',
      '',
      '--b--',
      '',
    ].join('\r\n'),
  );
  const { outcomes, disregarded } = await readMailReport(raw);
  expect(outcomes.map(({ email, outcome, diagnostic }) => [email, outcome, diagnostic])).toEqual([
    ['one@example.com', 'bounced', '550 5.1.1 No'],
    ['three@example.com', 'bounced', '5.2.2'],
    ['four@example.com', 'bounced', null],
  ]);
  expect(disregarded).toEqual([
    { email: 'two@example.com', why: 'delayed' },
    { email: null, why: 'no_recipient' },
  ]);
});

it('claims nothing of a text that names two addresses or two replies', async () => {
  const text = (body: string) =>
    Buffer.from(`From: MAILER-DAEMON@isp.example\r\nTo: news@sender.example\r\n\r\n${body}`);
  const of = async (body: string) => (await readMailReport(text(body))).outcomes.map(({ email }) => email);
  expect(await of(`<${RECIPIENT}>: 550 5.1.1 unknown`)).toEqual([RECIPIENT]);
  expect(await of(`To news@sender.example: <${RECIPIENT}>: 550 5.1.1 unknown`)).toEqual([RECIPIENT]);
  expect(await of(`<${RECIPIENT}> or <eve@example.com>: 550 5.1.1 unknown`)).toEqual([]);
  expect(await of(`<${RECIPIENT}>: 550 5.1.1 unknown. Earlier: 452 4.2.2 full`)).toEqual([]);
  expect(await of(`<${RECIPIENT}>: 550 5.1.1 unknown or 5.7.1 refused`)).toEqual([]);
  expect(await of(`<${RECIPIENT}>: 451 4.3.0 still trying`)).toEqual([]);
  expect(await of(`<${RECIPIENT}>: 550 one\r\n\r\n<eve@example.com>: 550 two`)).toEqual([RECIPIENT, 'eve@example.com']);
});

it('does not open the message that is returned', async () => {
  const [postfix] = SAMPLE_REPORTS;
  const inner = postfix?.raw.toString() ?? '';
  const forwarded = Buffer.from(
    `From: a@b.example\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\nContent-Type: message/rfc822\r\n\r\n${inner}\r\n--o--\r\n`,
  );
  expect(await countOf(forwarded)).toBe('no_report');
});

it.each(Object.keys(HOSTILE_REPORTS))('bounds %s', async (name) => {
  const raw = HOSTILE_REPORTS[name]?.() ?? Buffer.alloc(0);
  expect(raw.length).toBeLessThanOrEqual(1024 * 1024);
  const { outcomes, disregarded } = await readMailReport(raw);
  expect(outcomes.length + disregarded.length).toBeLessThanOrEqual(MAIL_REPORT_READ.recipients);
  for (const { diagnostic } of outcomes) expect(diagnostic?.length ?? 0).toBeLessThanOrEqual(2_000);
});

it('reads no more of a message than its first bytes, lines, boundaries and headers', async () => {
  const report = (before: string, headers = '') =>
    Buffer.from(
      `From: a@b.example\n${headers}Content-Type: multipart/report; boundary=b\n\n--b\n\n${before}\n--b\nContent-Type: message/delivery-status\n\nFinal-Recipient: rfc822;${RECIPIENT}\nAction: failed\n`,
    );
  const { lines, bytes, boundaries, headerBytes } = MAIL_REPORT_READ;
  const isRead = async (raw: Buffer) => (await readMailReport(raw)).outcomes.length === 1;
  expect(await isRead(report('x\n'.repeat(lines - 20)))).toBe(true);
  expect(await isRead(report('x\n'.repeat(lines)))).toBe(false);
  expect(await isRead(report('x'.repeat(bytes - 1_000)))).toBe(true);
  expect(await isRead(report('x'.repeat(bytes)))).toBe(false);
  expect(await isRead(report('--c\n'.repeat(boundaries - 4)))).toBe(true);
  expect(await isRead(report('--c\n'.repeat(boundaries)))).toBe(false);
  expect(await isRead(report('x', `X: ${'y'.repeat(headerBytes - 1_000)}\n`))).toBe(true);
  expect(await countOf(report('x', `X: ${'y'.repeat(headerBytes)}\n`))).toBe('too_complex');
});

it('reads whatever a report is cut or changed to', async () => {
  const samples = [...SAMPLE_REPORTS, ...SAMPLE_FEEDBACK].map(({ raw }) => raw);
  const change = fc.tuple(
    fc.nat(),
    fc.constantFrom('', '\0', '\r\n', '\n\n', '--=_b1', '--=_b1--', ';', '@', '<', 'ÿ'),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...samples),
      fc.nat(),
      fc.array(change, { maxLength: 8 }),
      async (sample, cut, changes) => {
        let text = sample.toString('latin1').slice(0, cut % (sample.length + 1));
        for (const [at, put] of changes) {
          const place = at % (text.length + 1);
          text = text.slice(0, place) + put + text.slice(place + (put === '' ? 3 : 0));
        }
        const { outcomes, disregarded } = await readMailReport(Buffer.from(text, 'latin1'));
        expect(outcomes.length + disregarded.length).toBeGreaterThan(0);
        for (const { why } of disregarded) expect(Object.keys(DISREGARDED)).toContain(why);
        for (const { email, diagnostic } of outcomes) {
          expect(email).toMatch(/^\S{1,254}$/);
          expect(diagnostic?.length ?? 0).toBeLessThanOrEqual(2_000);
        }
      },
    ),
    { numRuns: 300 },
  );
});

async function* inPieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const read = async (text: string, size = 7): Promise<string[]> => {
  const found: string[] = [];
  for await (const message of messagesOf(inPieces(text, size))) found.push(message.toString());
  return found;
};

it('takes an mbox apart, and one message as it is', async () => {
  const line = 'From MAILER-DAEMON Thu Nov  5 08:15:02 2026\n';
  expect(await read(`${line}A: 1\n\nFrom here on\n>From you\n\n${line}B: 2\n\ny\n`)).toEqual([
    'A: 1\n\nFrom here on\nFrom you\n\n',
    'B: 2\n\ny\n',
  ]);
  expect(await read('A: 1\r\n\r\nFrom me\r\n>From you\r\n')).toEqual(['A: 1\r\n\r\nFrom me\r\n>From you\r\n']);
  expect(await read('')).toEqual([]);
  expect((await read('x'.repeat(3_000_000), 65_536)).map(({ length }) => length)).toEqual([1_048_576]);
});
