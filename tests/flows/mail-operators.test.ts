/** What several nodes on one store do together at mail servers. */
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type Running, startProcess } from '../lab/process.ts';
import { type Persona, type SmtpLab, startSmtp } from '../lab/smtp.ts';
import { ENGINE } from '../lab/stores.ts';
import { startedList } from '../store/list-cast.ts';
import { openSetting, type Setting } from './setting.ts';

const GRANTED = 1_000_000;
/** Of a busy machine. */
const WAIT = { timeout: 120_000, interval: 50 };

const open: { close(): Promise<unknown> }[] = [];
afterAll(async () => {
  for (const it of open.splice(0).reverse()) await it.close();
});

async function begin(persona: Persona, net: object) {
  // One server, at all addresses of the loopback network.
  const smtp = await startSmtp(persona, { address: '0.0.0.0' });
  open.push(smtp);
  const setting = await openSetting({ credits: GRANTED, net: net as never });
  open.push(setting);
  return { smtp, setting };
}

/** Three nodes; each has a HELO name of its own, `node-0.lab` and so on. */
async function startNodes({ environment }: Setting, smtp: SmtpLab, more: Record<string, string>): Promise<Running[]> {
  const node = (n: number) =>
    startProcess({
      ...environment,
      MAILVET_SMTP_PORT: `${smtp.port}`,
      MAILVET_SMTP_HELO: `node-${n}.lab`,
      ...more,
    });
  const nodes = await Promise.all([0, 1, 2].map(node));
  for (const one of nodes) open.push({ close: () => one.end('SIGKILL') });
  return nodes;
}

/** The dialogues in order of arrival: of which node, and its first and last command among those of all. */
function dialoguesOf({ commands }: SmtpLab) {
  const found = new Map<number, { node: string; first: number; last: number }>();
  for (const [at, { connection, verb, line }] of commands.entries()) {
    const known = found.get(connection);
    if (known !== undefined) known.last = at;
    else if (verb === 'EHLO') found.set(connection, { node: line.slice('EHLO '.length), first: at, last: at });
  }
  return [...found.values()];
}

describe.skipIf(ENGINE !== 'postgres')('the recipients of one operator in a list on three nodes', () => {
  it('are checked by one node at a time, and by another one after kill -9', { timeout: 300_000 }, async () => {
    const mail = { 'mail.com': { MX: [[10, 'mx.mail.com']] }, 'mx.mail.com': { A: ['127.0.5.1'] } };
    const { smtp, setting } = await begin({ mailboxes: ['*'], delayMs: 20 }, mail);
    const { store, account, key } = setting;
    const emails = Array.from({ length: 1_500 }, (_, i) => `a${i}@mail.com`);
    const nodes = await startNodes(setting, smtp, { MAILVET_SMTP_RATE_PER_OPERATOR: '0' });
    const id = await startedList(store, { account, key }, emails, { level: 'smtp', block: 20 });
    const look = () => store.lists.get(account.id, id);
    await vi.waitUntil(async () => ((await look())?.done ?? 0) > 300, WAIT);
    const [first] = dialoguesOf(smtp);
    const owner = nodes[Number(/^node-(\d)/.exec(first?.node ?? '')?.[1])];
    await owner?.end('SIGKILL');
    await vi.waitUntil(async () => (await look())?.status === 'completed', WAIT);
    const dialogues = dialoguesOf(smtp);
    expect(new Set(dialogues.map(({ node }) => node)).size).toBeGreaterThan(1);
    for (const one of dialogues) {
      const beside = dialogues.filter(
        (other) => other.node !== one.node && other.first < one.last && one.first < other.last,
      );
      expect(beside).toEqual([]);
    }
    const list = await look();
    expect(list).toMatchObject({ done: emails.length, waiting: 0, credits: { held: 0, used: 10 * emails.length } });
    expect(await store.accounts.get(account.id)).toMatchObject({ balance: GRANTED - 10 * emails.length, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });
});

const RATE = 3;
const CONNECTIONS = 3;
const CALLS = 36;

describe.skipIf(ENGINE !== 'postgres')('single calls on three nodes behind one address', () => {
  it('have together the pace of one node', { timeout: 300_000 }, async () => {
    // One operator, each of its domains with a mail host of its own, so that no two share a session.
    const domains = Array.from({ length: CALLS }, (_, i) => ({
      [`d${i}.com`]: { MX: [[10, `mx${i}.mail.com`]] },
      [`mx${i}.mail.com`]: { A: ['127.0.5.2'] },
    }));
    const began: number[] = [];
    const persona: Persona = {
      delayMs: 250,
      on: ({ verb }) => {
        if (verb === 'EHLO') began.push(performance.now());
        return undefined;
      },
    };
    const { smtp, setting } = await begin(persona, Object.assign({}, ...domains));
    const nodes = await startNodes(setting, smtp, {
      MAILVET_SMTP_RATE_PER_OPERATOR: `${RATE}`,
      MAILVET_SMTP_CONNECTIONS_PER_HOST: `${CONNECTIONS}`,
    });
    const verify = async (node: Running, email: string): Promise<unknown> => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${setting.key.value}` };
      const body = JSON.stringify({ email, validation_type: 'smtp', timeout_ms: 30_000 });
      const reply = await fetch(`${node.url}/v1/verify`, { method: 'POST', headers, body });
      return ((await reply.json()) as { reason: unknown }).reason;
    };
    const reasons = await Promise.all(
      Array.from({ length: CALLS }, (_, i) => verify(nodes[i % nodes.length] as Running, `nobody@d${i}.com`)),
    );
    const dialogues = dialoguesOf(smtp);
    expect(new Set(dialogues.map(({ node }) => node)).size).toBe(nodes.length);
    for (const { first } of dialogues)
      expect(dialogues.filter((other) => other.first <= first && first <= other.last).length).toBeLessThanOrEqual(
        CONNECTIONS,
      );
    // A slow machine only makes it longer. Alone, each would begin RATE dialogues at once.
    const seconds = ((began.at(-1) ?? 0) - (began[0] ?? 0)) / 1000;
    expect(dialogues.length).toBeLessThanOrEqual(RATE * seconds + 2 * RATE);
    // All are served, but for those that the pace left no time.
    expect(reasons.filter((reason) => reason === 'mailbox_not_found').length).toBeGreaterThan(CALLS / 2);
  });
});
