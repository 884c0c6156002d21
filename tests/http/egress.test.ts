/** Which egress was used: in replies, evidence, lists, and the search of the log. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Zone } from '../lab/dns.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { type Persona, type SmtpLab, startSmtp } from '../lab/smtp.ts';
import { type Client, of, signedIn } from './dashboard/client.ts';

const DOMAINS = Array.from({ length: 8 }, (_, i) => `egress${i}.com`);
const NET: Zone = Object.fromEntries(
  DOMAINS.flatMap((domain) => [
    [domain, { MX: [[10, `mx.${domain}`]] }],
    [`mx.${domain}`, { A: ['127.0.5.1'] }],
  ]),
);
const EMAILS = DOMAINS.map((domain) => `jane@${domain}`);
const NAMES: Readonly<Record<string, string>> = { '127.0.9.1': 'fra-1', '127.0.9.2': 'ham-2' };

const DEFERRED = `later@${DOMAINS[0]}`;
const defers: Persona['on'] = ({ verb, path }) =>
  verb === 'RCPT' && path === DEFERRED ? '451 4.7.1 Greylisted, please try again later' : undefined;
const TOKEN = 'metrics-token-for-the-tests';

let lab: Lab;
let server: SmtpLab;
let member: Member;
let admin: Client;
const dir = mkdtempSync(join(tmpdir(), 'mailvet-egress-'));
beforeAll(async () => {
  server = await startSmtp({ mailboxes: [], on: defers }, { address: '127.0.5.1' });
  const file = join(dir, 'egress.yaml');
  const entries = Object.entries(NAMES).map(([bind, name]) => ({ name, helo: `${name}.example.com`, bind }));
  writeFileSync(file, JSON.stringify(entries));
  const environment = { MAILVET_SMTP_HELO: '', MAILVET_SMTP_EGRESS_FILE: file, MAILVET_SMTP_PORT: `${server.port}` };
  lab = await startLab(
    { ...environment, MAILVET_METRICS_TOKEN: TOKEN, MAILVET_SMTP_RATE_PER_OPERATOR: '0' },
    { net: NET },
  );
  member = await lab.member({ credits: 10_000, rateLimit: 10_000 });
  admin = await signedIn(lab, { account: member.account, role: 'admin' });
});
afterAll(async () => {
  await lab.close();
  await server.close();
  rmSync(dir, { recursive: true });
});

/** Name of the egress that the mail server saw. */
function usedFor(email: string): string | undefined {
  const heard = server.commands.findLast(({ verb, path }) => verb === 'RCPT' && path === email);
  return NAMES[server.connections[heard?.connection ?? -1]?.from ?? ''];
}
const emails = (reply: { json: { entries: { email: string }[] } }) => reply.json.entries.map(({ email }) => email);
const search = (query: Record<string, string>) =>
  admin.call('GET', `${of(member.account, '/log')}?${new URLSearchParams(query)}`);

