/** Greylisting servers remember who asked: with several local addresses, the same one has to ask again. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Zone } from '../lab/dns.ts';
import { type Running, startProcess } from '../lab/process.ts';
import { type SmtpLab, startSmtp } from '../lab/smtp.ts';
import { ENGINE } from '../lab/stores.ts';
import { startedList } from '../store/list-cast.ts';
import { openSetting, type Setting } from './setting.ts';

vi.setConfig({ testTimeout: 180_000 });

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const WAIT = { timeout: 120_000, interval: 50 };
const DOMAINS = Array.from({ length: 12 }, (_, i) => `d${i}.com`);
/** Half of the domains have one operator, each of the others has its own. */
const NET: Zone = Object.fromEntries(
  DOMAINS.flatMap((domain, i) => {
    const host = i % 2 === 0 ? `mx${i}.shared-operator.com` : `mx.${domain}`;
    return [
      [domain, { MX: [[10, host]] }],
      [host, { A: ['127.0.5.1'] }],
    ];
  }),
);
const EMAILS = DOMAINS.map((domain) => `jane@${domain}`);
const LOCALS = ['127.0.9.1', '127.0.9.2', '127.0.9.3', '127.0.9.4'];

/** Defers each pair of client address and recipient `times` times. */
async function greylisting(times: number): Promise<SmtpLab> {
  const asked = new Map<string, number>();
  const server = await startSmtp(
    {
      mailboxes: [],
      on({ verb, path }, { from }) {
        if (verb !== 'RCPT') return undefined;
        const pair = `${from} ${path}`;
        asked.set(pair, (asked.get(pair) ?? 0) + 1);
        return (asked.get(pair) ?? 0) <= times ? '451 4.7.1 Greylisted, please try again in 1 second' : undefined;
      },
    },
    { address: '127.0.5.1' },
  );
  open.push(server);
  return server;
}

/** From which addresses a recipient was asked about, in order. */
const peersOf = ({ commands, connections }: SmtpLab, email: string): string[] =>
  commands
    .filter(({ verb, path }) => verb === 'RCPT' && path === email)
    .map(({ connection }) => connections[connection]?.from ?? '');

async function begin(times: number) {
  const server = await greylisting(times);
  const setting = await openSetting({ credits: 100_000, net: NET });
  open.push(setting);
  const start = async (locals: readonly string[], more: Record<string, string> = {}): Promise<Running> => {
    const running = await startProcess({
      ...setting.environment,
      MAILVET_SMTP_PORT: `${server.port}`,
      MAILVET_SMTP_HELO: 'verifier.lab',
      MAILVET_SMTP_RATE_PER_OPERATOR: '0',
      MAILVET_SMTP_BIND: locals.join(','),
      ...more,
    });
    open.push({ close: () => running.end('SIGKILL') });
    return running;
  };
  return { server, setting, start };
}

async function verify({ url }: Running, { key }: Setting, email: string): Promise<string> {
  const reply = await fetch(`${url}/v1/verify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key.value}` },
    body: JSON.stringify({ email, validation_type: 'smtp', timeout_ms: 30_000 }),
  });
  return ((await reply.json()) as { reason: string }).reason;
}

const attemptsOf = (server: SmtpLab) => EMAILS.map((email) => peersOf(server, email).length);

describe.each([1, 2, 4])('with %d local addresses', (count) => {
  const locals = LOCALS.slice(0, count);

  it('single calls are answered at the second attempt, before and after a restart', async () => {
    const { server, setting, start } = await begin(1);
    const first = await start(locals);
    for (const email of EMAILS) expect(await verify(first, setting, email)).toBe('greylisted');
    await first.end('SIGKILL');
    const second = await start(locals.toReversed());
    for (const email of EMAILS) expect(await verify(second, setting, email)).toBe('mailbox_not_found');
    expect(attemptsOf(server)).toEqual(EMAILS.map(() => 2));
    const used = new Set(server.connections.map(({ from }) => from));
    expect(used.size > 1).toBe(count > 1);
  });

  it('lists are answered at the third attempt, with a restart and other addresses in between', async () => {
    const { server, setting, start } = await begin(2);
    const first = await start(locals);
    const { store, account, key } = setting;
    const id = await startedList(store, { account, key }, EMAILS, { level: 'smtp' });
    const look = () => store.lists.get(account.id, id);
    await vi.waitUntil(async () => (await look())?.waiting === EMAILS.length, WAIT);
    await first.end('SIGKILL');
    await start(['127.0.9.21', ...locals, '127.0.9.22', '127.0.9.23']);
    await vi.waitUntil(async () => (await look())?.status === 'completed', WAIT);
    for (const email of EMAILS) expect(new Set(peersOf(server, email)).size, email).toBe(1);
    // Attempts that the killed process could not record are made again.
    for (const attempts of attemptsOf(server)) expect(attempts).toBeLessThanOrEqual(3 + 1);
    expect(await store.accounts.audit()).toEqual([]);
  });
});

