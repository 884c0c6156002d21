/** Lists survive whatever happens to processes and database, without an operator. */
import { randomInt } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { DAY_MS } from '../../src/kernel/clock.ts';
import type { ListResult } from '../../src/store/store.ts';
import { type PostgresServer, startPostgres } from '../lab/postgres.ts';
import { type Running, startProcess } from '../lab/process.ts';
import { openRaw } from '../lab/raw-connection.ts';
import { type Persona, startSmtp } from '../lab/smtp.ts';
import { ENGINE, runSql } from '../lab/stores.ts';
import { startedList } from '../store/list-cast.ts';
import { openSetting, type Setting } from './setting.ts';

const GRANTED = 1_000_000;
const KILLS = 5;
/** "Within a minute", on a busy machine. */
const RESUMED = { timeout: 120_000, interval: 50 };
const ADDRESS = '127.0.3.1';

const open: { close(): Promise<unknown> }[] = [];
afterAll(async () => {
  for (const it of open.splice(0).reverse()) await it.close();
});

/** A setting with a mail server, and a list at it. */
async function begin(persona: Persona, emails: readonly string[], databaseUrl?: string) {
  const smtp = await startSmtp(persona, { address: ADDRESS });
  open.push(smtp);
  const net = { 'mail.com': { MX: [[10, 'mx.mail.com']] }, 'mx.mail.com': { A: [ADDRESS] } } as never;
  const setting = await openSetting({ credits: GRANTED, net, ...(databaseUrl === undefined ? {} : { databaseUrl }) });
  open.push(setting);
  const id = await startedList(setting.store, setting, emails, { level: 'smtp', block: 100 });
  const environment = { ...setting.environment, MAILVET_SMTP_PORT: `${smtp.port}`, MAILVET_SMTP_HELO: 'verifier.lab' };
  return { setting, smtp, id, environment };
}

async function resultsOf({ store, account }: Setting, id: string): Promise<Map<string, ListResult>> {
  const results = new Map<string, ListResult>();
  for (let row = 0; ; ) {
    const block = await store.lists.block(account.id, id, row);
    if (block === null) return results;
    for (const result of block.results.values()) results.set(result.email, result);
    row = block.rows.at(-1)?.row ?? row + 1;
  }
}

/** Every address has one result, which is charged once; nothing is held. */
async function expectExact(setting: Setting, id: string, emails: readonly string[]): Promise<void> {
  const { store, account } = setting;
  const list = await store.lists.get(account.id, id);
  expect(list).toMatchObject({ status: 'completed', done: emails.length, waiting: 0 });
  const results = await resultsOf(setting, id);
  expect([...results.keys()].sort()).toEqual([...emails].sort());
  const used = [...results.values()].reduce((sum, { credits }) => sum + credits, 0);
  expect(list?.credits).toMatchObject({ used, held: 0 });
  expect(await store.accounts.get(account.id)).toMatchObject({ balance: GRANTED - used, locked: 0 });
  expect(await store.accounts.audit()).toEqual([]);
}

const mixed = (count: number) =>
  Array.from({ length: count }, (_, i) => [`a${i}@mail.com`, `a${i}@slow${i % 50}.com`, `a${i}@no-mail.com`][i % 3]!);

describe('a list whose process is killed', () => {
  it(`goes on after each of ${KILLS} kills, asks for no result twice, and charges each once`, {
    timeout: 400_000,
  }, async () => {
    const emails = mixed(1_500);
    const persona: Persona = { mailboxes: ['*'], delayMs: 3 };
    const { setting, id, environment } = await begin(persona, emails);
    const { store, account } = setting;
    const doneNow = async () => (await store.lists.get(account.id, id))?.done ?? 0;
    let before = new Map<string, ListResult>();
    for (let kill = 0; kill < KILLS; kill++) {
      const done = await doneNow();
      const service = await startProcess(environment);
      if (kill % 2 === 0) await vi.waitUntil(async () => (await doneNow()) > done, RESUMED);
      await after(randomInt(5, 500));
      await service.end('SIGKILL');
      const results = await resultsOf(setting, id);
      for (const [email, { createdAt }] of before) expect(results.get(email)?.createdAt, email).toBe(createdAt);
      before = results;
      expect(await store.accounts.audit()).toEqual([]);
      // What the process had claimed is free when the next one finds that it has ended, however long its lease.
      await runSql(setting.databaseUrl, 'UPDATE list_leases SET ends_at = ends_at + 3600000');
    }
    const service = await startProcess(environment);
    await vi.waitUntil(async () => (await store.lists.get(account.id, id))?.status === 'completed', RESUMED);
    await expectExact(setting, id, emails);
    expect(await service.end('SIGTERM')).toBe(0);
  });
});

