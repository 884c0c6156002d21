/** Lists as the service works on them: against real DNS and mail servers, beside single calls. */
import { afterEach, expect, it, vi } from 'vitest';
import type { List, ListResult } from '../../src/store/store.ts';
import { addressesDue } from '../lab/retry.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { type Persona, type SmtpLab, startSmtp } from '../lab/smtp.ts';
import { BLOCKS } from '../store/cast.ts';
import { startedList } from '../store/list-cast.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const it of open.splice(0).reverse()) await it.close();
});

/** A service whose domains have these mail servers, each at an address of its own. */
async function labWith(personas: Readonly<Record<string, Persona>> = {}, environment: Record<string, string> = {}) {
  const servers = new Map<string, SmtpLab>();
  const net: Record<string, { MX?: [number, string][]; A?: string[] }> = {};
  let port = 0;
  let last = 10;
  for (const [domain, persona] of Object.entries(personas)) {
    const address = `127.0.2.${last++}`;
    const server = await startSmtp(persona, { address, port });
    ({ port } = server);
    open.push(server);
    servers.set(domain, server);
    net[domain] = { MX: [[10, `mx.${domain}`]] };
    net[`mx.${domain}`] = { A: [address] };
  }
  const lab = await startLab({ MAILVET_SMTP_PORT: `${port || 25}`, ...environment }, { net });
  open.push(lab);
  return { lab, servers };
}

/** The first value that is not null. */
async function until<T>(look: () => Promise<T | null>): Promise<T> {
  const found = await vi.waitUntil(
    async () => {
      const value = await look();
      return value === null ? false : { value };
    },
    { timeout: 30_000, interval: 20 },
  );
  return found.value;
}

const ownerOf = ({ account, keyId }: Member) => ({ account, key: { id: keyId } });
const listOf = async (lab: Lab, who: Member, id: string): Promise<List> => {
  const list = await lab.store.lists.get(who.account.id, id);
  if (list === null) throw new Error('The list is gone.');
  return list;
};
const completed = (lab: Lab, who: Member, id: string): Promise<List> =>
  until(async () => {
    const list = await listOf(lab, who, id);
    return list.status === 'running' ? null : list;
  });

/** Results by address. */
async function resultsOf(lab: Lab, who: Member, id: string): Promise<Map<string, ListResult>> {
  const results = new Map<string, ListResult>();
  for (let after = 0; ; ) {
    const block = await lab.store.lists.block(who.account.id, id, after);
    if (block === null) return results;
    for (const result of block.results.values()) results.set(result.email, result);
    after = block.rows.at(-1)?.row ?? after + 1;
  }
}

/** What does not depend on when and where it was asked. */
function verdictOf(body: string): unknown {
  const { id, duration_ms, verified_at, ...rest } = JSON.parse(body) as Record<string, unknown>;
  expect([typeof id, typeof duration_ms, typeof verified_at]).toEqual(['string', 'number', 'string']);
  return rest;
}

const MX_CAST = [
  'jane@good.com',
  'Jane+tag@GOOD.com',
  'sales@good.com',
  'not an address',
  'a@no-mail.com',
  'a@null-mx.com',
  'a@implicit.com',
  'a@broken-mx.com',
  'a@lame.com',
  'b@lame.com',
  'a@nowhere.com',
  'a@b.nosuchtld',
  'B@b.nosuchtld',
  'a@nowhere.co.za',
  'a@filtered.nosuchtld',
  'a@mailinator.com',
  'a@front.com',
  'blocked@good.com',
  'a@filtered.com',
  'a@b.filtered.com',
  'jane@google-hosted.com',
  'bo@google-hosted.com',
  'a1@duck.com',
];

