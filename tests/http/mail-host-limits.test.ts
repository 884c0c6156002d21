/** How much of a third party's mail server this service takes, and how the customers share it. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Zone } from '../lab/dns.ts';
import { type Lab, type Reply, request, startLab } from '../lab/service.ts';
import { type Persona, startSmtp } from '../lab/smtp.ts';

vi.setConfig({ testTimeout: 60_000 });

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/**
 * The service with domains `d0.com`, `d1.com` …: each has a mail host of its own name, at the address that is given.
 */
async function setUp(persona: Persona, addresses: readonly string[], more: Record<string, string> = {}) {
  // All of 127.0.0.0/8, so that one server counts the connections of several networks.
  const server = await startSmtp(persona, { address: '0.0.0.0' });
  open.push(server);
  const net: Zone = Object.fromEntries(
    addresses.flatMap((address, i) => [
      [`d${i}.com`, { MX: [[10, `mx.d${i}.com`]] }],
      [`mx.d${i}.com`, { A: [address] }],
    ]),
  );
  const lab = await startLab(
    {
      MAILVET_SMTP_PORT: `${server.port}`,
      MAILVET_SMTP_RATE_PER_OPERATOR: '0',
      // What one node does alone: with a slice to wait for, whoever comes first goes along in the same transaction.
      MAILVET_SMTP_PACE_GROUP: 'none',
      MAILVET_SMTP_BREAKER_SECONDS: '0',
      // The machine may be busy.
      MAILVET_DNS_TIMEOUT_MS: '10000',
      MAILVET_METRICS_TOKEN: METRICS_TOKEN,
      ...more,
    },
    { net },
  );
  open.push(lab);
  return { server, lab };
}

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const METRICS_TOKEN = 'metrics-token-of-this-test-0123456789';
const smtp = { validation_type: 'smtp', timeout_ms: 30_000 };
const turn = () => new Promise((resolve) => setTimeout(resolve, 20));

const reasonOf = (one: PromiseSettledResult<Reply>): unknown =>
  one.status === 'fulfilled' ? one.value.json.reason : one;

async function customer(lab: Lab) {
  return lab.member({ credits: 100_000, rateLimit: 100_000 });
}

async function checksWaiting(lab: Lab): Promise<number> {
  const { text } = await request(lab.url, 'GET', '/metrics', undefined, { authorization: `Bearer ${METRICS_TOKEN}` });
  return Number(/^mailvet_smtp_checks_waiting (\d+)$/m.exec(text)?.[1]);
}

/** A server that answers RCPT only when it is told to. Nobody exists, so that each check has one RCPT. */
function heldServer() {
  const waiting: { path: string; answer: () => void }[] = [];
  let free = false;
  const persona: Persona = {
    mailboxes: [],
    hold: ({ verb, path }) =>
      verb !== 'RCPT' || free ? Promise.resolve() : new Promise((answer) => waiting.push({ path, answer })),
  };
  return {
    persona,
    waiting,
    async count(n: number): Promise<void> {
      while (waiting.length < n) await turn();
    },
    /** Answers the one that waits for longest. */
    answerOne: () => waiting.shift()?.answer(),
    answerAll(): void {
      free = true;
      for (const { answer } of waiting.splice(0)) answer();
    },
  };
}

describe('one address with many names', () => {
  it('has no more dialogues than one host', async () => {
    const held = heldServer();
    const { server, lab } = await setUp(held.persona, Array(100).fill('127.0.3.1'));
    const { verify } = await customer(lab);
    const all = Promise.allSettled(times(100, (i) => verify(`jane@d${i}.com`, smtp)));
    while ((await checksWaiting(lab)) + held.waiting.length < 100) await turn();
    held.answerAll();
    expect((await all).map(reasonOf)).toEqual(Array(100).fill('mailbox_not_found'));
    expect(server.mostOpen).toBe(5);
  });

  it('is not dialled under another name after it rejected our IP address', async () => {
    const { server, lab } = await setUp(
      { banner: '554 5.7.1 Client host [127.0.0.1] blocked using zen.spamhaus.org' },
      ['127.0.3.1', '127.0.3.1', '127.0.3.2'],
      { MAILVET_SMTP_BREAKER_SECONDS: '600' },
    );
    const { verify } = await customer(lab);
    const [first, same, neighbour] = [
      await verify('jane@d0.com', smtp),
      await verify('jane@d1.com', smtp),
      await verify('jane@d2.com', smtp),
    ];
    expect([first, same, neighbour].map(({ json }) => json.reason)).toEqual(Array(3).fill('smtp_blocked'));
    expect(same.json.retry_after).toBeGreaterThan(500);
    expect(server.connections.map(({ to }) => to)).toEqual(['127.0.3.1', '127.0.3.2']);
  });
});

it('the hosts of one /24 have four times the dialogues of one host, together; those of the next /24 count apart', async () => {
  const held = heldServer();
  const addresses = times(16, (i) => `127.0.${3 + (i % 2)}.${i + 1}`);
  const { server, lab } = await setUp(held.persona, addresses, { MAILVET_SMTP_CONNECTIONS_PER_HOST: '1' });
  const { verify } = await customer(lab);
  const all = Promise.allSettled(times(16, (i) => verify(`jane@d${i}.com`, smtp)));
  await held.count(8);
  const networks = server.connections.map(({ to }) => to.split('.')[2]).sort();
  held.answerAll();
  expect((await all).map(reasonOf)).toEqual(Array(16).fill('mailbox_not_found'));
  expect(networks).toEqual(['3', '3', '3', '3', '4', '4', '4', '4']);
  expect(server.mostOpen).toBe(8);
});

describe('a customer who floods a host', () => {
  it.each([
    ['with addresses of one domain', () => 0],
    ['with a domain per address', (i: number) => i + 1],
  ])('%s does not keep another one waiting', async (_, domain) => {
    const held = heldServer();
    const { lab } = await setUp(held.persona, Array(202).fill('127.0.3.1'), { MAILVET_SMTP_CONNECTIONS_PER_HOST: '2' });
    const [flooder, other] = [await customer(lab), await customer(lab)];
    const flood = Promise.allSettled(times(200, (i) => flooder.verify(`u${i}@d${domain(i)}.com`, smtp)));
    while ((await checksWaiting(lab)) + held.waiting.length < 200) await turn();
    const single = other.verify('jane@d0.com', smtp);
    while ((await checksWaiting(lab)) + held.waiting.length < 201) await turn();
    const atOnce = held.waiting.length;
    held.answerOne();
    await held.count(atOnce);
    expect(held.waiting.map(({ path }) => path)).toContain('jane@d0.com');
    expect(atOnce).toBe(2);
    held.answerAll();
    expect((await single).json.reason).toBe('mailbox_not_found');
    await flood;
  });
});
