import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { createKey } from '../../src/service/keys.ts';
import { openStore } from '../../src/store/open.ts';
import { type DnsLab, zone } from '../lab/dns.ts';
import { startPostgres } from '../lab/postgres.ts';
import { type Running, runCli, startProcess } from '../lab/process.ts';
import { NET, request } from '../lab/service.ts';
import { runSql } from '../lab/stores.ts';

let disk: string;
let dns: DnsLab;
let service: Running;

beforeAll(async () => {
  dns = await zone(NET);
});
afterAll(() => dns.close());
beforeEach(() => {
  disk = mkdtempSync(join(tmpdir(), 'mailvet-disk-'));
});
afterEach(() => {
  execFileSync('umount', [disk]);
  rmSync(disk, { recursive: true });
});

/** A separate file system, small enough to fill. */
function mount(bytes: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=755`, 'tmpfs', disk]);
}

function fill(): void {
  for (const size of [65_536, 4096, 512, 1]) {
    try {
      for (;;) appendFileSync(join(disk, 'filler'), Buffer.alloc(size));
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    }
  }
}

describe('a full disk', () => {
  it('returns 503, loses nothing that was acknowledged, and recovers when there is space', async () => {
    mount(16 * 1024 * 1024);
    await lived(`sqlite:${join(disk, 'mailvet.db')}`);
  });

  it('of PostgreSQL does the same, and is seen without a charge', async () => {
    mount(192 * 1024 * 1024);
    const server = await startPostgres({ parent: disk });
    try {
      await lived(server.url);
    } finally {
      await server.stop();
    }
  });

  it('gets no backup, and nothing of one', async () => {
    mount(4 * 1024 * 1024);
    const folder = mkdtempSync(join(tmpdir(), 'mailvet-live-'));
    const url = `sqlite:${join(folder, 'mailvet.db')}`;
    const store = await openStore({ url, clock: systemClock });
    await store.migrate();
    await runSql(url, "INSERT INTO secrets (name, value) VALUES ('big', printf('%.5000000c', 'x'))");
    const ran = await runCli(['backup', join(disk, 'b.db')], { MAILVET_DATABASE_URL: url });
    expect(ran).toMatchObject({ code: 1, err: expect.stringMatching(/The backup failed: database or disk is full/) });
    expect(readdirSync(disk)).toEqual([]);
    await store.close();
    rmSync(folder, { recursive: true });
  });

  async function lived(url: string): Promise<void> {
    const store = await openStore({ url, clock: systemClock });
    await store.migrate();
    const account = await store.accounts.create({ name: 'a', plan: 'enterprise', rateLimit: 1e6, credits: 100_000 });
    const { value: key } = await createKey(store, account.id, { name: 'k', allowIps: [] });
    service = await startProcess({
      MAILVET_DATABASE_URL: url,
      MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
      MAILVET_DNS_CONTROL_NAMES: 'none',
      MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    });
    const acknowledged: string[] = [];
    const verify = async (n: number) => {
      const reply = await request(
        service.url,
        'POST',
        '/v1/verify',
        { email: `user${n}@good.com` },
        { authorization: `Bearer ${key}` },
      );
      if (reply.status === 200) acknowledged.push(reply.json.id);
      return reply;
    };
    for (let n = 0; n < 50; n++) expect((await verify(n)).status).toBe(200);
    fill();
    const during = [];
    for (let n = 0; n < 400; n++) during.push(await verify(n));
    const refused = during.filter((r) => r.status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    for (const { status, json, headers } of refused) {
      expect([status, json.code]).toEqual([503, 'verification_unavailable']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(during.at(-1)!.status).toBe(503);
    const ready = async () => (await request(service.url, 'GET', '/readyz')).status;
    expect(await ready()).toBe(503);
    // The result of the last charge no longer counts.
    await after(6_000);
    expect(await ready()).toBe(503);
    rmSync(join(disk, 'filler'));
    await expect.poll(async () => (await verify(1000)).status, { timeout: 30_000 }).toBe(200);
    // The answer is shared for a second.
    await expect.poll(ready, { timeout: 10_000 }).toBe(200);
    for (const id of acknowledged) expect(await store.verifications.get(account.id, id), id).not.toBe(null);
    const now = (await store.accounts.get(account.id))!;
    expect([now.balance, now.locked]).toEqual([100_000 - acknowledged.length, 0]);
    expect(await store.accounts.audit()).toEqual([]);
    await store.close();
    await service.end('SIGTERM');
  }
});
