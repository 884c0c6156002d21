import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, labCheck, labEgresses, labHosts, labOwners } from '../../../tests/lab/mailbox.ts';
import { type Persona, type SmtpLab, startSmtp } from '../../../tests/lab/smtp.ts';
import { createClassifier } from './classify.ts';
import { type Connectivity, type EgressHealth, monitorEgress } from './egress.ts';
import type { MailboxCheck } from './mailbox.ts';

const { isAboutOurIp } = createClassifier();
const BLOCKED = { banner: '554 5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org' };

let servers: SmtpLab[];
let port: number;
let stops: boolean;
let dials: string[];
let controls: number;
let control: Connectivity;
/** Numbers of the canaries' hosts, how often they were asked, and what is under way. */
let canaries: readonly number[];
let asked: number;
let asking: Promise<unknown>;
let at: number;
let mailbox: MailboxCheck;
let watched: MailboxCheck & { state(): EgressHealth | undefined };

const serve = async (address: string, persona: Persona = {}) => {
  const lab = await startSmtp(persona, { address, port });
  servers.push(lab);
  port = lab.port;
  return lab;
};
const dnsOf = (n: number) => labHosts({ [`mx.operator${n}.com`]: [`127.0.6.${n}`] });
/** A check of a separate operator, at 127.0.6.n; the data knows those below 100. */
const about = (n: number, more: { ms?: number; signal?: AbortSignal; tenant?: string } = {}) =>
  ask(watched, { dns: dnsOf(n), ...more });
const owners = {
  ...labOwners,
  providerOf: (host: string) => (/^mx\.operator\d\d?\.com$/.test(host) ? host : null),
};
/** Canaries have answered, if they were asked. */
const answered = () => asking.then(settled);
const settled = () => new Promise((resolve) => setImmediate(resolve));

beforeEach(async () => {
  [servers, dials, controls, control, at, port, stops] = [[], [], 0, 'unusable', 1_000_000, 0, true];
  [canaries, asked, asking] = [[], 0, Promise.resolve()];
  // Reserves a port on which no process listens on the other addresses.
  await serve('127.0.6.200');
  mailbox = labCheck(port, { mayDial: (ip) => dials.push(ip) > 0 });
  const monitored = monitorEgress(mailbox, {
    clock: { now: () => at, elapsed: () => at },
    owners,
    egresses: labEgresses([]),
    aboutOurIp: isAboutOurIp,
    get stopsWhenRefused() {
      return stops;
    },
    probeConnectivity: () => {
      controls++;
      return Promise.resolve(control);
    },
    askCanaries() {
      asked++;
      const answers = Promise.all(canaries.map((n) => ask(mailbox, { dns: dnsOf(n) }).then(({ smtp }) => smtp)));
      asking = answers;
      return answers;
    },
  });
  watched = { ...mailbox, ...monitored, state: () => monitored.states().get('default') };
});
afterEach(async () => {
  await mailbox.close();
  await Promise.all(servers.map((lab) => lab.close()));
});

