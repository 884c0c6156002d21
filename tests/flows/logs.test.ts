import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { createKey } from '../../src/service/keys.ts';
import { openStore } from '../../src/store/open.ts';
import { type DnsLab, zone } from '../lab/dns.ts';
import { startProcess } from '../lab/process.ts';
import { NET, request } from '../lab/service.ts';
import { freshDatabase } from '../lab/stores.ts';

let dns: DnsLab;
let database: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  dns = await zone(NET);
  database = await freshDatabase();
});
afterAll(async () => {
  await dns.close();
  await database.drop();
});

async function written(how: Record<string, string>): Promise<{ log: string; key: string }> {
  const store = await openStore({ url: database.url, clock: systemClock });
  await store.migrate();
  const account = await store.accounts.create({ name: 'logged', plan: 'premium', rateLimit: null, credits: 100 });
  const { value: key } = await createKey(store.keys, account.id, { name: 'logged', allowIps: [] });
  await store.close();
  const service = await startProcess({
    MAILVET_DATABASE_URL: database.url,
    MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    MAILVET_LOG_LEVEL: 'trace',
    ...how,
  });
  let log = '';
  service.child.stdout!.on('data', (chunk: Buffer) => {
    log += chunk;
  });
  service.child.stderr!.on('data', (chunk: Buffer) => {
    log += chunk;
  });
  const call = (path: string, body: unknown, authorization: string) =>
    request(service.url, 'POST', path, body, { authorization, cookie: 'session=biscuit' });
  await call('/v1/verify', { email: 'secretive.person@good.com' }, `Bearer ${key}`);
  await call('/v1/verify', { email: 'secretive.person@lame.com' }, `Bearer ${key}`);
  await call('/v1/verify', { email: 'secretive.person@good.com', validation_type: 7 }, `Bearer ${key}`);
  await call('/v1/verify', '{"email": "secretive.person@good.com"', `Bearer ${key}`);
  await call(`/v1/nowhere?key=${key}`, {}, `Basic ${key}`);
  await service.end('SIGTERM');
  return { log, key };
}

it('has a line per request, and at the finest level no key, no cookie and no address', async () => {
  const { log, key } = await written({});
  expect(log).toMatch(/"route":"\/v1\/verify","status":200/);
  expect(log).toMatch(/"verification":"ver_/);
  for (const secret of [key, key.slice(8), 'biscuit', 'secretive', 'person@']) expect(log).not.toContain(secret);
});

it('shows addresses only when asked to', async () => {
  expect((await written({ MAILVET_LOG_ADDRESSES: 'domain' })).log).toMatch(/"email":"\*@good\.com"/);
  expect((await written({ MAILVET_LOG_ADDRESSES: 'full' })).log).toContain('secretive.person@good.com');
});
