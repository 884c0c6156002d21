/**
 * Runs the engine with a fault in each handler in turn, and prints what became of it, as JSON. A process of its own,
 * because what is shown is that it lives on. Preloaded: faults-hook.mjs.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { createResolver } from '../../src/engine/dns/resolver.ts';
import { createPost } from '../../src/engine/http/post.ts';
import { probeGreeting } from '../../src/engine/smtp/connectivity-probe.ts';
import { createVerifier, type VerifierOptions, type VerifyOptions } from '../../src/index.ts';
import { systemClock as clock } from '../../src/kernel/clock.ts';
import { zone } from './dns.ts';
import { ask, labAddress, labCheck, labEgresses, labHosts } from './mailbox.ts';
import { type Persona, startSmtp } from './smtp.ts';
import { type SocksSetup, startSocks } from './socks.ts';

declare global {
  var handlerCalls: Map<string, number>;
  var faultyPlace: string | null;
}

/** A check that has not ended by then hangs. */
const ENDS_MS = 8_000;

const escaped: string[] = [];
process.on('uncaughtException', (error) => escaped.push(String(error.stack)));
process.on('unhandledRejection', (error) => escaped.push(`rejection: ${error instanceof Error ? error.stack : error}`));

const PERSONAS: Readonly<Record<string, Persona>> = {
  accepts: {},
  rejects: { mailboxes: [] },
  secure: { tls: 'works', demandsTls: true },
  breaks: { tls: 'broken', demandsTls: true },
  hangs: { banner: 'silence' },
  drops: { banner: 'drop' },
  leaves: { banner: '421 4.3.2 busy' },
  // Takes the addresses it knows, and never says whether it takes others.
  ponders: {
    on: ({ verb, path }) => (verb === 'RCPT' && !/^(good|bob)@/.test(path) ? 'silence' : undefined),
    mailboxes: ['*'],
  },
  later: { on: ({ verb }) => (verb === 'RCPT' ? '450 4.7.1 Greylisted, try again in 1 seconds' : undefined) },
};
const names = Object.keys(PERSONAS);
const addressOf = (name: string) => `127.0.9.${names.indexOf(name) + 1}`;
const { port } = await startSmtp({}, { address: addressOf('accepts') });
await Promise.all(names.slice(1).map((name) => startSmtp(PERSONAS[name], { address: addressOf(name), port })));
const dns = await zone({
  ...Object.fromEntries(names.map((name) => [`${name}.com`, { MX: [[5, `mx.${name}.com`]] }])),
  ...Object.fromEntries(names.map((name) => [`mx.${name}.com`, { A: [addressOf(name)] }])),
  'truncates.com': { MX: [[5, 'mx.accepts.com']], fault: 'truncate' },
  'cut.com': { MX: [[5, 'mx.accepts.com']], fault: 'cut' },
  'silent.com': { fault: 'silent' },
  'servfail.com': { fault: 'servfail' },
  'closed.com': { MX: [[5, 'mx.closed.com']] },
  'mx.closed.com': { A: ['127.0.9.99'] },
});
const http = createServer((request, reply) => request.url === '/' && reply.end('ok'));
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
const httpPort = (http.address() as AddressInfo).port;

const CREDENTIALS = { user: 'probe', password: 'of the probe' };
const CA = readFileSync(new URL('certificate/socks.pem', import.meta.url), 'utf8');
/** A SOCKS server as egresses name it. */
async function socksAt(setup: SocksSetup = {}) {
  const { address, port: socksPort } = await startSocks({ credentials: CREDENTIALS, ...setup });
  const isTls = setup.tls ?? false;
  return { host: address, port: socksPort, tls: isTls, ca: isTls ? CA : null, credentials: () => CREDENTIALS };
}
const viaSocks = {
  plain: await socksAt(),
  secure: await socksAt({ tls: true }),
  silent: await socksAt({ fault: 'hangs_at_greeting' }),
  refusing: await socksAt({ reply: 5 }),
  slow: await socksAt({ fault: 'hangs_at_request' }),
  closing: await socksAt({ fault: 'closes_at_request' }),
  relay: await socksAt({ streams: true }),
  dyingRelay: await socksAt({ streams: true, fault: 'dies_in_dialogue' }),
  gone: { ...(await socksAt()), port: 9 },
};

