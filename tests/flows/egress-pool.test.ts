/** A pool of egresses, each through a SOCKS server of its own: what is kept, what is refused, what is shown. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Zone } from '../lab/dns.ts';
import { type Running, startProcess } from '../lab/process.ts';
import { type Persona, type SmtpLab, startSmtp } from '../lab/smtp.ts';
import { type SocksLab, type SocksSetup, startSocks } from '../lab/socks.ts';
import { ENGINE } from '../lab/stores.ts';
import { startedList } from '../store/list-cast.ts';
import { openSetting, type Setting } from './setting.ts';

vi.setConfig({ testTimeout: 180_000 });

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const WAIT = { timeout: 120_000, interval: 50 };
const DOMAINS = Array.from({ length: 8 }, (_, i) => `d${i}.com`);
const NET: Zone = Object.fromEntries(
  DOMAINS.flatMap((domain) => [
    [domain, { MX: [[10, `mx.${domain}`]] }],
    [`mx.${domain}`, { A: ['127.0.5.1'] }],
  ]),
);
const EMAILS = DOMAINS.map((domain) => `jane@${domain}`);
const SECRET = 'only-the-relays-know';
/** Each in a network of its own. */
const SOURCES = ['127.0.11.1', '127.0.12.1', '127.0.13.1', '127.0.14.1'];

/** Defers each pair of client network (/24) and recipient `times` times. */
function greylistingByNetwork(times: number): Persona {
  const asked = new Map<string, number>();
  return {
    mailboxes: [],
    on({ verb, path }, { from }) {
      if (verb !== 'RCPT') return undefined;
      const pair = `${from.slice(0, from.lastIndexOf('.'))} ${path}`;
      asked.set(pair, (asked.get(pair) ?? 0) + 1);
      return (asked.get(pair) ?? 0) <= times ? '451 4.7.1 Greylisted, please try again in 1 second' : undefined;
    },
  };
}

interface Pool {
  readonly server: SmtpLab;
  readonly setting: Setting;
  readonly socks: readonly SocksLab[];
  /** Egresses of these numbers, for a file. */
  entries(
    numbers: readonly number[],
  ): readonly { readonly name: string; readonly helo: string; readonly via: string }[];
  /** With the egresses of these numbers, in this order. */
  start(numbers: readonly number[], more?: Record<string, string>): Promise<Running>;
}

async function pool(persona: Persona, count: number, more: SocksSetup = {}): Promise<Pool> {
  const server = await startSmtp(persona, { address: '127.0.5.1' });
  open.push(server);
  const socks = await Promise.all(
    SOURCES.slice(0, count).map((from) =>
      startSocks({ from, credentials: { user: 'probe', password: SECRET }, ...more }),
    ),
  );
  open.push(...socks);
  const setting = await openSetting({ credits: 100_000, net: NET });
  open.push(setting);
  const dir = mkdtempSync(join(tmpdir(), 'mailvet-egress-'));
  open.push({ close: async () => rmSync(dir, { recursive: true }) });
  let files = 0;
  const entries: Pool['entries'] = (numbers) =>
    numbers.map((n) => {
      const via = `socks5h://probe:${SECRET}@127.0.0.1:${socks[n]?.port}`;
      return { name: `relay-${n}`, helo: `probe${n}.example.com`, via };
    });
  return {
    server,
    setting,
    socks,
    entries,
    async start(numbers, environment = {}) {
      const file = join(dir, `egress-${files++}.yaml`);
      writeFileSync(file, JSON.stringify(entries(numbers)));
      const running = await startProcess({
        ...setting.environment,
        MAILVET_SMTP_EGRESS_FILE: file,
        MAILVET_SMTP_PORT: `${server.port}`,
        MAILVET_LOG_LEVEL: 'info',
        MAILVET_SMTP_RATE_PER_OPERATOR: '0',
        ...environment,
      });
      open.push({ close: () => running.end('SIGKILL') });
      return running;
    },
  };
}

/** From which addresses a recipient was asked about, in order. */
const peersOf = ({ commands, connections }: SmtpLab, email: string): string[] =>
  commands
    .filter(({ verb, path }) => verb === 'RCPT' && path === email)
    .map(({ connection }) => connections[connection]?.from ?? '');

