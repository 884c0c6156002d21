/**
 * The laboratory: NSD and unbound, Postfix with postgrey, Exim and OpenSMTPD from Debian's packages, and scripted
 * personas of the large providers, all on loopback addresses of one /24 and on one port. The daemons run in their own
 * PID and mount namespace, with their own /etc/passwd, resolv.conf, /run and /var/spool, and end with the process that
 * started them.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { UNPACKED } from '../../../scripts/debian-packages.mjs';
import { type SmtpLab, startSmtp } from '../smtp.ts';
import { PROVIDERS } from './providers.ts';
import { EGRESS_HOSTS, MAIL_SERVER_OCTETS, rootZone } from './zone.ts';

export interface Laboratory {
  /** First three octets of all addresses. */
  readonly net: string;
  /** The port of all mail servers. */
  readonly port: number;
  /** The resolver, in the format of the service's option. */
  readonly dns: string;
  /** Contains the logs, in `log/`. */
  readonly dir: string;
  readonly personas: ReadonlyMap<string, SmtpLab>;
  /** The service's options for an egress: DNS, port, name, sender, source address; rate limit and breaker off. */
  options(egress: keyof typeof EGRESS_HOSTS): Record<string, string>;
  close(): Promise<void>;
}

const HERE = import.meta.dirname;
const CERTIFICATE = join(HERE, '../certificate');
const START_MS = 30_000;

/** Throws with the daemons' logs if one of them does not start. Root only. */
export async function startLaboratory({ net = '127.53.25', port = 2525 } = {}): Promise<Laboratory> {
  const dir = mkdtempSync(join(tmpdir(), 'mailvet-laboratory-'));
  furnish(dir, net, port);
  const args = ['--mount', '--pid', '--fork', '--mount-proc', '--kill-child', '/bin/sh', join(HERE, 'world.sh')];
  const { PATH = '' } = process.env;
  const world = spawn('unshare', [...args, dir, UNPACKED, net], {
    stdio: ['pipe', 'inherit', 'inherit'],
    // Ctrl-C is ours to handle; the daemons end when their standard input closes.
    detached: true,
    env: { PATH: `${PATH}:/usr/sbin:/sbin`, LANG: 'C' },
  });
  const personas = new Map<string, SmtpLab>();
  const close = async () => {
    await Promise.all([...personas.values()].map((persona) => persona.close()));
    await end(world);
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    for (const { host, octet, persona } of PROVIDERS) {
      personas.set(host, await startSmtp(persona, { address: `${net}.${octet}`, port }));
    }
    const servers = MAIL_SERVER_OCTETS.map((octet) => [`${net}.${octet}`, port] as const);
    const others = [[`${net}.252`, 53] as const, [`${net}.253`, 53] as const, [`${net}.249`, 10_023] as const];
    const giveUp = AbortSignal.timeout(START_MS);
    await Promise.all([...others, ...servers].map(([address, at]) => listening(address, at, world, giveUp)));
  } catch (error) {
    const logs = readLogs(dir);
    await close();
    throw new Error(`The laboratory did not come up.\n${logs}`, { cause: error });
  }
  return {
    net,
    port,
    dns: `${net}.253:53`,
    dir,
    personas,
    options: (egress) => ({
      MAILVET_DNS_SERVERS: `${net}.253:53`,
      MAILVET_DNS_CONTROL_NAMES: 'none',
      MAILVET_SMTP_PORT: String(port),
      MAILVET_SMTP_HELO: EGRESS_HOSTS[egress].helo,
      MAILVET_SMTP_FROM: EGRESS_HOSTS[egress].from,
      MAILVET_SMTP_BIND: `${net}.${EGRESS_HOSTS[egress].octet}`,
      MAILVET_SMTP_RATE_PER_OPERATOR: '0',
      MAILVET_SMTP_BREAKER_SECONDS: '0',
      MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    }),
    close,
  };
}

/** The folder with everything that the daemons read or write. */
function furnish(dir: string, net: string, port: number): void {
  chmodSync(dir, 0o755);
  const folders = ['config', 'dns', 'etc', 'exim', 'log', 'postfix/queue', 'postfix/data', 'postgrey', 'tls'];
  for (const folder of folders) mkdirSync(join(dir, folder), { recursive: true });
  for (const name of readdirSync(join(HERE, 'config'))) {
    const text = readFileSync(join(HERE, 'config', name), 'utf8');
    const filled = text.replaceAll('@NET@', net).replaceAll('@PORT@', String(port)).replaceAll('@DIR@', dir);
    writeFileSync(join(dir, 'config', name), filled, { mode: 0o644 });
  }
  const domains = PROVIDERS.flatMap(({ domain, host, octet }) => [[domain, { host, octet }] as const]);
  writeFileSync(join(dir, 'dns/root.zone'), rootZone(net, Object.fromEntries(domains)));
  for (const name of ['cert.pem', 'key.pem']) copyFileSync(join(CERTIFICATE, name), join(dir, 'tls', name));
  // OpenSMTPD rejects a key that others can read.
  copyFileSync(join(CERTIFICATE, 'key.pem'), join(dir, 'tls/private-key.pem'));
  chmodSync(join(dir, 'tls/private-key.pem'), 0o600);
  writeFileSync(join(dir, 'etc/resolv.conf'), `nameserver ${net}.253\n`);
  writeFileSync(join(dir, 'etc/hosts'), '127.0.0.1 localhost\n');
  writeFileSync(
    join(dir, 'etc/nsswitch.conf'),
    'passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\n',
  );
  writeAccounts(dir);
}

/** System users of the two servers that are unpacked, not installed. */
const ACCOUNTS = { 'Debian-exim': 5301, opensmtpd: 5302, opensmtpq: 5303 };

function writeAccounts(dir: string): void {
  const [passwd, group] = ['/etc/passwd', '/etc/group'].map((path) => {
    const names = new RegExp(`^(?:${Object.keys(ACCOUNTS).join('|')}):.*\n`, 'gm');
    return readFileSync(path, 'utf8').replace(names, '');
  });
  const lines = Object.entries(ACCOUNTS);
  const users = lines.map(([name, id]) => `${name}:x:${id}:${id}::/nonexistent:/usr/sbin/nologin\n`);
  const groups = lines.map(([name, id]) => `${name}:x:${id}:\n`);
  writeFileSync(join(dir, 'etc/passwd'), passwd + users.join(''));
  writeFileSync(join(dir, 'etc/group'), group + groups.join(''));
}

/** Waits until the port accepts connections. */
async function listening(address: string, port: number, world: ChildProcess, giveUp: AbortSignal): Promise<void> {
  for (;;) {
    const socket = connect({ host: address, port });
    const connected = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (connected) return;
    if (giveUp.aborted || world.exitCode !== null) throw new Error(`Nothing is listening on ${address}:${port}.`);
    await after(50);
  }
}

async function end(world: ChildProcess): Promise<void> {
  if (world.exitCode !== null || world.signalCode !== null) return;
  const exited = once(world, 'exit');
  world.stdin!.end();
  await exited;
}

/** The end of every log, for the error message of a failed start. */
function readLogs(dir: string): string {
  const tail = (name: string) =>
    readFileSync(join(dir, 'log', name), 'utf8')
      .split('\n')
      .slice(-12)
      .join('\n');
  return readdirSync(join(dir, 'log'))
    .map((name) => `── ${name}\n${tail(name)}`)
    .join('\n');
}