const smtp = { helo: 'verify.example.net', port, ratePerOperator: 0 };
function verifier(more: Partial<VerifierOptions> = {}) {
  const server = `${dns.address}:${dns.port}`;
  const basics = { dnsServers: [server], dnsControlNames: [], dnsTimeoutMs: 100, allowPrivateNetworks: true, smtp };
  const made = createVerifier({ ...basics, ...more });
  const check = (email: string, options: VerifyOptions = {}) =>
    made.verify(email, { level: 'smtp', timeoutMs: 1_000, ...options });
  return { ...made, check };
}
/** Checks that end one way or another; then the same verifier must still be able to tell. */
async function checks(made: ReturnType<typeof verifier>, all: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(all);
  const { deliverability } = await made.check('good@accepts.com', { timeoutMs: 4_000 });
  made.close();
  if (deliverability !== 'deliverable') throw new Error(`then: ${deliverability}`);
}

const SCENARIOS: Readonly<Record<string, () => Promise<unknown>>> = {
  async 'mail servers'() {
    const made = verifier();
    const emails = ['good@accepts.com', 'good@secure.com', 'good@drops.com', 'good@closed.com', 'good@breaks.com'];
    const many = Array.from({ length: 6 }, (_, i) => `user${i}@rejects.com`);
    await checks(
      made,
      [...emails, ...many].map((email) => made.check(email)),
    );
  },
  async 'a server that hangs, and callers who leave'() {
    const made = verifier();
    const stays = made.check('good@hangs.com');
    await checks(made, [stays, made.check('bob@hangs.com', { signal: AbortSignal.timeout(200) })]);
  },
  async 'name servers that hang, cut off and fail'() {
    const made = verifier();
    const domains = ['truncates.com', 'cut.com', 'silent.com', 'servfail.com'];
    const all = domains.map((domain) => made.check(`good@${domain}`, { level: 'mx' }));
    await checks(made, [...all, made.check('x@silent.com', { signal: AbortSignal.timeout(50) })]);
  },
  async 'a name server that is gone'() {
    const made = verifier({ dnsServers: ['127.0.0.1:9', `${dns.address}:${dns.port}`] });
    await checks(made, [made.check('good@accepts.com')]);
  },
  async 'only name servers that are gone'() {
    const made = verifier({ dnsServers: ['127.0.0.1:9'] });
    await Promise.allSettled([made.check('good@accepts.com')]);
    made.close();
  },
  async 'control names'() {
    const made = verifier({ dnsControlNames: ['accepts.com', 'rejects.com'] });
    await checks(made, [made.check('good@accepts.com'), made.check('good@missing.com')]);
  },
  async 'a slow pace'() {
    const made = verifier({ smtp: { ...smtp, ratePerOperator: 2, connectionsPerHost: 1 } });
    const emails = Array.from({ length: 6 }, (_, i) => `user${i}@rejects.com`);
    const hanging = ['a', 'b'].map((name) => made.check(`${name}@hangs.com`));
    await checks(made, [...hanging, ...emails.map((email) => made.check(email))]);
  },
  async 'a pace that new sessions wait for'() {
    const made = verifier({ smtp: { ...smtp, ratePerOperator: 2 } });
    await checks(
      made,
      Array.from({ length: 6 }, (_, i) => made.check(`user${i}@drops.com`, { timeoutMs: 1_500 })),
    );
  },
  async 'a random recipient without an answer'() {
    const made = verifier();
    await checks(made, [made.check('good@ponders.com', { timeoutMs: 2_000 }), made.check('bob@ponders.com')]);
  },
  async 'name servers that are silent'() {
    const made = verifier({ dnsTimeoutMs: 2_000 });
    await dns.pause('silent');
    await Promise.allSettled([made.check('good@unheard.com')]);
    await dns.resume();
    await checks(made, []);
    const resolver = createResolver({ servers: dns.servers, timeoutMs: 100, clock });
    resolver.close();
    await resolver.alive({ deadlineMs: clock.elapsed() + 100, sinceMs: clock.elapsed() });
  },
  async 'checks that are not begun, or called back'() {
    const check = labCheck(port, { mayDial: () => false });
    const subject = { address: labAddress('good@example.test'), dns: labHosts({ 'mx.x.test': [addressOf('hangs')] }) };
    const limit = () => ({ deadlineMs: clock.elapsed() + 1_000, tenant: '', lastCall: AbortSignal.timeout(50) });
    await Promise.allSettled([check.check(subject, limit())]);
    const dials = labCheck(port);
    await Promise.allSettled([dials.check(subject, limit()), dials.check(subject, limit())]);
    await Promise.all([check.close(), dials.close()]);
  },
  async 'SOCKS servers'() {
    const limits = { connectMs: 400, tlsMs: 400, socksGreetingMs: 400, socksRequestMs: 400 };
    const hosts = labHosts({ 'mx.example.test': [addressOf('accepts')] });
    await Promise.all(
      Object.entries(viaSocks).map(async ([name, via]) => {
        const check = labCheck(port, { egresses: labEgresses([], { name, via }), limits });
        await Promise.allSettled([ask(check, { dns: hosts, ms: 1_000 })]);
        await check.close();
      }),
    );
    const leaves = labCheck(port, { egresses: labEgresses([], { name: 'silent', via: viaSocks.silent }) });
    const asked = ask(leaves, { dns: hosts, ms: 1_000 });
    await after(50);
    await leaves.close();
    await Promise.allSettled([asked]);
  },
  async 'a retry'() {
    const made = verifier();
    await checks(made, [made.check('good@later.com', { wait: 1_800 })]);
  },
  async 'a verifier that is closed'() {
    const made = verifier();
    const all = ['good@hangs.com', 'good@silent.com', 'good@accepts.com'].map((email) => made.check(email));
    await after(20);
    made.close();
    await Promise.allSettled([...all, made.check('good@accepts.com')]);
  },
  async 'a shared pace'() {
    const lease = async (requests: readonly { key: string; total: number; holds: number; needs: number }[]) =>
      requests.map(({ key, needs }) => ({ key, units: needs, target: needs, isRested: true }));
    const check = labCheck(port, { sharedRates: { group: 'g', lease, failed: () => {} }, ratePerOperator: 5 });
    await Promise.allSettled([ask(check, { ms: 1_500 }), ask(check, { email: 'bob@example.test', ms: 1_500 })]);
    await check.close();
  },
  async probes() {
    const options = { withinMs: 300, mayDial: () => true };
    const signal = AbortSignal.timeout(50);
    await Promise.all([
      probeGreeting(addressOf('accepts'), port, 'verify.example.net', options),
      probeGreeting(addressOf('hangs'), port, 'verify.example.net', options),
      probeGreeting(addressOf('hangs'), port, 'verify.example.net', { ...options, signal }),
      probeGreeting(addressOf('leaves'), port, 'verify.example.net', options),
      probeGreeting('127.0.9.99', port, 'verify.example.net', options),
      ...Object.values(viaSocks).map((via) => {
        const from = { egress: { bind: null, via } };
        return probeGreeting(addressOf('accepts'), port, 'verify.example.net', { ...options, ...from });
      }),
      probeGreeting(addressOf('accepts'), port, 'verify.example.net', {
        ...options,
        signal,
        egress: { bind: null, via: viaSocks.silent },
      }),
    ]);
  },
  async 'the HTTP client'() {
    const resolver = createResolver({ servers: dns.servers, timeoutMs: 100, clock });
    const post = createPost({ resolver, clock, allowPrivate: true, ownAddresses: new Set() });
    const send = (url: string, signal = new AbortController().signal) =>
      post({ url, headers: {}, body: '{}', timeoutMs: 1_000, replyBytes: 100, signal });
    await Promise.allSettled([
      send(`http://127.0.0.1:${httpPort}/`),
      send(`https://127.0.0.1:${httpPort}/`),
      send(`https://${addressOf('secure')}:${port}/`),
      send(`http://127.0.0.1:${httpPort}/hangs`, AbortSignal.timeout(50)),
      send('http://mx.closed.com:9/'),
    ]);
    resolver.close();
  },
};