interface Reply {
  readonly reason: string | null;
  readonly deliverability: string;
  readonly credits_used: number;
  readonly checks: { readonly smtp: { readonly rule: string; readonly result: string; readonly egress?: string } };
}

async function verify({ url }: Running, { key }: Setting, email: string): Promise<Reply & { text: string }> {
  const reply = await fetch(`${url}/v1/verify?evidence=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key.value}` },
    body: JSON.stringify({ email, validation_type: 'smtp', timeout_ms: 30_000 }),
  });
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return { ...(JSON.parse(text) as Reply), text };
}

describe.each([1, 2, 4])('with %d relays in networks of their own', (count) => {
  it('greylisted recipients are answered at the second attempt, before and after a restart', async () => {
    const { server, setting, start } = await pool(greylistingByNetwork(1), count);
    const numbers = [0, 1, 2, 3].slice(0, count);
    const first = await start(numbers);
    for (const email of EMAILS) expect((await verify(first, setting, email)).reason).toBe('greylisted');
    await first.end('SIGKILL');
    const second = await start(numbers.toReversed());
    for (const email of EMAILS) expect((await verify(second, setting, email)).reason).toBe('mailbox_not_found');
    for (const email of EMAILS) expect(new Set(peersOf(server, email)).size, email).toBe(1);
    expect(server.commands.filter(({ verb }) => verb === 'RCPT')).toHaveLength(2 * EMAILS.length);
    expect(new Set(server.connections.map(({ from }) => from)).size > 1).toBe(count > 1);
  });
});

it('a list keeps the relay that was deferred, although others join in the meantime', async () => {
  const { server, setting, start } = await pool(greylistingByNetwork(2), 4);
  const first = await start([0, 1]);
  const { store, account, key } = setting;
  const id = await startedList(store, { account, key }, EMAILS, { level: 'smtp' });
  const look = () => store.lists.get(account.id, id);
  await vi.waitUntil(async () => (await look())?.waiting === EMAILS.length, WAIT);
  await first.end('SIGKILL');
  await start([3, 2, 1, 0]);
  await vi.waitUntil(async () => (await look())?.status === 'completed', WAIT);
  for (const email of EMAILS) expect(new Set(peersOf(server, email)).size, email).toBe(1);
  expect(await store.accounts.audit()).toEqual([]);
});

it('relays are given IP addresses only, whatever the scheme says, and their password appears nowhere', async () => {
  const { server, setting, socks, start } = await pool({ mailboxes: ['jane'] }, 2);
  const node = await start([0, 1]);
  const replies: string[] = [];
  for (const email of EMAILS) {
    const { text, reason } = await verify(node, setting, email);
    expect(reason).toBeNull();
    replies.push(text);
  }
  const requests = socks.flatMap((one) => one.requests);
  expect(requests.length).toBeGreaterThan(0);
  for (const request of requests) expect(request).toEqual({ atyp: 1, host: '127.0.5.1', port: server.port });
  expect(`${replies.join()} ${node.printed.join()}`).not.toContain(SECRET);
});

it('a relay that fails costs what mx costs, and says nothing about the mailbox', async () => {
  const { server, setting, start } = await pool({ mailboxes: [] }, 1, { reply: 2 });
  const node = await start([0]);
  const { reason, credits_used, checks, text } = await verify(node, setting, EMAILS[0] ?? '');
  expect({ reason, credits_used, rule: checks.smtp.rule }).toEqual({
    reason: 'smtp_unreachable',
    credits_used: 1,
    rule: 'egress.proxy_failed',
  });
  expect(text).not.toContain(SECRET);
  expect(server.connections).toEqual([]);
});