describe('port closed', () => {
  it('three operators in a row without a canary suspend checks; one trial every 30 s detects recovery', async () => {
    for (const n of [1, 2, 3]) {
      expect((await about(n)).smtp).toMatchObject({ finding: 'smtp_unreachable', rule: 'dialogue.unreachable' });
      await settled();
    }
    expect(watched.state()).toEqual({ state: 'port_closed', since: 1_000_000 });
    const before = dials.length;
    for (let n = 1; n <= 40; n++) {
      const { smtp, catchAll } = await about(n);
      expect(smtp).toMatchObject({ finding: 'smtp_unreachable', rule: 'egress.port_closed', host: null, stage: null });
      expect(smtp.transcript.lines).toEqual([{ at: 0, from: 'note', text: 'not dialled: egress.port_closed' }]);
      expect(catchAll.result).toBe('skipped');
    }
    expect(dials).toHaveLength(before);

    at += 30_000;
    expect((await about(5)).smtp.rule).toBe('dialogue.unreachable');
    expect((await about(6)).smtp.rule).toBe('egress.port_closed');
    expect(dials).toHaveLength(before + 1);

    await serve('127.0.6.7');
    at += 30_000;
    expect((await about(7)).smtp.finding).toBe('accepted');
    expect(watched.state()).toEqual({ state: 'ok', since: 1_060_000 });
    expect((await about(8)).smtp.rule).toBe('dialogue.unreachable');
  });

  it('one is enough if the canary hosts are unreachable too', async () => {
    control = 'closed';
    await about(1);
    await settled();
    expect([watched.state()?.state, controls]).toEqual(['port_closed', 1]);
    expect((await about(2)).smtp.rule).toBe('egress.port_closed');
    expect(dials).toEqual(['127.0.6.1']);
    at += 30_000;
    control = 'open';
    expect((await about(3)).smtp.rule).toBe('dialogue.unreachable');
    await settled();
    expect([watched.state()?.state, controls]).toEqual(['ok', 2]);
  });

  it('dead hosts are no evidence while a canary is reachable, probed every 30 s at most', async () => {
    control = 'open';
    for (let n = 1; n <= 20; n++) {
      expect((await about(n)).smtp.rule).toBe('dialogue.unreachable');
      await settled();
    }
    expect([watched.state()?.state, controls, dials.length]).toEqual(['ok', 1, 20]);
    at += 30_000;
    await about(21);
    expect(controls).toBe(2);
  });

  it('a single operator, or a greeting in between, is no evidence', async () => {
    for (let i = 0; i < 10; i++) await about(1).then(settled);
    expect(watched.state()?.state).toBe('ok');
    await about(2).then(settled);
    expect((await about(200)).smtp.finding).toBe('accepted');
    await about(3).then(settled);
    await about(4).then(settled);
    expect(watched.state()?.state).toBe('ok');
    await about(5).then(settled);
    expect(watched.state()?.state).toBe('port_closed');
  });

  it('pending checks are answered when the canaries are found closed', async () => {
    const mute = await serve('127.0.6.50', { banner: 'silence' });
    control = 'closed';
    const waiting = about(50, { ms: 10_000 });
    while (mute.connections.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await about(1);
    expect((await waiting).smtp).toMatchObject({ finding: 'smtp_unreachable', rule: 'egress.port_closed' });
    await mute.idle();
  });

  it('aborted checks, and hosts that connect without greeting, are no evidence', async () => {
    const mute = await serve('127.0.6.50', { banner: 'silence' });
    for (let i = 0; i < 5; i++) {
      const left = new AbortController();
      const leaving = about(50, { signal: left.signal });
      left.abort();
      expect((await leaving).smtp.rule).toBe('dialogue.cancelled');
      expect((await about(50, { ms: 30 })).smtp.finding).toBe('smtp_timeout');
    }
    await mute.idle();
    expect([watched.state()?.state, controls]).toEqual(['ok', 0]);
  });
});

describe('rejected everywhere', () => {
  const refusing = [1, 2, 3, 4, 5];
  beforeEach(async () => {
    for (const n of refusing) await serve(`127.0.6.${n}`, BLOCKED);
    canaries = [4, 5];
  });
  /** Operators 1 to 4, asked for two accounts. */
  const accuse = async () => {
    for (const n of [1, 2, 3, 4]) await about(n, { tenant: `t${n % 2}` });
    await answered();
  };

  it('four operators in a row suspend checks, if canaries say the same, until a trial elsewhere is accepted', async () => {
    for (const n of [1, 2, 3]) expect((await about(n, { tenant: `t${n % 2}` })).smtp.finding).toBe('smtp_blocked');
    expect((await about(3)).smtp.rule).not.toMatch(/^egress/);
    await answered();
    expect([watched.state()?.state, asked]).toEqual(['ok', 0]);
    await about(4);
    await answered();
    expect([watched.state()?.state, asked]).toEqual(['refused_everywhere', 1]);
    const before = dials.length;
    expect((await about(5)).smtp).toMatchObject({ finding: 'smtp_blocked', rule: 'egress.refused_everywhere' });
    expect((await about(200)).smtp.rule).toBe('egress.refused_everywhere');
    expect(dials).toHaveLength(before);
    at += 30_000;
    for (const n of [1, 2, 3, 4]) expect((await about(n)).smtp.rule).toBe('egress.refused_everywhere');
    expect((await about(5)).smtp.code).toBe(554);
    expect((await about(90)).smtp.rule).toBe('egress.refused_everywhere');
    expect((await about(200)).smtp.finding).toBe('accepted');
    expect(watched.state()?.state).toBe('ok');
    expect(controls).toBe(0);
  });

  it('a host that nobody knows is no evidence before it has accepted us, and takes no trial from those that are known', async () => {
    let isFriendly = true;
    const on: Persona['on'] = ({ verb }) => (verb === 'RCPT' && !isFriendly ? BLOCKED.banner : undefined);
    for (const n of [101, 102, 103, 104]) await serve(`127.0.6.${n}`, { mailboxes: [], on });
    const strange = async () => {
      for (const n of [101, 102, 103, 104]) await about(n, { tenant: `t${n % 2}` });
      await answered();
    };
    isFriendly = false;
    await strange();
    expect([watched.state()?.state, asked]).toEqual(['ok', 0]);
    isFriendly = true;
    await strange();
    isFriendly = false;
    await strange();
    expect([watched.state()?.state, asked]).toEqual(['refused_everywhere', 1]);
    await serve('127.0.6.105', BLOCKED);
    await serve('127.0.6.106', BLOCKED);
    at += 30_000;
    expect((await about(105)).smtp.code).toBe(554);
    expect((await about(106)).smtp.rule).toBe('egress.refused_everywhere');
    await serve('127.0.6.90');
    expect((await about(90)).smtp.finding).toBe('accepted');
    expect(watched.state()?.state).toBe('ok');
  });

  it.each([
    ['one accepts us', [4, 5, 200], 'ok'],
    ['only one rejects us', [4, 99], 'ok'],
    ['two reject us, and others cannot be reached', [4, 5, 98, 99], 'refused_everywhere'],
    ['none has a mail host', [], 'ok'],
  ])('canaries decide: %s', async (_, hosts, state) => {
    canaries = hosts;
    await accuse();
    expect([watched.state()?.state, asked]).toEqual([state, 1]);
  });

  it('what one account was told holds for that account, until another one is told the same', async () => {
    for (const n of [1, 2, 3, 4]) await about(n, { tenant: 'a' });
    await answered();
    const checkOf = async (tenant: string, n: number) => (await about(n, { tenant })).smtp.rule;
    expect(await checkOf('a', 5)).toBe('egress.refused_everywhere');
    expect(await checkOf('b', 5)).not.toMatch(/^egress/);
    for (const tenant of ['a', 'b', 'c']) expect(await checkOf(tenant, 200)).toBe('egress.refused_everywhere');
  });

  it('canaries that accept us again end it, though nobody asks about other operators', async () => {
    await accuse();
    at += 60_000;
    canaries = [200];
    expect((await about(1)).smtp.rule).toBe('egress.refused_everywhere');
    await answered();
    expect([watched.state()?.state, asked]).toEqual(['refused_everywhere', 1]);
    at += 240_000;
    await about(1);
    await answered();
    expect([watched.state()?.state, asked]).toEqual(['ok', 2]);
  });

  it('does not suspend checks with the breaker disabled', async () => {
    stops = false;
    await accuse();
    expect((await about(200)).smtp.finding).toBe('accepted');
    expect([watched.state()?.state, asked]).toEqual(['ok', 0]);
  });

  it('an accepting operator, or a rejection not about our IP, prevents it', async () => {
    for (const n of [1, 2, 3, 200, 4, 1, 2]) await about(n, { tenant: `t${n}` });
    await answered();
    expect(watched.state()?.state).toBe('ok');
    await serve('127.0.6.20', {
      on: ({ verb }) => (verb === 'MAIL' ? '553 5.1.8 sender domain does not exist' : undefined),
    });
    await about(20);
    await answered();
    expect(watched.state()?.state).toBe('ok');
    await about(3);
    await answered();
    expect(watched.state()?.state).toBe('refused_everywhere');
  });
});
