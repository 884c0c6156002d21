import { randomInt } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Running, startProcess } from '../lab/process.ts';
import { runSql } from '../lab/stores.ts';
import { openSetting, type Setting } from './setting.ts';

/** `npm test` asks for all of them; a few show the same during development. */
const ROUNDS = Number(process.env.MAILVET_TEST_ROUNDS ?? 3);
const CLIENTS = 8;

let setting: Setting;
beforeAll(async () => {
  setting = await openSetting({ credits: 1_000_000 });
});
afterAll(() => setting.close());

async function verify({ url }: Running, email: string): Promise<{ count: number; before: boolean }> {
  const headers = {
    authorization: `Bearer ${setting.key.value}`,
    'content-type': 'application/json',
    'idempotency-key': email,
  };
  const body = JSON.stringify({ email, scope: 'signup' });
  const response = await fetch(`${url}/v1/verify`, { method: 'POST', headers, body });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return JSON.parse(text).seen;
}

/** One new mailbox after the other until the service is gone, half of them after a wait for the DNS. */
async function signUpUntilKilled(service: Running, prefix: string, sent: Set<string>): Promise<void> {
  for (let i = 0; ; i++) {
    const email = `${prefix}-${i}@${i % 2 === 0 ? 'good.com' : `slow${i % 50}.com`}`;
    sent.add(email);
    try {
      await verify(service, email);
    } catch (error) {
      if (error instanceof TypeError) return;
      throw error;
    }
  }
}

it(`kill -9 in ${ROUNDS} rounds: every verdict is remembered, nothing else, and a repeated request counts once`, {
  timeout: 120_000,
}, async () => {
  const sent = new Set<string>();
  const one = async (text: string) => Number((await runSql(setting.databaseUrl, text))[0]?.n);
  for (let round = 0; round < ROUNDS; round++) {
    const service = await startProcess(setting.environment);
    const clients = Array.from({ length: CLIENTS }, (_, n) => signUpUntilKilled(service, `r${round}-c${n}`, sent));
    await after(randomInt(100, 400));
    expect(await service.end('SIGKILL')).toBe('SIGKILL');
    await Promise.all(clients);
    expect(await one('SELECT count(*) AS n FROM seen')).toBe(await one('SELECT count(*) AS n FROM verifications'));
  }
  const service = await startProcess(setting.environment);
  for (const email of sent)
    expect([email, await verify(service, email)]).toMatchObject([email, { before: false, count: 1 }]);
  expect(await one('SELECT count(*) AS n FROM seen WHERE count = 1')).toBe(sent.size);
  expect(await one('SELECT mailboxes AS n FROM seen_secrets')).toBe(sent.size);
  expect(await service.end('SIGTERM')).toBe(0);
});