it('the service does not start with a file that has mistakes, and says all of them', async () => {
  const { setting, start, server } = await pool({}, 1);
  const dir = mkdtempSync(join(tmpdir(), 'mailvet-egress-'));
  open.push({ close: async () => rmSync(dir, { recursive: true }) });
  const file = join(dir, 'egress.yaml');
  writeFileSync(
    file,
    `- {name: a, helo: 'not a name', via: 'socks5://u:${SECRET}@x:99999'}\n- {name: a, helo: b.example.com, operators: {only: [nobody]}}\n`,
  );
  const failed = await start([0], { MAILVET_SMTP_EGRESS_FILE: file }).then(
    () => 'started',
    (error: unknown) => String(error),
  );
  expect(failed).toContain(`${file}:1: helo \\"not a name\\"`);
  expect(failed).toContain(`${file}:1: via: give socks5://`);
  expect(failed).toContain(`${file}:2: another entry has the name \\"a\\": see line 1.`);
  expect(failed).toContain(`${file}:2: operators: the data knows no operator \\"nobody\\"`);
  expect(failed).not.toContain(SECRET);
  expect([server.connections.length, (await setting.store.accounts.audit()).length]).toEqual([0, 0]);
});

/** Two nodes on one store: at the same time on PostgreSQL; a store on SQLite has one at a time. */
async function onTwoNodes(
  start: Pool['start'],
  orders: readonly [readonly number[], readonly number[]],
  use: (node: Running) => Promise<void>,
): Promise<void> {
  const first = await start(orders[0]);
  const second = ENGINE === 'postgres' ? await start(orders[1]) : null;
  await use(first);
  if (second === null) await first.end('SIGKILL');
  await use(second ?? (await start(orders[1])));
}

describe('two nodes', () => {
  it('choose the same relay for a domain, whatever the order of their files', async () => {
    const { server, setting, start } = await pool({ mailboxes: [] }, 4);
    const orders = [
      [0, 1, 2, 3],
      [3, 1, 0, 2],
    ] as const;
    const egresses: (string | undefined)[][] = [];
    await onTwoNodes(start, orders, async (node) => {
      const replies = EMAILS.map((email) => verify(node, setting, email));
      egresses.push((await Promise.all(replies)).map(({ checks }) => checks.smtp.egress));
    });
    expect(egresses[1]).toEqual(egresses[0]);
    expect(new Set(egresses[0]).size).toBeGreaterThan(1);
    for (const email of EMAILS) expect(peersOf(server, email), email).toEqual(Array(2).fill(peersOf(server, email)[0]));
    expect(await setting.store.accounts.audit()).toEqual([]);
  });

  it('a relay that is on a blocklist says nothing of the others, and nobody is asked from another one instead', async () => {
    const refuses: Persona['on'] = ({ verb }, { from }) =>
      verb === 'EHLO' && from === SOURCES[0]
        ? `554 5.7.1 Service unavailable; client host [${from}] blocked using zen.spamhaus.org`
        : undefined;
    const { server, setting, start } = await pool({ mailboxes: ['jane'], on: refuses }, 2);
    const orders = [
      [0, 1],
      [1, 0],
    ] as const;
    await onTwoNodes(start, orders, async (node) => {
      for (const email of EMAILS) {
        const { reason, checks, credits_used, deliverability } = await verify(node, setting, email);
        const isRefused = checks.smtp.egress === 'relay-0';
        expect([reason, deliverability, credits_used]).toEqual(
          isRefused ? ['smtp_blocked', 'unknown', 1] : [null, 'deliverable', 10],
        );
      }
    });
    const isFrom = (address: string | undefined) => server.connections.filter(({ from }) => from === address).length;
    expect([isFrom(SOURCES[0]) > 0, isFrom(SOURCES[1]) > 0]).toEqual([true, true]);
    // Of the domains of the first relay, no recipient was ever named.
    const asked = new Set(EMAILS.filter((email) => peersOf(server, email).length > 0));
    expect(asked.size).toBeLessThan(EMAILS.length);
    expect(
      server.commands.some(({ verb, connection }) => {
        return verb === 'RCPT' && server.connections[connection]?.from === SOURCES[0];
      }),
    ).toBe(false);
    expect(await setting.store.accounts.audit()).toEqual([]);
  });
});

