/**
 * docs/relay.md as it is written: a service in a cloud that blocks port 25, and a relay on a small host. Each is a
 * machine of its own: namespaces for network, mounts, host name and processes, and a mail server of the Internet in a
 * third. Needs root.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { samplesOf } from '../lab/samples.ts';
import { ROOT } from './machine.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** The address in the sample of the page. */
const MAIL_SERVER = '142.250.102.26';
const NAME_SERVER = '9.9.9.9';
const RELAY = '45.33.32.156';
const CLOUD = '52.1.2.3';
const NODE = join(ROOT, 'node_modules/.bin/node');
const NAMES = ['inet', 'relay', 'cloud'].map((name) => `mvt${process.pid}-${name}`);
const [INTERNET = '', HOST = '', SERVICE = ''] = NAMES;

const sample = (start: string): string => {
  const found = samplesOf('docs/relay.md').find(({ code }) => code.startsWith(start));
  if (found === undefined) throw new Error(`docs/relay.md has no sample that begins with ${start}`);
  return found.code;
};

/** Why the kernel does not allow it; null: it does. */
function refusal(): string | null {
  const name = `mvt${process.pid}-try`;
  const made = spawnSync('ip', ['netns', 'add', name], { encoding: 'utf8' });
  if (made.error !== undefined) return `ip: ${made.error.message}`;
  if (made.status !== 0) return `ip netns add: ${made.stderr.trim()}`;
  const inside = ['netns', 'exec', name, 'unshare', '--mount', '--uts', '--pid', '--fork', 'true'];
  const tried = spawnSync('ip', inside, { encoding: 'utf8', timeout: 10_000 });
  spawnSync('ip', ['netns', 'del', name]);
  return tried.status === 0 ? null : `unshare in a network namespace: ${tried.stderr.trim()}`;
}
const refused = refusal();
if (refused !== null) console.warn(`tests/debian/relay-host.test.ts is left out, as the kernel refuses: ${refused}`);

/** What a machine is made of: `/etc` with changes that are lost, and the command where npm would install it. */
const BOOT = `
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/bin" "$1/data"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" /etc
printf '#!/bin/sh\\nexec "%s" "%s/bin/mailvet.mjs" "$@"\\n' "$3" "$2" > "$1/bin/mailvet"
chmod +x "$1/bin/mailvet"
echo '127.0.0.1 localhost\n${RELAY} probe1.example.com' > /etc/hosts
hostname "$4"
echo booted
exec sleep infinity
`;

class Machine {
  readonly #dir: string;
  readonly #outer: ChildProcess;
  readonly #started: ChildProcess[] = [];
  #pid = '';