it('a deferred recipient whose address is gone from the configuration is asked from one of the others', async () => {
  const { server, setting, start } = await begin(1);
  const first = await start(LOCALS);
  const { store, account, key } = setting;
  const id = await startedList(store, { account, key }, EMAILS, { level: 'smtp' });
  const look = () => store.lists.get(account.id, id);
  await vi.waitUntil(async () => (await look())?.waiting === EMAILS.length, WAIT);
  await first.end('SIGKILL');
  const left = LOCALS.slice(1);
  await start(left);
  await vi.waitUntil(async () => (await look())?.status === 'completed', WAIT);
  for (const email of EMAILS) {
    const peers = peersOf(server, email);
    const [before] = peers;
    const after = new Set(peers.slice(peers.lastIndexOf(LOCALS[0] ?? '') + 1));
    expect(after.size, email).toBe(1);
    if (left.includes(before ?? '')) expect(after, email).toEqual(new Set([before]));
  }
});

it.skipIf(ENGINE !== 'postgres')('two nodes ask about a deferred recipient from the same address', async () => {
  const { server, setting, start } = await begin(2);
  const nodes = [await start(LOCALS), await start(LOCALS.toReversed())];
  // Few: each check waits for a slice of the pace that the nodes share.
  const some = EMAILS.slice(0, 4);
  for (const email of some)
    for (const reason of ['greylisted', 'greylisted', 'mailbox_not_found'])
      expect(await verify(nodes[peersOf(server, email).length % 2] as Running, setting, email)).toBe(reason);
  for (const email of some) expect(new Set(peersOf(server, email)).size, email).toBe(1);
});

describe('after a server has refused one of our addresses', () => {
  it('its domains are not asked from another one, and those of the other addresses go on', async () => {
    const refusing = '127.0.9.1';
    const server = await startSmtp(
      {
        mailboxes: [],
        on: ({ verb }, { from }) =>
          verb === 'MAIL' && from === refusing
            ? `554 5.7.1 Service unavailable; Client host [${from}] blocked using zen.spamhaus.org`
            : undefined,
      },
      { address: '127.0.5.1' },
    );
    open.push(server);
    const setting = await openSetting({ credits: 100_000, net: NET });
    open.push(setting);
    const node = await startProcess({
      ...setting.environment,
      MAILVET_SMTP_PORT: `${server.port}`,
      MAILVET_SMTP_HELO: 'verifier.lab',
      MAILVET_SMTP_BIND: LOCALS.slice(0, 2).join(','),
      MAILVET_SMTP_RATE_PER_OPERATOR: '0',
    });
    open.push({ close: () => node.end('SIGKILL') });
    // The operator that serves several domains.
    const emails = EMAILS.filter((_, i) => i % 2 === 0);
    const reasons = new Map<string, string>();
    for (let round = 0; round < 3; round++)
      for (const email of emails) {
        const reason = await verify(node, setting, email);
        expect(reasons.get(email) ?? reason, email).toBe(reason);
        reasons.set(email, reason);
      }
    expect(new Set(reasons.values())).toEqual(new Set(['smtp_blocked', 'mailbox_not_found']));
    for (const [email, reason] of reasons)
      expect(new Set([...peersOf(server, email), refusing]).size, email).toBe(reason === 'smtp_blocked' ? 1 : 2);
    expect(server.connections.filter(({ from }) => from === refusing)).toHaveLength(1);
  });
});
