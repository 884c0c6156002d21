/** The samples of docs/webhooks.md, as they stand there. */
import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WEBHOOK_EVENT_TYPES } from '../../src/kernel/facts/events.ts';
import { type Receiver, startReceiver } from '../lab/receiver.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');
const samples = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}(?: \\[\\w+\\])?\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code]) => code ?? '',
  );

let lab: Lab;
let member: Member;
let receiver: Receiver;
beforeAll(async () => {
  lab = await startLab();
  member = await lab.member();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await lab.close();
});

it('has a row for every event', () => {
  const rows = [...PAGE.matchAll(/^\| `([a-z.]+)` \|/gm)].map(([, name]) => name ?? '');
  expect(rows.filter((name) => name.includes('.') || name === 'ping')).toEqual([...WEBHOOK_EVENT_TYPES]);
});

it('shows commands that work, and a receiver that verifies', async () => {
  const [createIt, enable, test, replay, rotate] = samples('sh');
  const env: Record<string, string> = { MAILVET_KEY: member.key };
  const sh = async (command = ''): Promise<ReturnType<JSON['parse']>[]> => {
    const text = command.replaceAll('http://127.0.0.1:8025', lab.url);
    const local = text.replaceAll('https://example.com/webhooks', `${receiver.url}/webhooks`);
    const run = promisify(execFile)('bash', ['-c', local], { env: { ...process.env, ...env } });
    return JSON.parse(`[${(await run).stdout.replaceAll('}{', '},{')}]`);
  };
  const [created] = await sh(createIt);
  env.WEBHOOK_ID = created.id;
  expect(created.events).toEqual(['list.completed', 'credits.low']);
  expect((await sh(enable))[0]).toMatchObject({ enabled: true });
  const [ping, listed] = await sh(test);
  expect(ping).toMatchObject({ event: 'ping', status: 'delivered' });
  expect(listed.deliveries).toMatchObject([{ id: ping.id }]);
  env.DELIVERY_ID = ping.id;
  expect((await sh(replay))[0]).toMatchObject({ event_id: ping.event_id, status: 'pending' });
  expect((await sh(rotate))[0].secret).not.toBe(created.secret);

  // On any port, with the client's sources in place of the installed package.
  const program = (samples('js')[0] ?? '')
    .replace("'@mailvet/client'", JSON.stringify(join(ROOT, 'sdk/src/index.ts')))
    .replace('.listen(3000)', ".listen(0, '127.0.0.1', function () { console.log(this.address().port); })");
  const folder = await mkdtemp(join(tmpdir(), 'mailvet-sample-'));
  await writeFile(join(folder, 'receiver.mjs'), program);
  const secrets = { ...process.env, MAILVET_WEBHOOK_SECRET: created.secret };
  const running = spawn(process.execPath, [join(folder, 'receiver.mjs')], { env: secrets });
  try {
    let output = '';
    running.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    await expect.poll(() => /^\d+\n/.test(output), { timeout: 30_000 }).toBe(true);
    const url = `http://127.0.0.1:${Number.parseInt(output, 10)}/`;
    await member.call('PATCH', `/v1/webhooks/${created.id}`, { url });
    const received = await member.call('POST', `/v1/webhooks/${created.id}/test`);
    expect(received.json).toMatchObject({ status: 'delivered', attempts: [{ status: 204 }] });
    expect(output).toContain('ping');
    const forged = await fetch(url, { method: 'POST', body: '{"type": "ping"}' });
    expect(forged.status).toBe(400);
  } finally {
    running.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
});