it('judges every address as a single call does, and charges the same', async () => {
  const { lab } = await labWith();
  const who = await lab.member();
  const filter = (filterType: 'email' | 'domain', value: string) => ({ filterType, value, reason: null, ...BLOCKS });
  await lab.store.filters.addMany(who.account.id, [
    filter('email', 'blocked@good.com'),
    filter('domain', 'filtered.com'),
    filter('domain', 'filtered.nosuchtld'),
  ]);
  const id = await startedList(lab.store, ownerOf(who), MX_CAST, { retryMinutes: 0 });
  const list = await completed(lab, who, id);
  expect(list).toMatchObject({ status: 'completed', done: MX_CAST.length, waiting: 0, credits: { held: 0 } });
  const results = await resultsOf(lab, who, id);
  expect([...results.keys()].sort()).toEqual([...MX_CAST].sort());
  let credits = 0;
  for (const email of MX_CAST) {
    const single = await who.verify(email);
    expect(verdictOf(results.get(email)?.body ?? '{}'), email).toEqual(verdictOf(single.text));
    credits += single.json.credits_used;
  }
  expect(list.credits.used).toBe(credits);
  const found = (email: string) => JSON.parse(results.get(email)?.body ?? '{}');
  const google = { provider: 'google', provider_kind: 'mailbox' };
  // Both were asked about with one look-up.
  expect([found('jane@google-hosted.com').checks.mx, found('bo@google-hosted.com').checks.mx]).toMatchObject([
    google,
    google,
  ]);
  expect(found('a1@duck.com').relay_provider).toBe('DuckDuckGo Email Protection');
  const rows = (await who.call('GET', `/v1/lists/${id}/rows`)).json.rows;
  const row = (email: string) => rows.find((one: { email: string }) => one.email === email);
  expect(row('a1@duck.com').relay_provider).toBe('DuckDuckGo Email Protection');
  expect(row('bo@google-hosted.com').checks.mx).toMatchObject(google);
  // Once more, from memory.
  const again = await startedList(lab.store, ownerOf(who), ['ada@google-hosted.com'], { retryMinutes: 0 });
  await completed(lab, who, again);
  const [remembered] = (await resultsOf(lab, who, again)).values();
  expect(JSON.parse(remembered?.body ?? '{}').checks.mx).toMatchObject(google);
  expect(await lab.store.accounts.audit()).toEqual([]);
});

it('asks a domain once, and mail servers in shared sessions, with the verdicts of single calls', async () => {
  const mailboxes = Array.from({ length: 60 }, (_, i) => `good${i}`);
  const { lab, servers } = await labWith({
    'plain.com': { mailboxes },
    'any.com': { mailboxes: ['*'] },
    'full.com': { on: ({ verb }) => (verb === 'RCPT' ? '552 5.2.2 Mailbox full' : undefined) },
    'norelay.com': { on: ({ verb }) => (verb === 'RCPT' ? '554 5.7.1 Relay access denied' : undefined) },
    'blocks.com': { banner: '554 5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org' },
  });
  const who = await lab.member();
  const emails = [
    ...Array.from({ length: 60 }, (_, i) => `${i % 4 === 0 ? 'nobody' : 'good'}${i}@plain.com`),
    ...['a', 'b', 'c', 'd'].map((name) => `${name}@any.com`),
    ...['a', 'b'].flatMap((name) => [`${name}@full.com`, `${name}@norelay.com`, `${name}@no-mail.com`]),
  ];
  const id = await startedList(lab.store, ownerOf(who), emails, { level: 'smtp' });
  expect(await completed(lab, who, id)).toMatchObject({ status: 'completed', done: emails.length });
  expect(lab.dns.asked('plain.com', 'MX')).toBe(1);
  const plain = servers.get('plain.com');
  expect(plain?.connections.length).toBeLessThan(15);
  expect(plain?.verbs().filter((verb) => verb === 'DATA')).toEqual([]);
  const results = await resultsOf(lab, who, id);
  for (const email of emails.filter((_, i) => i % 7 === 0 || i >= 60)) {
    const single = await who.verify(email, { validation_type: 'smtp' });
    expect(verdictOf(results.get(email)?.body ?? '{}'), email).toEqual(verdictOf(single.text));
  }
  expect(await lab.store.accounts.audit()).toEqual([]);
});

