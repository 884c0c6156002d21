import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { createKey } from '../../src/service/keys.ts';
import { openStore } from '../../src/store/open.ts';
import { type DnsLab, zone } from '../lab/dns.ts';
import { PASSWORD, person } from '../lab/person.ts';
import { startProcess } from '../lab/process.ts';
import { openRaw } from '../lab/raw-connection.ts';
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

let readers = 0;
interface Written {
  readonly log: string;
  readonly key: string;
  /** Session cookie of the user. */
  readonly user: string;
  readonly account: string;
  readonly secrets: readonly string[];
}

async function written(how: Record<string, string>): Promise<Written> {
  const store = await openStore({ url: database.url, clock: systemClock });
  await store.migrate();
  const account = await store.accounts.create({ name: 'logged', plan: 'premium', rateLimit: null, credits: 100 });
  const { value: key } = await createKey(store, account.id, { name: 'logged', allowIps: [] });
  const service = await startProcess({
    MAILVET_DATABASE_URL: database.url,
    MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILVET_DNS_CONTROL_NAMES: 'none',
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
    request(service.url, 'POST', path, body, {
      authorization,
      cookie: 'session=biscuit',
      'x-forwarded-for': '192.0.2.77',
    });
  await call('/v1/verify', { email: 'secretive.person@good.com' }, `Bearer ${key}`);
  await call('/v1/verify', { email: 'secretive.person@lame.com' }, `Bearer ${key}`);
  await call('/v1/verify', { email: 'secretive.person@good.com', validation_type: 7 }, `Bearer ${key}`);
  await call('/v1/verify', '{"email": "secretive.person@good.com"', `Bearer ${key}`);
  await call(`/v1/nowhere?key=${key}`, {}, `Basic ${key}`);
  const { socket, closed } = await openRaw(service.url);
  const head = `POST /v1/verify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nTransfer-Encoding: chunked\r\n`;
  socket.write(`${head}\r\nno size\r\n`);
  await closed;
  for (const path of ['kickbox/v2/verify?apikey', 'zerobounce/v2/validate?api_key', 'neverbounce/v4/single/check?key'])
    await request(service.url, 'GET', `/compat/${path}=${key}&email=secretive.person@good.com`);
  const reader = await person(
    { url: service.url, store },
    { account: account.id, email: `quiet.reader@n${++readers}.good.com` },
  );
  const here = `/dashboard/accounts/${account.id}`;
  await reader.call('GET', `${here}/overview`);
  await reader.call('POST', `${here}/verify`, { email: 'secretive.person@good.com', validation_type: 'mx' });
  await reader.call('GET', `${here}/log?email=secretive.person`);
  const { json: made } = await reader.call('POST', `${here}/keys`, { name: 'a secretive name' });
  const { json: invited } = await reader.call('POST', `${here}/invitations`, {
    email: 'person@new.com',
    role: 'admin',
  });
  await service.end('SIGTERM');
  await store.close();
  const secrets = [made.value, invited.link.split('#token=')[1], PASSWORD, 'quiet.reader', ...reader.jar.values()];
  return { log, key, user: reader.id, account: account.id, secrets };
}

it('logs one line per request, and even at the finest level no API key, cookie or address', {
  timeout: 60_000,
}, async () => {
  const { log, key, user, account, secrets } = await written({});
  expect(log).toMatch(/"route":"\/v1\/verify","status":200/);
  expect(log).toMatch(/"verification":"ver_/);
  expect(log).toContain(`"route":"/dashboard/accounts/:account/overview","status":200`);
  expect(log).toMatch(new RegExp(`/overview".*"account":"${account}","user":"${user}"`));
  const never = [key, key.slice(8), 'biscuit', 'secretive', 'person@', ...secrets];
  for (const secret of never) expect(log).not.toContain(secret);
  // Clients that have gone are no failure of the service.
  expect(log).not.toMatch(/"level":[45]0(?!.*ALLOW_PRIVATE_NETWORKS)/);
});

it('logs addresses, and IP addresses of clients, as configured', async () => {
  const proxy = { MAILVET_TRUSTED_PROXIES: '127.0.0.1' };
  const { log } = await written({ ...proxy, MAILVET_LOG_ADDRESSES: 'domain' });
  expect(log).toMatch(/"email":"\*@good\.com"/);
  expect(log).toMatch(/"route":"\/v1\/verify","status":200,"ms":[\d.]+,"ip":"192\.0\.2\.77"/);
  const without = { ...proxy, MAILVET_LOG_ADDRESSES: 'full', MAILVET_LOG_CLIENT_IP: 'false' };
  const { log: other } = await written(without);
  expect(other).toContain('secretive.person@good.com');
  expect(other).not.toContain('192.0.2.77');
});