  constructor(namespace: string, dir: string, hostname: string) {
    this.#dir = dir;
    mkdirSync(dir);
    const unshare = ['unshare', '--mount', '--uts', '--pid', '--mount-proc', '--fork', '--kill-child'];
    const boot = ['/bin/bash', '-c', BOOT, 'sh', dir, ROOT, NODE, hostname];
    this.#outer = spawn('ip', ['netns', 'exec', namespace, ...unshare, ...boot], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  async booted(): Promise<void> {
    for await (const line of createInterface({ input: this.#outer.stdout ?? process.stdin }))
      if (line === 'booted') break;
    this.#pid = readFileSync(`/proc/${this.#outer.pid}/task/${this.#outer.pid}/children`, 'utf8').trim();
  }

  #entered(command: string): string[] {
    const enter = ['--target', this.#pid, '--net', '--mount', '--uts', '--pid', `--wdns=${this.#dir}/data`];
    const { HOME = '/root' } = process.env;
    const path = `PATH=${this.#dir}/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
    const environment = [path, `HOME=${HOME}`, 'NODE_NO_WARNINGS=1', 'NODE_EXTRA_CA_CERTS=/etc/ca.pem'];
    return [...enter, 'env', '-i', ...environment, '/bin/bash', '-ec', command];
  }

  /** Runs a shell command to its end, and returns what it prints; throws with all of it if it fails. */
  run(command: string, input = ''): string {
    return execFileSync('nsenter', this.#entered(command), { encoding: 'utf8', input, timeout: 60_000 });
  }

  /** Starts one, and returns the lines that it prints. */
  start(command: string): string[] {
    const child = spawn('nsenter', this.#entered(`exec 2>&1; ${command}`), { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#started.push(child);
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    return lines;
  }

  stop(): void {
    for (const child of [...this.#started, this.#outer]) child.kill('SIGKILL');
  }
}

describe.skipIf(refused !== null)('a service in a cloud that blocks port 25, and a relay on a small host', () => {
  const dir = mkdtempSync(join(tmpdir(), 'mailvet-relay-host-'));
  const machines: Machine[] = [];
  let internet: Machine;
  let host: Machine;
  let service: Machine;
  let heard: string[] = [];
  const WAIT = { timeout: 60_000, interval: 100 };

  /** All on one link: each knows its own addresses, and asks on the link for all others. */
  function connect(): void {
    const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });
    for (const name of NAMES) ip('netns', 'add', name);
    for (const name of NAMES) ip('-n', name, 'link', 'set', 'lo', 'up');
    ip('-n', INTERNET, 'link', 'add', 'br0', 'type', 'bridge');
    ip('-n', INTERNET, 'link', 'set', 'br0', 'up');
    for (const [i, name] of [HOST, SERVICE].entries()) {
      ip('-n', INTERNET, 'link', 'add', `port${i}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
      ip('-n', INTERNET, 'link', 'set', `port${i}`, 'master', 'br0', 'up');
      ip('-n', name, 'link', 'set', 'eth0', 'up');
    }
    const own = [
      [INTERNET, 'br0', MAIL_SERVER],
      [INTERNET, 'br0', NAME_SERVER],
      [HOST, 'eth0', RELAY],
      [SERVICE, 'eth0', CLOUD],
    ] as const;
    for (const [name, device, address] of own) ip('-n', name, 'addr', 'add', `${address}/32`, 'dev', device);
    for (const [name, device] of own.slice(1)) ip('-n', name, 'route', 'add', 'default', 'dev', device);
    ip('-n', SERVICE, 'rule', 'add', 'ipproto', 'tcp', 'dport', '25', 'blackhole');
  }

  beforeAll(async () => {
    connect();
    internet = new Machine(INTERNET, join(dir, 'inet'), 'internet');
    host = new Machine(HOST, join(dir, 'host'), 'probe1.example.com');
    service = new Machine(SERVICE, join(dir, 'service'), 'service');
    machines.push(internet, host, service);
    await Promise.all(machines.map((machine) => machine.booted()));
    const certificate = spawnSync('openssl', [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=probe1.example.com',
      '-addext',
      'subjectAltName=DNS:probe1.example.com',
      '-keyout',
      join(dir, 'key.pem'),
      '-out',
      join(dir, 'cert.pem'),
    ]);
    expect(certificate.status).toBe(0);
    const [cert, key] = ['cert.pem', 'key.pem'].map((name) => readFileSync(join(dir, name), 'utf8'));
    const live = '/etc/letsencrypt/live/probe1.example.com';
    host.run(`mkdir -p ${live}; umask 077; cat > ${live}/fullchain.pem`, cert);
    host.run(`umask 077; cat > ${live}/privkey.pem`, key);
    // Stands for the authority that everybody trusts.
    for (const machine of machines) machine.run('cat > /etc/ca.pem', cert);
    heard = internet.start(`${NODE} ${ROOT}/tests/lab/debian/internet.ts ${MAIL_SERVER} ${NAME_SERVER} ${RELAY}`);
    await vi.waitFor(() => expect(heard.at(-1)).toBe('{"ready":true}'), WAIT);
  });
  afterAll(() => {
    for (const machine of machines) machine.stop();
    for (const name of NAMES) spawnSync('ip', ['netns', 'del', name]);
    rmSync(dir, { recursive: true, force: true });
  });

  /** The command of the page that starts the relay, in one line. */
  const relayCommand = () => {
    const [, command = ''] = /^(mailvet relay [\s\S]*)$/m.exec(sample('npm install --global mailvet')) ?? [];
    return command.trim();
  };
  const connectTo = (address: string, port: number) =>
    `${NODE} -e "require('node:net').connect(${port}, '${address}').on('connect', () => process.exit(0)).on('error', () => process.exit(7))"`;

  it('from the cloud, no mail server can be reached', () => {
    expect(() => service.run(connectTo(MAIL_SERVER, 25))).toThrow(expect.objectContaining({ status: 7 }));
    host.run(connectTo(MAIL_SERVER, 25));
  });

  it('the relay starts on the small host by the commands of the page', async () => {
    const [installs = '', ...others] = sample('npm install --global mailvet').split('\n');
    expect(installs).toBe('npm install --global mailvet');
    const before = others.join('\n').replace(relayCommand(), '');
    host.run(before);
    const said = host.start(relayCommand());
    const { time: _time, ...expected } = JSON.parse(sample('{"level":30,"time":"2026-11-27T09'));
    const listening = () => JSON.parse(said.find((line) => line.includes('"listening"')) ?? '{}');
    await vi.waitFor(() => expect(listening()).toMatchObject(expected), WAIT);
  });

  it('a program on the host of the service gets a banner through it', () => {
    const token = host.run('cat /etc/mailvet-relay/token');
    service.run(`ln -s ${ROOT}/node_modules node_modules; umask 077; cat > token`, token);
    const banner = service.run(`cat > first.mjs; ${NODE} first.mjs`, sample("import { once } from 'node:events'"));
    expect(banner).toMatch(/^220 /);
  });

  it('the entry that it prints is all that the service needs for its first verdict', async () => {
    const entry = host.run(`${relayCommand()} --print-egress`);
    const shape = (text: string) => text.replace(/mailvet:[^@]*@/, 'mailvet:…@').trim();
    expect(shape(entry)).toBe(shape(sample('# It has the token of the relay')));
    service.run('mkdir -p /etc/mailvet; umask 077; cat > /etc/mailvet/egress.yaml', entry);
    const environment = [
      sample('# The environment of the service')
        .replace(/^#.*\n/, '')
        .trim(),
      `MAILVET_DNS_SERVERS=${NAME_SERVER}`,
      'MAILVET_DNS_CONTROL_NAMES=none',
      'MAILVET_DATABASE_URL=sqlite:mv.db',
      'MAILVET_LISTS_UPDATE=off',
      'MAILVET_LISTS_LEARN_HOSTS=false',
    ].join(' ');
    const said = service.start(`${environment} mailvet serve --json --first-account`);
    const started = () =>
      JSON.parse(said.find((line) => line.includes('"key"')) ?? '{}') as { url?: string; key?: string };
    await vi.waitFor(() => expect(started().key, said.join('\n')).toBeDefined(), WAIT);
    const { url, key } = started();
    const program = `
      const reply = await fetch('${url}/v1/verify', { method: 'POST',
        headers: { authorization: 'Bearer ${key}', 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'jane@d0.com', validation_type: 'smtp' }) });
      console.log(await reply.text());`;
    const reply = JSON.parse(service.run(`${NODE} --input-type=module`, program));
    expect(reply, said.join('\n')).toMatchObject({
      deliverability: 'deliverable',
      reason: null,
      ...JSON.parse(sample('{"checks"')),
    });
    const namedFrom = () =>
      heard.map((line) => JSON.parse(line)).flatMap(({ verb, from }) => (verb === 'RCPT' ? [from] : []));
    await vi.waitFor(() => expect(new Set(namedFrom())).toEqual(new Set([RELAY])), WAIT);
    expect(heard.some((line) => JSON.parse(line).from === CLOUD)).toBe(false);
    const doctor = spawnDoctor(environment);
    expect(doctor.find(({ check }) => check === 'port')).toMatchObject({ result: 'pass', egress: 'probe1' });
    expect(doctor.find(({ check }) => check === 'egress')).toMatchObject({
      result: 'pass',
      found: expect.stringContaining(RELAY),
    });
  });

  /** It may find other faults of this laboratory. */
  function spawnDoctor(environment: string): { check: string; result: string; found: string; egress: string | null }[] {
    return JSON.parse(service.run(`${environment} mailvet doctor --json || true`)).findings;
  }
});