it('asks again after the time that the server announced, and charges once', async () => {
  const emails = ['a@grey.com', 'b@grey.com', 'a@closed.com', 'a@good.com'];
  const seen = new Set<string>();
  const { lab } = await labWith({
    'grey.com': {
      mailboxes: ['*'],
      on: ({ verb, path }) => {
        if (verb !== 'RCPT' || !emails.includes(path) || seen.has(path)) return undefined;
        seen.add(path);
        return '451 4.7.1 Greylisted, please try again in 1 second';
      },
    },
    'closed.com': { on: ({ verb }) => (verb === 'RCPT' ? '451 4.3.0 Temporary lookup failure' : undefined) },
    'good.com': { mailboxes: ['*'] },
  });
  const who = await lab.member();
  const id = await startedList(lab.store, ownerOf(who), emails, { level: 'smtp' });
  const waits = await until(async () => {
    const list = await listOf(lab, who, id);
    return list.done === 3 && list.waiting === 1 ? list : null;
  });
  expect(waits).toMatchObject({ status: 'running' });
  const { rows } = (await who.call('GET', `/v1/lists/${id}/rows?query=closed`)).json;
  expect(rows).toMatchObject([{ status: null, attempts: 1 }]);
  const results = await resultsOf(lab, who, id);
  expect(results.get('a@grey.com')).toMatchObject({ deliverability: 'risky', reason: 'catch_all', credits: 10 });
  expect(results.get('a@grey.com')?.attempts).toBeGreaterThan(1);
  expect(await lab.store.accounts.audit()).toEqual([]);
});

it.each(['mx', 'smtp'] as const)('asks again when DNS fails, and charges once (%s)', async (level) => {
  const { lab } = await labWith({ 'good.com': { mailboxes: ['*'] } });
  const emails: string[] = [];
  for (const [i, fault] of (['servfail', 'refused', 'silent', 'garbled', 'referral_ra'] as const).entries()) {
    for (const name of [`broken${i}.com`, `mx${i}.com`]) lab.dns.set(name, { fault });
    lab.dns.set(`hosts-${i}.com`, { MX: [[10, `mx${i}.com`]] });
    emails.push(`a@broken${i}.com`, `b@broken${i}.com`, `a@hosts-${i}.com`);
  }
  const who = await lab.member();
  const id = await startedList(lab.store, ownerOf(who), [...emails, 'a@good.com', 'a@gone.com'], { level });
  const waits = await until(async () => {
    const list = await listOf(lab, who, id);
    return list.waiting === emails.length && list.done === 2 ? list : null;
  });
  expect(waits).toMatchObject({ status: 'running', breakdown: { reason: { domain_not_found: 1 } } });
  const { json } = await who.call('GET', `/v1/lists/${id}/rows?query=a@broken0`);
  expect(json.rows).toMatchObject([{ status: null, attempts: 1 }]);
  const mended = { MX: [[10, 'mx.good.com']], A: ['127.0.2.10'] } as const;
  for (const i of emails.keys()) for (const name of [`broken${i}.com`, `mx${i}.com`]) lab.dns.set(name, mended);
  await addressesDue(lab.databaseUrl);
  const list = await completed(lab, who, id);
  expect(list).toMatchObject({ status: 'completed', done: emails.length + 2, waiting: 0 });
  const results = await resultsOf(lab, who, id);
  for (const email of emails) {
    const { status, credits_used: credits } = (await who.verify(email, { validation_type: level })).json;
    expect(results.get(email)).toMatchObject({ status, attempts: 2, credits });
    expect(status).toBe('good');
  }
  const used = [...results.values()].reduce((sum, { credits }) => sum + (credits ?? 0), 0);
  expect(list.credits).toMatchObject({ used, held: 0 });
  expect(await lab.store.accounts.audit()).toEqual([]);
});

it('lets the last answer stand without retries', async () => {
  const { lab } = await labWith({
    'closed.com': { on: ({ verb }) => (verb === 'RCPT' ? '451 4.3.0 Temporary lookup failure' : undefined) },
  });
  const who = await lab.member();
  const id = await startedList(lab.store, ownerOf(who), ['a@closed.com'], { level: 'smtp', retryMinutes: 0 });
  expect(await completed(lab, who, id)).toMatchObject({ status: 'completed', done: 1, credits: { used: 1 } });
  const [result] = (await resultsOf(lab, who, id)).values();
  expect(result).toMatchObject({ reason: 'smtp_temporary_failure', attempts: 1 });
  const broken = await startedList(lab.store, ownerOf(who), ['a@lame.com'], { retryMinutes: 0 });
  expect(await completed(lab, who, broken)).toMatchObject({ status: 'completed', done: 1, credits: { used: 1 } });
});

