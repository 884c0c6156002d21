import { randomInt } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Running, startProcess } from '../lab/process.ts';
import { runSql } from '../lab/stores.ts';
import { openSetting, type Setting } from './setting.ts';

/** `npm test` asks for all of them; a few show the same during development. */
const ROUNDS = Number(process.env.MAILVET_TEST_ROUNDS ?? 3);
const CLIENTS = 8;
const ROWS = 20;
const AT = new Date(Date.now() - 60_000).toISOString();

let setting: Setting;
beforeAll(async () => {
  setting = await openSetting({ credits: 1_000_000 });
});
afterAll(() => setting.close());

/** Every second one bounces; the same key sends the same body. */
async function report({ url }: Running, key: string): Promise<{ recorded: number; duplicates: number }> {
  const outcomes = Array.from({ length: ROWS }, (_, i) => ({
    email: `${key}-${i}@good.com`,
    at: AT,
    outcome: i % 2 === 0 ? 'delivered' : 'bounced',
    diagnostic: '550 5.1.1 User unknown',
  }));
  const headers = {
    authorization: `Bearer ${setting.key.value}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  };
  const response = await fetch(`${url}/v1/outcomes`, { method: 'POST', headers, body: JSON.stringify({ outcomes }) });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return JSON.parse(text);
}

async function reportUntilKilled(service: Running, prefix: string, sent: Set<string>): Promise<void> {
  for (let i = 0; ; i++) {
    const key = `${prefix}-${i}`;
    sent.add(key);
    try {
      await report(service, key);
    } catch (error) {
      if (error instanceof TypeError) return;
      throw error;
    }
  }
}

it(`kill -9 in ${ROUNDS} rounds: a report is recorded whole with its sums and its reply, or not at all`, {
  timeout: 120_000,
}, async () => {
  const sent = new Set<string>();
  const one = async (text: string) => Number((await runSql(setting.databaseUrl, text))[0]?.n);
  const rows = () => one('SELECT count(*) AS n FROM outcomes');
  const summed = () => one("SELECT coalesce(sum(sent), 0) AS n FROM outcome_sums WHERE kind = 'domain'");
  for (let round = 0; round < ROUNDS; round++) {
    const service = await startProcess(setting.environment);
    const clients = Array.from({ length: CLIENTS }, (_, n) => reportUntilKilled(service, `r${round}-c${n}`, sent));
    await after(randomInt(100, 400));
    expect(await service.end('SIGKILL')).toBe('SIGKILL');
    await Promise.all(clients);
    const recorded = await rows();
    expect([recorded % ROWS, await summed()]).toEqual([0, recorded]);
    expect(await one("SELECT count(*) AS n FROM idempotency WHERE state = 'done'")).toBe(recorded / ROWS);
  }
  const service = await startProcess(setting.environment);
  for (const key of sent) expect(await report(service, key)).toMatchObject({ recorded: ROWS, duplicates: 0 });
  expect([await rows(), await summed()]).toEqual([sent.size * ROWS, sent.size * ROWS]);
  expect(await one("SELECT sum(bounced) AS n FROM outcome_sums WHERE kind = 'domain'")).toBe((sent.size * ROWS) / 2);
  expect(await service.end('SIGTERM')).toBe(0);
});