/** Whatever goes wrong on the way. */
const WAYS: readonly (readonly [string, Pick<SocksSetup, 'fault' | 'reply'>])[] = [
  ['takes no method', { fault: 'takes_no_method' }],
  ['sends half a reply', { fault: 'half_a_reply' }],
  ['speaks HTTP', { fault: 'speaks_http' }],
  ['hangs at its greeting', { fault: 'hangs_at_greeting' }],
  ['hangs at the credentials', { fault: 'hangs_at_credentials' }],
  ['hangs at the request', { fault: 'hangs_at_request' }],
  ['fails', { reply: 1 }],
  ['does not allow it', { reply: 2 }],
  ['does not know the command', { reply: 7 }],
];

it.each(WAYS)('a SOCKS server that %s: nothing is said of the mailbox or charged for it', async (_, way) => {
  const { server, setting, start } = await pool({ mailboxes: ['jane'] }, 1, way);
  const node = await start([0]);
  const before = (await setting.store.accounts.get(setting.account.id))?.balance ?? 0;
  const { reason, deliverability, credits_used, checks } = await verify(node, setting, EMAILS[0] ?? '');
  expect({ reason, deliverability, credits_used, rule: checks.smtp.rule, result: checks.smtp.result }).toEqual({
    reason: 'smtp_unreachable',
    deliverability: 'unknown',
    // What `mx` costs, for what DNS said.
    credits_used: 1,
    rule: 'egress.proxy_failed',
    result: 'unknown',
  });
  const after = (await setting.store.accounts.get(setting.account.id))?.balance ?? 0;
  expect(before - after).toBe(1);
  expect(server.commands.filter(({ verb }) => verb === 'RCPT')).toEqual([]);
  expect(await setting.store.accounts.audit()).toEqual([]);
});

it('a SOCKS server that floods after it connected: nothing is said of the mailbox or charged for it', async () => {
  // By then, its bytes are those of the mail server.
  const { setting, start } = await pool({ mailboxes: ['jane'] }, 1, { fault: 'floods' });
  const node = await start([0]);
  expect(await verify(node, setting, EMAILS[0] ?? '')).toMatchObject({
    reason: 'smtp_temporary_failure',
    deliverability: 'unknown',
    credits_used: 1,
    checks: { smtp: { result: 'unknown', rule: 'dialogue.violation' } },
  });
  expect(await setting.store.accounts.audit()).toEqual([]);
});

