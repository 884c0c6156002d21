import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type DnsLab, zone } from '../lab/dns.ts';
import { type MailSink, startMailSink } from '../lab/mail-sink.ts';
import { browser } from '../lab/person.ts';
import { runCli, startProcess } from '../lab/process.ts';
import { securityKey, totp } from '../lab/second-factor.ts';
import { NET } from '../lab/service.ts';
import { type Database, freshDatabase } from '../lab/stores.ts';

vi.setConfig({ testTimeout: 60_000 });

let dns: DnsLab;
let database: Database;
let sink: MailSink;
beforeAll(async () => {
  dns = await zone(NET);
  database = await freshDatabase();
  // Every second mail is rejected, with the address in the server's reply.
  let n = 0;
  sink = await startMailSink({
    on: ({ verb, path }) => (verb === 'RCPT' && ++n % 2 === 0 ? `550 5.1.1 <${path}> unknown` : undefined),
  });
});
afterAll(async () => {
  await sink.close();
  await dns.close();
  await database.drop();
});

it('logs even at the finest level no password, cookie, token, code or address of a user', async () => {
  const secrets = new Set<string>();
  const secret = <T extends string>(text: T): T => {
    secrets.add(text);
    return text;
  };
  const environment = {
    MAILVET_DATABASE_URL: database.url,
    MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILVET_DNS_CONTROL_NAMES: 'none',
    MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    MAILVET_AUTH_SECRET: secret('a secret for cookies that nobody else has'),
  };
  const service = await startProcess(
    {
      ...environment,
      MAILVET_LOG_LEVEL: 'trace',
      MAILVET_SIGNUP: 'open',
      MAILVET_MAIL_URL: sink.url.replace('smtp://', `smtp://${secret('mailuser')}:${secret('mailpassword')}@`),
    },
    ['--first-account'],
  );
  let log = '';
  for (const stream of [service.child.stdout!, service.child.stderr!])
    stream.on('data', (chunk: Buffer) => {
      log += chunk;
    });
  const setup = secret(String(service.greeting.setup_url).split('#token=')[1]!);
  const [password, wrong, fresh] = [
    secret('correct horse battery'),
    secret('incorrect pony'),
    secret('a better password'),
  ];
  const email = secret('secretive@good.com');

  const ada = browser(service.url);
  const post = async (path: string, body?: unknown) => {
    const reply = await ada.call('POST', `/dashboard${path}`, body);
    for (const value of ada.jar.values()) {
      secret(value);
      secret(decodeURIComponent(value).split('.')[0]!);
    }
    return reply;
  };
  expect((await post('/setup', { token: setup, name: 'Ada', email, password })).status).toBe(201);
  await post('/sign-in', { email, password: wrong });
  await post('/sign-in', { email: secret('stranger@good.com'), password: wrong });
  await post('/sign-in', `{"email": "${email}", "password": "${wrong}"`);
  await post('/sign-in', { email, password });
  const { secret: shared, recovery_codes: recovery } = (await post('/totp', { password })).json;
  secret(shared);
  for (const code of recovery) secret(code);
  await post('/totp/confirm', { code: totp(shared) });
  await post('/sign-in', { email, password });
  await post('/sign-in/code', { code: secret(totp(shared, 70)) });
  expect((await post('/sign-in/code', { code: recovery[0] })).status).toBe(200);
  const { options } = (await post('/passkeys/options', { password })).json;
  const key = securityKey();
  const how = { origin: service.url, rpId: 'localhost' };
  await post('/passkeys', { name: 'key', credential: key.create(options, { ...how, origin: 'https://evil.example' }) });
  await post('/password', { current: wrong, password: fresh });
  for (let i = 0; i < 2; i++) await post('/password/forgot', { email });
  // The notice of the new second factor has no link.
  let token = '';
  while (token === '') ({ token } = await sink.next(email));
  expect((await post('/password/reset', { token: secret(token), password: fresh })).status).toBe(200);
  for (let i = 0; i < 2; i++) await post('/sign-up', { name: 'X', email: secret(`newcomer${i}@good.com`), password });
  await post('/verify-email', { token: secret('abcdefghijklmnopqrstuvwxyz012345') });
  const create = ['user', 'create', '--email', secret('paul@good.com'), '--account', 'acc_none'];
  await runCli(create, environment);
  await service.end('SIGTERM');

  expect(log).toMatch(/"route":"\/dashboard\/sign-in","status":401/);
  expect(log).toMatch(/Mail could not be sent/);
  const found = [...secrets].filter((text) => text.length >= 6 && log.includes(text));
  expect(found).toEqual([]);
});
