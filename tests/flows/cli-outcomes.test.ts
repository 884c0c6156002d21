import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SAMPLE_FEEDBACK, SAMPLE_REPORTS } from '../lab/mail-reports.ts';
import { runCli } from '../lab/process.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { runSql } from '../lab/stores.ts';

let lab: Lab;
let own: Member;
beforeAll(async () => {
  lab = await startLab();
  own = await lab.member();
});
afterAll(() => lab.close());

const dir = mkdtempSync(join(tmpdir(), 'mailvet-outcomes-'));
const sample = (server: string): string =>
  [...SAMPLE_REPORTS, ...SAMPLE_FEEDBACK].find((one) => one.server === server)?.raw.toString() ?? '';
const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
const cli = (args: readonly string[], env: Record<string, string> = {}) =>
  runCli(['outcomes', ...args], { MAILVET_URL: lab.url, MAILVET_KEY: own.key, ...env });

it('reports the messages of an mbox file, each once', async () => {
  const from = 'From MAILER-DAEMON Thu Nov  5 08:15:02 2026\n';
  const messages = ['Postfix', 'Yahoo', 'vacation', 'Postfix'].map((server) => `${from}${sample(server)}\n`);
  const mbox = file('bounces.mbox', messages.join('\n'));
  const { code, out, err } = await cli([mbox, '--source', 'bounces', '--json']);
  expect([code, err]).toEqual([0, '']);
  expect(JSON.parse(out)).toEqual({ messages: 4, recorded: 2, duplicates: 1, errors: 0, disregarded: 1 });
  const rows = await runSql(lab.databaseUrl, `SELECT class, source FROM outcomes ORDER BY class`);
  expect(rows).toMatchObject([
    { class: 'absent', source: 'bounces' },
    { class: 'complained', source: 'bounces' },
  ]);
  const [counted] = await runSql(lab.databaseUrl, `SELECT key, sent FROM outcome_sums WHERE kind = 'origin'`);
  expect([counted?.key, Number(counted?.sent)]).toEqual(['command', 2]);
});

it('exits with 0 for a message that counts as nothing, so that it is not returned', async () => {
  const { code, out } = await cli([file('person.eml', sample('a person'))]);
  expect([code, out]).toEqual([
    0,
    '1 message: 0 outcomes recorded, 0 known before, 0 with an error, 1 that count as nothing.\n',
  ]);
});

it('exits with 75 for what may pass, so that a mail server tries again', async () => {
  const message = file('bounce.eml', sample('Postfix'));
  for (const env of [{ MAILVET_URL: 'http://127.0.0.1:1' }, { MAILVET_KEY: `${own.key.slice(0, -1)}_` }]) {
    const { code, err } = await cli([message], env);
    expect([code, err !== '']).toEqual([75, true]);
  }
  const { code, err } = await cli([join(dir, 'nothing.eml')]);
  expect([code, err]).toEqual([75, expect.stringContaining('cannot read')]);
});