describe('the egress of a verification', () => {
  it('is in the reply and its evidence, and the server saw its name', async () => {
    const used = new Set<string>();
    for (const email of EMAILS) {
      const { json } = await member.call('POST', '/v1/verify?evidence=1', { email, validation_type: 'smtp' });
      expect(json.checks.smtp).toMatchObject({ result: 'fail', egress: usedFor(email) });
      expect(json.evidence.smtp.egress).toBe(json.checks.smtp.egress);
      used.add(json.checks.smtp.egress);
    }
    expect(used).toEqual(new Set(Object.values(NAMES)));
    const helos = new Set(server.commands.filter(({ verb }) => verb === 'EHLO').map(({ line }) => line));
    expect(helos).toEqual(new Set(['EHLO fra-1.example.com', 'EHLO ham-2.example.com']));
  });

  it('is absent where no mail server was to be asked', async () => {
    const { json } = await member.verify(EMAILS[0] ?? '');
    expect(json.checks.smtp).toEqual({ result: 'skipped' });
  });

  it('finds its rows in the log', async () => {
    const of1 = EMAILS.filter((email) => usedFor(email) === 'fra-1').toReversed();
    expect(emails(await search({ egress: 'fra-1' }))).toEqual(of1);
    expect(emails(await search({ egress: 'ham-2', not: 'egress', level: 'smtp' }))).toEqual(of1);
    expect(emails(await search({ egress: 'fra' }))).toEqual([]);
    const all = emails(await search({ level: 'smtp' }));
    expect(emails(await search({ egress: 'fra-1,ham-2' }))).toEqual(all);
    expect((await search({ egress: 'x'.repeat(1_001) })).json.field).toBe('egress');
    const { json } = await search({});
    expect(json.egresses).toEqual(Object.values(NAMES));
    expect(new Set(json.entries.map((entry: { egress: string | null }) => entry.egress))).toEqual(
      new Set([null, ...Object.values(NAMES)]),
    );
  });

  it('is a column of the exported log, and its search holds there', async () => {
    const file = (format: string, query = '') => admin.call('GET', `${of(member.account, `/log.${format}`)}${query}`);
    const [head = '', ...lines] = (await file('csv', '?egress=fra-1')).text.trim().split(/\r?\n/);
    const at = (name: string) => head.split(',').indexOf(name);
    const cells = lines.map((line) => line.split(','));
    expect(cells.map((row) => row[at('egress')])).toEqual(cells.map((row) => usedFor(row[at('email')] ?? '')));
    expect(new Set(cells.map((row) => row[at('egress')]))).toEqual(new Set(['fra-1']));
    const rows = (await file('jsonl')).text.trim().split('\n');
    const shown = rows.map((line) => JSON.parse(line)).map((row) => [row.validation_type, row.egress !== null]);
    expect(new Set(shown.map(String))).toEqual(new Set(['smtp,true', 'mx,false']));
  });

  it('has its figures in the metrics', async () => {
    const { json } = await member.call('POST', '/v1/verify', { email: DEFERRED, validation_type: 'smtp' });
    expect(json.reason).toBe('greylisted');
    const checksOf = (name: string) => EMAILS.filter((email) => usedFor(email) === name).length;
    const headers = { authorization: `Bearer ${TOKEN}` };
    const text = await (await fetch(`${lab.url}/metrics`, { headers })).text();
    const sampleOf = (metric: string, egress: string) =>
      Number(new RegExp(`^mailvet_egress_${metric}\\{egress="${egress}"\\} (\\S+)$`, 'm').exec(text)?.[1]);
    for (const name of Object.values(NAMES)) {
      expect(['reachable', 'blocked_ratio', 'proxy_failed_ratio'].map((metric) => sampleOf(metric, name))).toEqual([
        1, 0, 0,
      ]);
      expect(sampleOf('answer_seconds', name)).toBeGreaterThan(0);
    }
    // One that its server deferred, and those of the tests before.
    const ratioOf = (name: string) => (name === usedFor(DEFERRED) ? 1 / (checksOf(name) + 1) : 0);
    for (const name of Object.values(NAMES)) expect(sampleOf('deferred_ratio', name)).toBeCloseTo(ratioOf(name), 3);
  });

  it('has a row in /readyz and for operators', async () => {
    const { details } = (await (await fetch(`${lab.url}/readyz`)).json()) as {
      details: { egress: { egresses: { name: string; last_day: { checks: number } }[] } };
    };
    const { egresses } = details.egress;
    const own = [...EMAILS, DEFERRED].filter((email) => usedFor(email) === 'fra-1').length;
    expect(egresses).toMatchObject([
      { name: 'fra-1', state: 'ok', rests_for_seconds: 0, last_day: { checks: own, blocked: 0 }, advice: null },
      { name: 'ham-2', state: 'ok', last_day: { checks: EMAILS.length + 1 - own } },
    ]);
    const operator = await signedIn(lab, { operator: true });
    const { json } = await operator.call('GET', '/dashboard/operator/service');
    expect(json.egress.egresses.map(({ name }: { name: string }) => name)).toEqual(['fra-1', 'ham-2']);
  });

  it('is in the results of a list', async () => {
    const made = await member.call('POST', '/v1/lists', { emails: EMAILS, validation_type: 'smtp' });
    const { id } = made.json;
    if (made.json.status === 'ready') await member.call('POST', `/v1/lists/${id}/start`);
    const status = async () => (await member.call('GET', `/v1/lists/${id}`)).json.status;
    await expect.poll(status, { timeout: 60_000 }).toBe('completed');
    const { json } = await member.call('GET', `/v1/lists/${id}/rows`);
    const shown = json.rows.map((row: { email: string; egress: string }) => [row.email, row.egress]);
    expect(shown).toEqual(EMAILS.map((email) => [email, usedFor(email)]));
    const csv = await member.call('GET', `/v1/lists/${id}/results?format=csv`);
    const [head = '', ...lines] = csv.text.trim().split(/\r?\n/);
    expect(head.split(',').at(-1)).toBe('mailvet_egress');
    expect(lines.map((line) => line.split(',').at(-1))).toEqual(EMAILS.map(usedFor));
  }, 90_000);
});