it('is not held up by the list of another account at servers that never answer', async () => {
  const { lab } = await labWith({
    'tarpit.com': { on: ({ verb }) => (verb === 'RCPT' ? 'silence' : undefined) },
    'quick.com': { mailboxes: ['*'] },
  });
  const [slow, quick] = [await lab.member({ credits: 100_000 }), await lab.member({ credits: 100_000 })];
  const many = Array.from({ length: 3_000 }, (_, i) => `a${i}@tarpit.com`);
  const first = await startedList(lab.store, ownerOf(slow), many, { level: 'smtp' });
  await vi.waitUntil(() => lab.dns.asked('tarpit.com') > 0, { timeout: 30_000 });
  const emails = Array.from({ length: 300 }, (_, i) => `a${i}@quick.com`);
  const second = await startedList(lab.store, ownerOf(quick), emails, { level: 'smtp' });
  expect(await completed(lab, quick, second)).toMatchObject({ status: 'completed', done: 300 });
  expect(await listOf(lab, slow, first)).toMatchObject({ status: 'running', done: 0 });
  expect((await slow.verify('b@quick.com', { validation_type: 'smtp' })).json.deliverability).toBe('risky');
});

it('goes on beside names whose servers never answer', async () => {
  const { lab } = await labWith();
  const who = await lab.member({ credits: 100_000 });
  const silent = Array.from({ length: 100 }, (_, i) => `a@silent${i}.com`);
  for (const email of silent) lab.dns.set(email.slice(2), { fault: 'silent' });
  const others = Array.from({ length: 600 }, (_, i) => `not an address ${i}`);
  const id = await startedList(lab.store, ownerOf(who), [...silent, ...others]);
  const seen = await until(async () => {
    const list = await listOf(lab, who, id);
    return list.done < others.length ? null : list;
  });
  expect(seen).toMatchObject({ status: 'running', done: others.length, waiting: 0 });
});

const PAUSED = Array.from({ length: 40 }, (_, i) => `a${i}@slow.com`);
it.each([
  ['an answer', (path: string) => PAUSED.includes(path)],
  ['the answer about a random recipient', (path: string) => !PAUSED.includes(path)],
])('breaks off the questions of a list that is paused, and asks again when it goes on: %s', async (_title, isHeld) => {
  const gate = Promise.withResolvers<void>();
  const isWaiting = ({ verb, path }: { verb: string; path: string }) => verb === 'RCPT' && isHeld(path);
  const { lab, servers } = await labWith({
    'slow.com': { mailboxes: ['*'], hold: (command) => (isWaiting(command) ? gate.promise : Promise.resolve()) },
  });
  const who = await lab.member();
  const id = await startedList(lab.store, ownerOf(who), PAUSED, { level: 'smtp' });
  const slow = servers.get('slow.com');
  await vi.waitUntil(() => slow?.commands.some(isWaiting), { timeout: 30_000 });
  await lab.store.lists.change(who.account.id, id, 'pause');
  await vi.waitUntil(() => slow?.open === 0, { timeout: 15_000 });
  expect(await listOf(lab, who, id)).toMatchObject({ status: 'paused', done: 0, credits: { held: 400, used: 0 } });
  gate.resolve();
  await lab.store.lists.change(who.account.id, id, 'resume');
  expect(await completed(lab, who, id)).toMatchObject({ status: 'completed', done: 40, credits: { used: 400 } });
  expect(await lab.store.accounts.audit()).toEqual([]);
});

it('records what mail servers answer to the questions that were open at a pause', async () => {
  const { lab, servers } = await labWith(
    { 'steady.com': { mailboxes: [], delayMs: 40 } },
    { MAILVET_SMTP_RATE_PER_OPERATOR: '0' },
  );
  const who = await lab.member({ credits: 10_000 });
  const emails = Array.from({ length: 300 }, (_, i) => `a${i}@steady.com`);
  const id = await startedList(lab.store, ownerOf(who), emails, { level: 'smtp' });
  const steady = servers.get('steady.com');
  const asked = () => steady?.commands.filter(({ verb }) => verb === 'RCPT').map(({ path }) => path) ?? [];
  await vi.waitUntil(() => asked().length >= 10, { timeout: 30_000 });
  await lab.store.lists.change(who.account.id, id, 'pause');
  await vi.waitUntil(() => steady?.open === 0, { timeout: 15_000 });
  await vi.waitUntil(async () => (await listOf(lab, who, id)).done === asked().length);
  expect(asked().length).toBeLessThan(300);
  await lab.store.lists.change(who.account.id, id, 'resume');
  await completed(lab, who, id);
  expect(asked().sort()).toEqual([...emails].sort());
  expect(await lab.store.accounts.audit()).toEqual([]);
});
