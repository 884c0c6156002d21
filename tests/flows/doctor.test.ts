import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Clock, systemClock, toIso } from '../../src/kernel/clock.ts';
import { type DnsLab, type Entry, type FalseAnswers, type Zone, zone } from '../lab/dns.ts';
import { doctorLab, EGRESS, HELO } from '../lab/doctor.ts';
import { startMailSink } from '../lab/mail-sink.ts';
import { runCli } from '../lab/process.ts';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';
import { type SmtpLab, startSmtp } from '../lab/smtp.ts';
import { type SocksLab, startSocks } from '../lab/socks.ts';

/** `n` domains of different operators, at 127.0.8.n. */
const domains = (n: number): Zone =>
  Object.fromEntries(
    Array.from({ length: n }, (_, i): [string, Entry][] => [
      [`d${i + 1}.com`, { MX: [[10, `mx.d${i + 1}.com`]] }],
      [`mx.d${i + 1}.com`, { A: [`127.0.8.${i + 1}`] }],
    ]).flat(),
  );

describe('a service with a blocked port 25', () => {
  let lab: Lab;
  let member: Member;
  let alive: SmtpLab;
  let ahead = 0;
  const clock: Clock = {
    now: () => systemClock.now() + ahead,
    elapsed: () => systemClock.elapsed() + ahead,
  };
  const token = 'metrics-token-for-the-tests';
  const ask = (domain: string) => member.verify(`good@${domain}`, { validation_type: 'smtp' });
  const state = async () => (await request(lab.url, 'GET', '/readyz')).json.details.egress.state;
  const metrics = async () =>
    (await request(lab.url, 'GET', '/metrics', undefined, { authorization: `Bearer ${token}` })).text;

  beforeAll(async () => {
    alive = await startSmtp(
      { on: ({ path }) => (path.startsWith('odd') ? `550 sorry <${path}> (#4.1.1)` : undefined) },
      { address: '127.0.8.40' },
    );
    const controls: Zone = {
      'gmail.com': { MX: [[5, 'mx.gmail.com']] },
      'mx.gmail.com': { A: ['127.0.8.101'] },
      'yahoo.com': { MX: [[5, 'mx.yahoo.com']] },
      'mx.yahoo.com': { A: ['127.0.8.102'] },
    };
    lab = await startLab(
      { MAILVET_SMTP_PORT: String(alive.port), MAILVET_SMTP_RATE_PER_OPERATOR: '0', MAILVET_METRICS_TOKEN: token },
      { net: { ...domains(40), ...controls }, clock },
    );
    member = await lab.member({ credits: 10_000 });
  });
  afterAll(async () => {
    await lab.close();
    await alive.close();
  });

  it('reports ok at first', async () => {
    const { json } = await request(lab.url, 'GET', '/readyz');
    expect(json.details.egress).toEqual({
      state: 'ok',
      since: expect.any(String),
      helo_configured: true,
      problem: null,
      egresses: [expect.objectContaining({ name: 'default', state: 'ok', rests_for_seconds: 0, advice: null })],
    });
    expect(json.details.lists).toMatchObject({ age_days: expect.any(Number), problem: null });
    expect(await metrics()).toMatch(/mailvet_egress_state\{state="ok"\} 1\n/);
  });

  it('after a failed connection, confirmed by failed canary hosts, stops connecting and says why in every verdict', async () => {
    expect((await ask('d1.com')).json).toMatchObject({
      reason: 'smtp_unreachable',
      checks: { smtp: { stage: 'connect' } },
    });
    while ((await state()) === 'ok') await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await state()).toBe('port_closed');
    for (let n = 2; n <= 40; n++) {
      expect((await ask(`d${n}.com`)).json).toMatchObject({
        status: 'good',
        deliverability: 'unknown',
        reason: 'smtp_unreachable',
        validation_type: 'mx',
        credits_used: 1,
        checks: { smtp: { rule: 'egress.port_closed', host: null } },
      });
    }
    // d40.com has a server that would have replied.
    expect(alive.connections).toHaveLength(0);
    const text = await metrics();
    expect(text).toMatch(/mailvet_egress_state\{state="port_closed"\} 1\n/);
    expect(text).toMatch(/mailvet_egress_state\{state="ok"\} 0\n/);
    expect((await request(lab.url, 'GET', '/readyz')).status).toBe(200);
  });

  it('detects after 30 s that the port is open again', async () => {
    ahead += 30_000;
    expect((await ask('d40.com')).json).toMatchObject({ deliverability: 'deliverable', validation_type: 'smtp' });
    expect(await state()).toBe('ok');
    expect((await ask('d40.com')).json.deliverability).toBe('deliverable');
  });

  it('counts replies that no rule matches, and keeps their text without addresses', async () => {
    for (const local of ['odd.one', 'odd.two']) {
      await member.verify(`${local}@d40.com`, { validation_type: 'smtp' });
    }
    const text = await metrics();
    expect(text).toMatch(/mailvet_smtp_uncertain_replies_total\{rule="unmatched.5xx"\} 2\n/);
    expect(text).toMatch(/mailvet_lists_age_days \d+\n/);
    expect(text).toMatch(/mailvet_smtp_breakers_open 0\n/);
    expect(text).toMatch(/mailvet_smtp_dialogues_open \d+\n/);
    expect(text).not.toMatch(/odd|d40/);
    await vi.waitFor(
      async () => {
        const { items } = await lab.store.uncertainReplies.list({ unmatched: true, limit: 10 });
        expect(items).toMatchObject([{ operator: 'other', code: 550, rule: 'unmatched.5xx', count: 2 }]);
        expect(JSON.stringify(items)).not.toMatch(/odd|d40/);
      },
      { timeout: 30_000, interval: 200 },
    );
  });
});