describe('an upload whose process is killed', () => {
  it('leaves no list, no credits held, and nothing in the store after its time', { timeout: 200_000 }, async () => {
    const setting = await openSetting({ credits: GRANTED });
    open.push(setting);
    const { store, account, key, databaseUrl, environment } = setting;
    const service = await startProcess(environment);
    const { socket } = await openRaw(service.url);
    // It is stored once it is here; so many rows take a while.
    const file = `email\r\n${Array.from({ length: 500_000 }, (_, i) => `a${i}@good.com\r\n`).join('')}`;
    socket.write(
      `POST /v1/lists HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key.value}\r\nContent-Type: text/csv\r\nContent-Length: ${file.length}\r\n\r\n`,
    );
    socket.write(file);
    const blocks = () => runSql(databaseUrl, 'SELECT first_row FROM list_blocks');
    await vi.waitUntil(async () => (await blocks()).length > 0, { ...RESUMED, interval: 10 });
    await service.end('SIGKILL');
    socket.destroy();
    expect((await runSql(databaseUrl, 'SELECT status FROM lists')).flat()).toEqual([{ status: 'uploading' }]);
    const next = await startProcess(environment);
    const headers = { authorization: `Bearer ${key.value}` };
    const seen = await fetch(`${next.url}/v1/lists`, { headers });
    expect(await seen.json()).toMatchObject({ lists: [] });
    expect(await store.accounts.get(account.id)).toMatchObject({ balance: GRANTED, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
    await runSql(databaseUrl, "UPDATE lists SET changed_at = 0 WHERE status = 'uploading'");
    await store.upkeep.purge(DAY_MS);
    await vi.waitUntil(async () => (await runSql(databaseUrl, 'SELECT id FROM lists')).length === 0, RESUMED);
    expect(await blocks()).toEqual([]);
    expect(await runSql(databaseUrl, 'SELECT first_row FROM list_chunks')).toEqual([]);
    expect(await next.end('SIGTERM')).toBe(0);
  });
});

describe.skipIf(ENGINE !== 'postgres')('a list on three nodes', () => {
  it('completes though each is killed in turn, and PostgreSQL restarted in two ways', {
    timeout: 500_000,
  }, async () => {
    const server: PostgresServer = await startPostgres();
    open.push({ close: () => server.stop() });
    const emails = mixed(3_000);
    const persona: Persona = { mailboxes: ['*'], delayMs: 20 };
    const { setting, id, environment } = await begin(persona, emails, server.url);
    const { store, account } = setting;
    const look = () => store.lists.get(account.id, id).catch(() => null);
    const nodes: Running[] = await Promise.all([1, 2, 3].map(() => startProcess(environment)));
    await vi.waitUntil(async () => ((await look())?.done ?? 0) > 0, RESUMED);
    for (const [i, node] of nodes.entries()) {
      await node.end('SIGKILL');
      if (i < 2) await server.restart(i === 0 ? 'fast' : 'immediate');
      nodes[i] = await startProcess(environment);
      await after(randomInt(50, 500));
    }
    await vi.waitUntil(async () => (await look())?.status === 'completed', { ...RESUMED, timeout: 240_000 });
    await Promise.all(nodes.map((node) => node.end('SIGTERM')));
    await expectExact(setting, id, emails);
  });
});
