import { afterEach, describe, expect, it } from 'vitest';
import { type DnsLab, type Zone, zone } from '../../../tests/lab/dns.ts';
import { type Persona, type SmtpLab, startSmtp } from '../../../tests/lab/smtp.ts';
import { systemClock as clock } from '../../kernel/clock.ts';
import { createResolver } from '../dns/resolver.ts';
import { probeGreeting } from './connectivity-probe.ts';
import { probeConnectivity, resolveCanaryHosts } from './egress.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

async function server(persona: Persona = {}, where: Parameters<typeof startSmtp>[1] = {}): Promise<SmtpLab> {
  const lab = await startSmtp(persona, where);
  open.push(lab);
  return lab;
}
const mayDial = () => true;
const visit = (lab: { address: string; port: number }, more: Partial<Parameters<typeof probeGreeting>[3]> = {}) =>
  probeGreeting(lab.address, lab.port, 'check.lab', { withinMs: 2_000, mayDial, ...more });
const greeting = (text: string): Persona => ({
  on: ({ verb }) => (verb === 'EHLO' ? [`250-${text}`, '250-SIZE', '250 STARTTLS [192.0.2.99]'] : undefined),
});

describe('a connectivity probe', () => {
  it('waits for the banner, then sends EHLO and QUIT only', async () => {
    const lab = await server({ punishEarlyTalkers: true, bannerDelayMs: 50 });
    const found = await visit(lab);
    expect(found).toEqual({
      connected: true,
      banner: '220 mx.lab.test ESMTP',
      code: 250,
      said: '250 mx.lab.test PIPELINING 8BITMIME SIZE 10240000',
      greetedAs: null,
      localAddress: '127.0.0.1',
      error: null,
      proxyError: null,
    });
    expect(lab.commands.map(({ line }) => line)).toEqual(['EHLO check.lab', 'QUIT']);
    await lab.idle();
  });

  it.each([
    ['mx.google.com at your service, [203.0.113.5]', '203.0.113.5'],
    ['mail.test Hello check.lab [IPv6:2001:DB8::5], pleased', '2001:db8::5'],
    ['mail.test Hello check.lab (203.0.113.6)', '203.0.113.6'],
    ['mail.test Hello [999.1.1.1]', null],
    ['mail.test', null],
  ])('%s: we are %s', async (text, ip) => {
    expect((await visit(await server(greeting(text)))).greetedAs).toBe(ip);
  });

  it('connects from the configured address', async () => {
    const lab = await server();
    expect((await visit(lab, { egress: { bind: '127.0.0.9', via: null } })).localAddress).toBe('127.0.0.9');
    expect(lab.connections[0]!.from).toBe('127.0.0.9');
    expect(await visit(lab, { egress: { bind: '192.0.2.1', via: null } })).toMatchObject({
      connected: false,
      error: 'EADDRNOTAVAIL',
    });
  });

  it('uses an address literal without a HELO name', async () => {
    const lab = await server();
    await probeGreeting(lab.address, lab.port, null, { withinMs: 2_000, mayDial });
    expect(lab.commands[0]!.line).toBe('EHLO [127.0.0.1]');
  });

  it('records a rejection and sends QUIT', async () => {
    const lab = await server({ banner: '554 5.7.1 go away' });
    expect(await visit(lab)).toMatchObject({ connected: true, code: 554, said: '554 5.7.1 go away' });
    expect(lab.verbs()).toEqual(['QUIT']);
  });

  it.each<[string, Persona, object]>([
    ['never greets', { banner: 'silence' }, { connected: true, banner: null, error: 'deadline' }],
    ['drops at once', { banner: 'drop' }, { connected: true, banner: null }],
    ['sends an endless line', { banner: Buffer.alloc(70_000, 'a') }, { banner: null, error: 'not SMTP' }],
    ['speaks something else', { banner: 'HTTP/1.1 400 Bad Request' }, { banner: null, error: 'not SMTP' }],
    ['falls silent', { on: () => 'silence' }, { code: 220, error: 'deadline' }],
  ])('a server that %s costs no more than the deadline', async (_, persona, expected) => {
    const lab = await server(persona);
    expect(await visit(lab, { withinMs: 150 })).toMatchObject(expected);
    await lab.idle();
  });

  it('dials no address that the guard rejects', async () => {
    const lab = await server();
    expect(await visit(lab, { mayDial: () => false })).toMatchObject({ connected: false, error: 'not_routable' });
    expect(await probeGreeting('localhost', lab.port, 'x', { withinMs: 500, mayDial })).toMatchObject({
      error: 'not_routable',
    });
    expect(lab.connections).toHaveLength(0);
  });

  it('reports a closed port and an aborted probe', async () => {
    expect(await visit({ address: '127.0.9.9', port: 9 })).toMatchObject({ connected: false, error: 'ECONNREFUSED' });
    const left = new AbortController();
    const lab = await server({ banner: 'silence' });
    const leaving = visit(lab, { signal: left.signal });
    left.abort();
    expect(await leaving).toMatchObject({ banner: null, error: 'cancelled' });
    await lab.idle();
  });
});

describe('the canary probe', () => {
  const mx = (ip: string, name: string): Zone => ({
    [name]: {
      MX: [
        [20, `b.${name}`],
        [5, `a.${name}`],
      ],
    },
    [`a.${name}`]: { A: [ip] },
  });
  async function asked(records: Zone, port: number) {
    const dns: DnsLab = await zone(records);
    const resolver = createResolver({ servers: dns.servers, timeoutMs: 300, clock });
    open.push(dns, resolver);
    const engine = {
      clock,
      resolver,
      mayDial,
      port,
      egress: { helo: 'check.lab', bind: null, via: null, families: [4, 6] as const },
    };
    return { tools: engine, answer: await probeConnectivity(engine, new AbortController().signal) };
  }

  it('one reachable host is enough', async () => {
    const lab = await server({}, { address: '127.0.5.1' });
    const { answer, tools: engine } = await asked(
      { ...mx('127.0.5.1', 'gmail.com'), ...mx('127.0.5.9', 'yahoo.com') },
      lab.port,
    );
    expect(answer).toBe('open');
    expect(await resolveCanaryHosts(['gmail.com', 'nothing.com'], engine, clock.elapsed() + 1_000)).toEqual([
      { domain: 'gmail.com', host: 'a.gmail.com', v4: ['127.0.5.1'], v6: [] },
    ]);
  });

  it('none of two is closed; a single one, or none that resolves, is inconclusive', async () => {
    const two = { ...mx('127.0.5.8', 'gmail.com'), ...mx('127.0.5.9', 'yahoo.com') };
    expect((await asked(two, 9)).answer).toBe('closed');
    expect((await asked(mx('127.0.5.8', 'gmail.com'), 9)).answer).toBe('unusable');
    expect((await asked({ 'other.com': { A: ['127.0.0.1'] } }, 9)).answer).toBe('unusable');
  });
});
