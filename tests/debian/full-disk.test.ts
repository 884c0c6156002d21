import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { createKey } from '../../src/service/keys.ts';
import { openStore } from '../../src/store/open.ts';
import { type DnsLab, zone } from '../lab/dns.ts';
import { type Running, startProcess } from '../lab/process.ts';
import { NET, request } from '../lab/service.ts';

/** A separate file system, small enough to fill. */
const DISK_BYTES = 16 * 1024 * 1024;
let disk: string;
let dns: DnsLab;
let service: Running;

beforeAll(async () => {
  disk = mkdtempSync(join(tmpdir(), 'mailvet-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk]);
  dns = await zone(NET);
});
afterAll(async () => {
  await service?.end('SIGTERM');
  await dns.close();
  execFileSync('umount', [disk]);
  rmSync(disk, { recursive: true });
});

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
    const url = `sqlite:${join(disk, 'mailvet.db')}`;
    const store = await openStore({ url, clock: systemClock });
    await store.migrate();
    const account = await store.accounts.create({ name: 'a', plan: 'enterprise', rateLimit: 1e6, credits: 100_000 });
    const { value: key } = await createKey(store.keys, account.id, { name: 'k', allowIps: [] });
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
    expect((await request(service.url, 'GET', '/readyz')).status).toBe(503);
    rmSync(join(disk, 'filler'));
    expect((await verify(1000)).status).toBe(200);
    // The answer is shared for a second.
    await expect.poll(async () => (await request(service.url, 'GET', '/readyz')).status, { timeout: 10_000 }).toBe(200);
    for (const id of acknowledged) expect(await store.verifications.get(account.id, id), id).not.toBe(null);
    const now = (await store.accounts.get(account.id))!;
    expect([now.balance, now.locked]).toEqual([100_000 - acknowledged.length, 0]);
    expect(await store.accounts.audit()).toEqual([]);
    await store.close();
  });
});