describe('SIGHUP', () => {
  /** A file that the test rewrites, and what the service says after reading it. */
  async function reloadable(persona: Persona, count: number) {
    const all = await pool(persona, count);
    const dir = mkdtempSync(join(tmpdir(), 'mailvet-egress-'));
    open.push({ close: async () => rmSync(dir, { recursive: true }) });
    const file = join(dir, 'egress.yaml');
    writeFileSync(file, JSON.stringify(all.entries([0])));
    const node = await all.start([0], { MAILVET_SMTP_EGRESS_FILE: file });
    const said = (msg: string) => node.printed.filter((line) => line.includes(msg));
    const reload = async (text: string, msg: string) => {
      const before = said(msg).length;
      writeFileSync(file, text);
      node.child.kill('SIGHUP');
      await expect.poll(() => said(msg).length, WAIT).toBe(before + 1);
      return said(msg).at(-1) ?? '';
    };
    const use = (entries: readonly object[]) => reload(JSON.stringify(entries), 'read the egress file again');
    return { ...all, file, node, reload, use };
  }
  const egressDetails = async ({ url }: Running) => {
    const { details } = (await (await fetch(`${url}/readyz`)).json()) as {
      details: {
        egress: {
          problem: string | null;
          egresses: { name: string; last_day: { checks: number }; breakers_open: number; identity: object | null }[];
        };
      };
    };
    return details.egress;
  };

  it('new dialogues use the new file, and one under way ends as it began', async () => {
    const held = Promise.withResolvers<void>();
    const hold = ({ verb, path }: { verb: string; path: string }) =>
      verb === 'RCPT' && path === EMAILS[0] ? held.promise : Promise.resolve();
    const { server, setting, entries, node, use } = await reloadable({ mailboxes: ['jane'], hold }, 2);
    const slow = verify(node, setting, EMAILS[0] ?? '');
    await expect.poll(() => peersOf(server, EMAILS[0] ?? ''), WAIT).toEqual([SOURCES[0]]);
    await use(entries([1]));
    expect((await verify(node, setting, EMAILS[1] ?? '')).checks.smtp.egress).toBe('relay-1');
    // The same mail host and recipient's domain as the dialogue that is still open.
    expect((await verify(node, setting, `other@${DOMAINS[0]}`)).checks.smtp.egress).toBe('relay-1');
    held.resolve();
    expect(await slow).toMatchObject({ reason: null, checks: { smtp: { egress: 'relay-0' } } });
    expect(peersOf(server, EMAILS[1] ?? '')).toEqual([SOURCES[1]]);
    const { problem, egresses } = await egressDetails(node);
    expect([problem, egresses.map(({ name }) => name)]).toEqual([null, ['relay-1']]);
    expect(await setting.store.accounts.audit()).toEqual([]);
  });

  it('an entry that keeps its name has its new HELO name, and what was counted of it', async () => {
    const { server, setting, entries, node, use } = await reloadable({ mailboxes: ['jane'] }, 1);
    await verify(node, setting, EMAILS[0] ?? '');
    await use(entries([0]).map((one) => ({ ...one, helo: 'mended.example.com' })));
    await verify(node, setting, EMAILS[1] ?? '');
    const said = (verb: string) => server.commands.filter((one) => one.verb === verb).map(({ line }) => line);
    expect(said('EHLO')).toEqual(['EHLO probe0.example.com', 'EHLO mended.example.com']);
    expect(said('MAIL').at(-1)).toContain('<verify@mended.example.com>');
    expect((await egressDetails(node)).egresses).toMatchObject([{ name: 'relay-0', last_day: { checks: 2 } }]);
    // Its names are looked up at once.
    const identity = { helo: 'fail', ptr: null, spf: null, blocklists: null };
    await expect
      .poll(async () => (await egressDetails(node)).egresses[0], WAIT)
      .toMatchObject({ identity, problem: 'helo_unresolved', advice: expect.stringContaining('mended.example.com') });
  });

  it('a refusal stands after the file was read again', async () => {
    const persona: Persona = {
      banner: '554 5.7.1 Service unavailable; client host blocked using zen.spamhaus.org',
    };
    const { server, setting, entries, node, use } = await reloadable(persona, 1);
    expect((await verify(node, setting, EMAILS[0] ?? '')).reason).toBe('smtp_blocked');
    const dialled = server.connections.length;
    await use(entries([0]).map((one) => ({ ...one, helo: 'mended.example.com' })));
    expect((await verify(node, setting, EMAILS[0] ?? '')).reason).toBe('smtp_blocked');
    expect(server.connections).toHaveLength(dialled);
    expect((await egressDetails(node)).egresses).toMatchObject([{ name: 'relay-0', last_day: { blocked: 1 } }]);
  });

  it('a file with mistakes changes nothing, and log and /readyz say why', async () => {
    const { server, setting, socks, entries, file, node, reload, use } = await reloadable({ mailboxes: ['jane'] }, 1);
    const wrong = `- {name: a, helo: 'not a name', via: 'socks5://u:${SECRET}@x:99999'}\n- {name: a, helo: b.example.com}\n`;
    const line = await reload(wrong, 'the egresses stay as they were');
    const mistakes = [`${file}:1: helo "not a name"`, `${file}:2: another entry has the name "a"`];
    const { problem, egresses } = await egressDetails(node);
    for (const mistake of mistakes) {
      expect(JSON.parse(line).problems.join('\n')).toContain(mistake);
      expect(problem).toContain(mistake);
    }
    expect(egresses.map(({ name }) => name)).toEqual(['relay-0']);
    expect((await verify(node, setting, EMAILS[0] ?? '')).checks.smtp.egress).toBe('relay-0');
    expect([server.connections.length, socks[0]?.requests.length]).toEqual([1, 1]);
    rmSync(file);
    node.child.kill('SIGHUP');
    await expect.poll(async () => (await egressDetails(node)).problem, WAIT).toContain(`cannot read ${file}`);
    await use(entries([0]));
    expect((await egressDetails(node)).problem).toBeNull();
    expect(node.printed.join()).not.toContain(SECRET);
  });
});
