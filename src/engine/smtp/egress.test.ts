import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, labCheck, labHosts, labOwners } from '../../../tests/lab/mailbox.ts';
import { type Persona, type SmtpLab, startSmtp } from '../../../tests/lab/smtp.ts';
import type { Connectivity } from './canary-hosts.ts';
import { createClassifier } from './classify.ts';
import { type MonitoredMailboxCheck, monitorEgress } from './egress.ts';
import type { MailboxCheck } from './mailbox.ts';
import { operatorKey } from './operators.ts';

const { isAboutOurIp } = createClassifier();
const BLOCKED: Persona = { banner: '554 5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org' };

let servers: SmtpLab[];
let port: number;
let stops: boolean;
let dials: string[];
let controls: number;
let control: Connectivity;
let at: number;
let mailbox: MailboxCheck;
let watched: MonitoredMailboxCheck & MailboxCheck;

const serve = async (address: string, persona: Persona = {}) => {
  const lab = await startSmtp(persona, { address, port });
  servers.push(lab);
  port = lab.port;
  return lab;
};
/** A check of a separate operator, at 127.0.6.n. */
const about = (n: number, more: { ms?: number; signal?: AbortSignal } = {}) =>
  ask(watched, { dns: labHosts({ [`mx.operator${n}.com`]: [`127.0.6.${n}`] }), ...more });
const settled = () => new Promise((resolve) => setImmediate(resolve));

beforeEach(async () => {
  [servers, dials, controls, control, at, port, stops] = [[], [], 0, 'unusable', 1_000_000, 0, true];
  // Reserves a port on which no process listens on the other addresses.
  await serve('127.0.6.200');
  mailbox = labCheck(port, { mayDial: (ip) => dials.push(ip) > 0 });
  const monitored = monitorEgress(mailbox, {
    clock: { now: () => at, elapsed: () => at },
    operatorOf: (dns) => operatorKey(dns, labOwners),
    aboutOurIp: isAboutOurIp,
    get stopsWhenRefused() {
      return stops;
    },
    probeConnectivity: () => {
      controls++;
      return Promise.resolve(control);
    },
  });
  watched = { ...mailbox, ...monitored };
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
    expect([watched.state().state, controls]).toEqual(['port_closed', 1]);
    expect((await about(2)).smtp.rule).toBe('egress.port_closed');
    expect(dials).toEqual(['127.0.6.1']);
    at += 30_000;
    control = 'open';
    expect((await about(3)).smtp.rule).toBe('dialogue.unreachable');
    await settled();
    expect([watched.state().state, controls]).toEqual(['ok', 2]);
  });

  it('dead hosts are no evidence while a canary is reachable, probed every 30 s at most', async () => {
    control = 'open';
    for (let n = 1; n <= 20; n++) {
      expect((await about(n)).smtp.rule).toBe('dialogue.unreachable');
      await settled();
    }
    expect([watched.state().state, controls, dials.length]).toEqual(['ok', 1, 20]);
    at += 30_000;
    await about(21);
    expect(controls).toBe(2);
  });

  it('a single operator, or a greeting in between, is no evidence', async () => {
    for (let i = 0; i < 10; i++) await about(1).then(settled);
    expect(watched.state().state).toBe('ok');
    await about(2).then(settled);
    expect((await about(200)).smtp.finding).toBe('accepted');
    await about(3).then(settled);
    await about(4).then(settled);
    expect(watched.state().state).toBe('ok');
    await about(5).then(settled);
    expect(watched.state().state).toBe('port_closed');
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
    expect([watched.state().state, controls]).toEqual(['ok', 0]);
  });
});

describe('rejected everywhere', () => {
  it('four operators in a row suspend checks until a trial is accepted', async () => {
    for (const n of [1, 2, 3, 4, 5]) await serve(`127.0.6.${n}`, BLOCKED);
    for (const n of [1, 2, 3]) expect((await about(n)).smtp.finding).toBe('smtp_blocked');
    expect((await about(3)).smtp.rule).not.toMatch(/^egress/);
    expect(watched.state().state).toBe('ok');
    await about(4);
    expect(watched.state().state).toBe('refused_everywhere');
    const before = dials.length;
    expect((await about(5)).smtp).toMatchObject({ finding: 'smtp_blocked', rule: 'egress.refused_everywhere' });
    expect((await about(200)).smtp.rule).toBe('egress.refused_everywhere');
    expect(dials).toHaveLength(before);
    at += 30_000;
    expect((await about(5)).smtp.code).toBe(554);
    expect((await about(200)).smtp.rule).toBe('egress.refused_everywhere');
    at += 30_000;
    expect((await about(200)).smtp.finding).toBe('accepted');
    expect(watched.state().state).toBe('ok');
    expect(controls).toBe(0);
  });

  it('does not suspend checks with the breaker disabled', async () => {
    stops = false;
    for (const n of [1, 2, 3, 4]) {
      await serve(`127.0.6.${n}`, BLOCKED);
      await about(n);
    }
    expect((await about(200)).smtp.finding).toBe('accepted');
    expect(watched.state().state).toBe('ok');
  });

  it('an accepting operator, or a rejection not about our IP, prevents it', async () => {
    for (const n of [1, 2, 3, 4]) await serve(`127.0.6.${n}`, BLOCKED);
    for (const n of [1, 2, 3, 200, 4, 1, 2]) await about(n);
    expect(watched.state().state).toBe('ok');
    await serve('127.0.6.20', {
      on: ({ verb }) => (verb === 'MAIL' ? '553 5.1.8 sender domain does not exist' : undefined),
    });
    await about(20);
    expect(watched.state().state).toBe('ok');
    await about(3);
    expect(watched.state().state).toBe('refused_everywhere');
  });
});
