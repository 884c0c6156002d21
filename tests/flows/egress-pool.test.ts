/** A pool of egresses, each through a SOCKS server of its own: what is kept, what is refused, what is shown. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Zone } from '../lab/dns.ts';
import { type Running, startProcess } from '../lab/process.ts';
import { type Persona, type SmtpLab, startSmtp } from '../lab/smtp.ts';
import { type SocksLab, type SocksSetup, startSocks } from '../lab/socks.ts';
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
        ...{ MAILVET_SMTP_EGRESS_FILE: file, MAILVET_SMTP_PORT: `${server.port}`, MAILVET_LOG_LEVEL: 'info' },
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
  readonly reason: string;
  readonly credits_used: number;
  readonly checks: { readonly smtp: { readonly rule: string; readonly egress?: string } };
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