/** Whether a scenario ends in time, with an engine that works. */
async function ends(name: string): Promise<string> {
  const run = SCENARIOS[name]!().then(
    () => 'ended',
    (error: unknown) => `failed: ${error instanceof Error ? error.message : error}`,
  );
  return Promise.race([run, after(ENDS_MS, 'hangs', { ref: true })]);
}

const results: Record<string, { scenario: string; outcome: string; escaped: readonly string[] }> = {};
const scenariosOf = new Map<string, string[]>();
for (const name of Object.keys(SCENARIOS)) {
  handlerCalls.clear();
  const outcome = await ends(name);
  if (outcome !== 'ended' || escaped.length > 0)
    results[`nowhere, ${name}`] = { scenario: name, outcome, escaped: escaped.splice(0) };
  for (const place of handlerCalls.keys()) scenariosOf.set(place, [...(scenariosOf.get(place) ?? []), name]);
}
for (const [place, scenarios] of scenariosOf) {
  faultyPlace = place;
  let [scenario = ''] = scenarios;
  let outcome = 'no fault';
  // Some handlers run only when two things meet, or where the machine is busy.
  for (let tries = 0; faultyPlace !== null && tries < 5 * scenarios.length; tries++) {
    scenario = scenarios[tries % scenarios.length]!;
    outcome = await ends(scenario);
  }
  results[place] = { scenario, outcome: faultyPlace === null ? outcome : 'no fault', escaped: escaped.splice(0) };
  faultyPlace = null;
}
console.log(JSON.stringify(results));
process.exit(0);