describe('mailvet doctor', () => {
  let dir: string;
  let internet: Awaited<ReturnType<typeof doctorLab>>;
  let environment: Record<string, string>;
  let web: ReturnType<typeof createServer>;
  const dns = (): DnsLab => internet.dns;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'mailvet-doctor-'));
    internet = await doctorLab();
    web = createServer((_, response) => response.end());
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const list = await readFile(new URL('../../data/disposable.txt', import.meta.url), 'latin1');
    const today = toIso(systemClock.now()).slice(0, 10);
    await writeFile(join(dir, 'disposable.txt'), list.replace(/^# version: .*$/m, `# version: ${today}`), 'latin1');
    environment = {
      MAILVET_DATABASE_URL: `sqlite:${join(dir, 'mailvet.db')}`,
      MAILVET_DNS_SERVERS: `127.0.0.1:${dns().port}`,
      MAILVET_DNS_CONTROL_NAMES: 'none',
      MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
      MAILVET_SMTP_PORT: String(internet.port),
      MAILVET_SMTP_HELO: HELO,
      MAILVET_LISTS_DIR: dir,
      MAILVET_LISTS_DISPOSABLE_URL: `http://127.0.0.1:${(web.address() as AddressInfo).port}/list`,
    };
  });
  afterAll(async () => {
    web.close();
    await internet.close();
    await rm(dir, { recursive: true, force: true });
  });

  it('before the first start: a warning about the store, which is not created; exit 0', async () => {
    const { code, out } = await runCli(['doctor'], environment);
    expect(out).toMatch(/^warn {2}store {7}There is no store at .*mailvet\.db\. `mailvet serve`/m);
    expect([code, existsSync(join(dir, 'mailvet.db'))]).toEqual([0, false]);
  });

  it('on a fit host: one line per check, all pass, exit 0', async () => {
    await runCli(['migrate'], environment);
    const { code, out, err } = await runCli(['doctor'], environment);
    expect(err).toBe('');
    expect(
      out
        .trimEnd()
        .split('\n')
        .filter((line) => !/^pass {2}\w+ +\S.*\.$/.test(line)),
    ).toEqual([]);
    expect(out).toContain(`pass  egress      This host connects from ${EGRESS} (as seen by mx.gmail.com)`);
    expect(out).toMatch(/pass {2}store {7}It accepts writes \(SQLite, version \d+\)\./);
    expect(code).toBe(0);
  });

  it('on an unfit host: what failed and how to fix it, exit 1; JSON with --json', async () => {
    dns().set('5.113.0.203.in-addr.arpa', null);
    const { code, out } = await runCli(['doctor', '--json'], {
      ...environment,
      MAILVET_DATABASE_URL: `sqlite:${dir}`,
      MAILVET_LISTS_DISPOSABLE_URL: 'http://127.0.0.1:9/list',
    });
    const { ok, findings, advice } = JSON.parse(out) as {
      ok: boolean;
      findings: Record<string, string>[];
      advice: unknown;
    };
    expect([ok, code]).toEqual([false, 1]);
    const bad = findings.filter(({ result }) => result !== 'pass');
    expect(bad.map(({ check, result }) => `${result} ${check}`)).toEqual([
      'fail ptr',
      'fail store',
      'warn clock',
      'warn downloads',
    ]);
    expect(bad[0]!.fix).toMatch(new RegExp(`PTR record, 5\\.113\\.0\\.203\\.in-addr\\.arpa, to ${HELO}`));
    expect(findings.every((finding) => Object.keys(finding).join() === 'check,result,found,fix,problem,egress')).toBe(
      true,
    );
    expect(advice).toEqual([{ egress: 'default', first: { problem: 'ptr_missing', fix: bad[0]!.fix } }]);
    const people = await runCli(['doctor'], environment);
    expect(people.out).toMatch(/^Fix first, for the most answers: Have the owner of 203\.0\.113\.5/m);
    expect(people.out).toMatch(/^fail {2}ptr {9}203\.0\.113\.5 has no PTR record; .* Have the owner/m);
    expect(people.code).toBe(1);
  });

  it('with several egresses: what is about the sender for each of them, through its SOCKS server', async () => {
    const [works, fails] = await Promise.all([startSocks(), startSocks({ reply: 2 })]);
    const file = join(dir, 'egress.yaml');
    const via = ({ port }: SocksLab) => `socks5h://probe:secret@127.0.0.1:${port}`;
    const entries = [
      { name: 'here', helo: HELO },
      { name: 'works', helo: HELO, via: via(works) },
      { name: 'fails', helo: HELO, via: via(fails) },
    ];
    await writeFile(file, JSON.stringify(entries));
    const { code, out } = await runCli(['doctor', '--json'], {
      ...environment,
      MAILVET_SMTP_HELO: '',
      MAILVET_SMTP_EGRESS_FILE: file,
    });
    await Promise.all([works.close(), fails.close()]);
    const { findings, advice } = JSON.parse(out) as { findings: Record<string, string>[]; advice: unknown };
    const of = (check: string) =>
      findings.filter((one) => one.check === check).map(({ egress, found }) => `${egress}: ${found}`);
    expect(of('resolver')).toHaveLength(1);
    expect(of('store')).toHaveLength(1);
    expect(of('helo').map((found) => found.split(':')[0])).toEqual(['here', 'works', 'fails']);
    expect(
      of('egress')
        .filter((found) => found.includes(EGRESS))
        .map((found) => found.split(':')[0]),
    ).toEqual(['here', 'works']);
    expect(of('port')).toEqual([
      expect.stringMatching(/^here: Open/),
      expect.stringMatching(/^works: Open/),
      expect.stringMatching(/^fails: The SOCKS server connects to no mail server \(SOCKS reply NotAllowed\)/),
    ]);
    expect(advice).toEqual([
      // As the test before left it.
      ...['here', 'works'].map((egress) => ({ egress, first: expect.objectContaining({ problem: 'ptr_missing' }) })),
      {
        egress: 'fails',
        first: { problem: 'proxy_fails', fix: expect.stringContaining('takes the user and password') },
      },
    ]);
    expect(works.requests.length).toBeGreaterThan(0);
    expect([code, out.includes('secret')]).toEqual([1, false]);
  });

  it('with a resolver that gives false answers: what it does, and how to fix it', async () => {
    const resolver = await zone({});
    const ask = async (falseAnswers: FalseAnswers) => {
      resolver.answerFalsely(falseAnswers);
      const { code, out } = await runCli(['doctor'], {
        ...environment,
        MAILVET_DNS_SERVERS: `127.0.0.1:${resolver.port}`,
        MAILVET_DNS_CONTROL_NAMES: '',
      });
      expect(code).toBe(1);
      return out;
    };
    try {
      expect(await ask('nxdomain')).toMatch(
        /^fail {2}resolver {4}The DNS resolver denies names that exist\. It has no way/m,
      );
      expect(await ask('one address')).toMatch(
        /^fail {2}resolver {4}The DNS resolver invents an address for every name/m,
      );
    } finally {
      await resolver.close();
    }
  });

  describe('of the way to the service, and out of it', () => {
    /** The lines of these checks, and the exit code. */
    async function around(more: Record<string, string>, ...words: string[]) {
      const { code, out } = await runCli(['doctor', '--json', ...words], { ...environment, ...more });
      const { findings } = JSON.parse(out) as { findings: { check: string; result: string; found: string }[] };
      const of = (name: string) =>
        findings.filter(({ check }) => check === name).map(({ result, found }) => `${result}: ${found}`);
      return { url: of('url'), proxies: of('proxies'), downloads: of('downloads'), mail: of('mail'), code };
    }
    const at = (server: ReturnType<typeof createServer>) =>
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

    it('says nothing of options that are not set', async () => {
      const { url, proxies, mail, downloads } = await around({});
      expect([url, proxies, mail]).toEqual([[], [], []]);
      expect(downloads).toEqual([`pass: ${at(web).slice(7)} answers, asked directly.`]);
    });

    it('the public URL: a Mailvet service, another one, a redirect, nobody', async () => {
      const service = await startLab();
      const other = createServer((request, response) => {
        if (request.url?.startsWith('/moved')) response.writeHead(301, { location: 'https://example.com/' });
        response.end('{"status":"ok"}');
      });
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      const url = async (value: string) => (await around({ MAILVET_PUBLIC_URL: value })).url;
      try {
        expect(await url(service.url)).toEqual([`pass: A Mailvet service answers at ${service.url} (ready).`]);
        expect(await url(at(other))).toEqual([
          `fail: Something else than Mailvet answers at ${at(other)} (status 200).`,
        ]);
        expect(await url(`${at(other)}/moved`)).toEqual([
          `fail: ${at(other)}/moved redirects to https://example.com/.`,
        ]);
        expect(await url('http://127.0.0.1:9')).toEqual([
          expect.stringMatching(/^warn: Nothing answers at http:\/\/127\.0\.0\.1:9 \(.+\)\.$/),
        ]);
      } finally {
        other.close();
        await service.close();
      }
    });

    it.each([
      ['0.0.0.0/0', 'fail: X-Forwarded-For is believed from 0.0.0.0/0, where callers can claim any address.'],
      [
        '10.0.0.0/8',
        'warn: Only a proxy on this host can reach 127.0.0.1, but it is not trusted: all callers seem to come from it.',
      ],
      [
        '',
        'warn: Only a proxy on this host can reach 127.0.0.1, but it is not trusted: all callers seem to come from it.',
      ],
      ['127.0.0.1,fc00::/7', 'pass: X-Forwarded-For is believed from 127.0.0.1, fc00::/7, and from nobody else.'],
    ])('trusted proxies %j behind https', async (MAILVET_TRUSTED_PROXIES, line) => {
      const { proxies } = await around({ MAILVET_PUBLIC_URL: 'https://127.0.0.1:9', MAILVET_TRUSTED_PROXIES });
      expect(proxies).toEqual([line]);
    });

    it('a proxy that does not work, without its password', async () => {
      const { downloads } = await around({
        HTTP_PROXY: 'http://u:hidden@127.0.0.1:9',
        HTTPS_PROXY: 'http://u:hidden@127.0.0.1:9',
      });
      expect(downloads).toEqual([expect.stringMatching(/^warn: .+ the proxy http:\/\/127\.0\.0\.1:9, /)]);
    });

    it('mail: signs in, sends one with --mail-to, and says what fails', async () => {
      const sink = await startMailSink();
      const refusing = await startMailSink({ on: ({ verb }) => (verb === 'RCPT' ? '550 5.1.1 no' : undefined) });
      const set = { MAILVET_MAIL_URL: sink.url, MAILVET_MAIL_FROM: 'mailvet@example.com' };
      try {
        expect((await around(set)).mail).toEqual([
          `pass: ${sink.url.slice(7)} can be signed in to. --mail-to sends a mail.`,
        ]);
        expect(sink.mails).toEqual([]);
        const { mail, code } = await around(set, '--mail-to', 'ada@example.com');
        expect([mail, code]).toEqual([
          [expect.stringMatching(/^pass: 127\.0\.0\.1:\d+ took a mail from/)],
          expect.any(Number),
        ]);
        expect(sink.mails.map(({ to, text }) => [to, text.split('\n')[0]])).toEqual([
          [['ada@example.com'], expect.stringContaining('to test the mail server')],
        ]);
        const refused = await around({ ...set, MAILVET_MAIL_URL: refusing.url }, '--mail-to', 'ada@example.com');
        expect(refused).toMatchObject({
          mail: [`fail: ${refusing.url.slice(7)}: Mail could not be sent: reply 550 to RCPT.`],
          code: 1,
        });
        expect((await around({}, '--mail-to', 'ada@example.com')).mail).toEqual([
          'fail: No mail was sent: there is no mail server.',
        ]);
        expect((await runCli(['doctor', '--mail-to', 'ada'], environment)).code).toBe(2);
      } finally {
        await Promise.all([sink.close(), refusing.close()]);
      }
    });
  });

  it('invalid options are a usage error: exit 2', async () => {
    const { code, err } = await runCli(['doctor'], { ...environment, MAILVET_SMTP_PORT: 'x' });
    expect(err).toMatch(/MAILVET_SMTP_PORT/);
    expect(code).toBe(2);
  });
});
