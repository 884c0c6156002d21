import type { X509Certificate } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import type { Command } from 'commander';
import type { Settings } from '../config/options.ts';
import { isQualified } from '../config/options.ts';
import { type Options, systemEnvironment, unknownVariables, writesToJournal } from '../config/read.ts';
import { isPrivateAddress, ownAddresses } from '../engine/dns/routable.ts';
import { systemClock } from '../kernel/clock.ts';
import { messageOf } from '../kernel/errors.ts';
import { formatHostPort, type HostPort } from '../kernel/ip.ts';
import type { Logger } from '../kernel/log.ts';
import type { Closers } from '../main/closers.ts';
import type { Relay, RelaySecrets } from '../relay/server.ts';
import { CommandFailure, command, optionsFrom, printResult, UsageError } from './command.ts';
import { aborted, exitSoon, Termination } from './termination.ts';

/** Dialogues may last for so long after a signal; the rest of the 30 s of a stop is for the other parts. */
const RELAY_DRAIN_MS = 25_000;

interface RelayFlags {
  readonly json?: boolean;
  readonly printEgress?: boolean;
}

export const relayCommand = (): Command =>
  command('relay', 'Run a SOCKS 5 server through which a service on another host reaches mail servers from this one.')
    .option('--print-egress', 'print the entry of this relay for the service, with its token, and exit')
    .action(async (flags: RelayFlags) => {
      const options = optionsFrom(flags, 'relay', relayConflicts);
      if (flags.printEgress) {
        const entry = egressEntry(options, hostname());
        printResult(flags, entry, egressText(entry));
        return;
      }
      const { createLogger } = await import('../kernel/log.ts');
      const logger = createLogger(options.logLevel, { journal: writesToJournal() });
      const termination = new Termination();
      for (const problem of unknownVariables(systemEnvironment())) logger.warn(problem);
      try {
        const clean = await runRelay(flags, options, logger, termination.signal);
        if (!clean) process.exitCode = 1;
      } catch (error) {
        throw new CommandFailure(messageOf(error));
      } finally {
        exitSoon();
      }
    });

/** What is wrong with options that are valid on their own. */
function relayConflicts(read: Partial<Settings>): string[] {
  const { relayTokenFile, relayBind, relayListen, relayHealthListen: health } = read;
  const problems = tlsConflicts(read);
  if (relayTokenFile === null)
    problems.push(
      '--token-file (MAILVET_RELAY_TOKEN_FILE) is missing: give a file with the token, which openssl rand -hex 32 makes.',
    );
  const isV6 = (ip: string) => ip.includes(':');
  const families = new Set(relayBind?.map(isV6));
  if (relayBind && families.size < relayBind.length)
    problems.push(
      '--bind (MAILVET_RELAY_BIND) has several addresses of a family: give one of IPv4, one of IPv6, or both.',
    );
  if (relayListen && health && relayListen.port !== 0 && formatHostPort(relayListen) === formatHostPort(health))
    problems.push(
      `--health-listen (MAILVET_RELAY_HEALTH_LISTEN) is ${formatHostPort(health)}, as --listen: give another port.`,
    );
  return problems;
}

function tlsConflicts({ relayInsecure, relayTlsCert: cert, relayTlsKey: key, relayListen: listen }: Partial<Settings>) {
  const problems: string[] = [];
  if (relayInsecure) {
    if (cert || key) problems.push('--insecure and --tls-cert or --tls-key are given: remove one or the others.');
    if (listen && !isPrivateAddress(listen.address))
      problems.push(
        `--insecure is given, and --listen is ${formatHostPort(listen)}: give an address of loopback or of a private ` +
          'network to --listen, or --tls-cert and --tls-key instead of --insecure.',
      );
    return problems;
  }
  if (relayInsecure === undefined) return problems;
  const instead = 'or --insecure if the relay listens only on loopback or a private network';
  if (cert === null)
    problems.push(`--tls-cert (MAILVET_RELAY_TLS_CERT) is missing: give the file of a certificate, ${instead}.`);
  if (key === null)
    problems.push(`--tls-key (MAILVET_RELAY_TLS_KEY) is missing: give the file of its private key, ${instead}.`);
  if (cert && key && !cert.first.checkPrivateKey(key.key))
    problems.push('--tls-key is not the key of --tls-cert: give the key that the certificate was made for.');
  if (cert && certificateNames(cert.first.subjectAltName).length === 0)
    problems.push('--tls-cert names no host: give a certificate with a subjectAltName, which clients verify.');
  return problems;
}

/** Runs the relay until a signal stops it; returns whether everything was closed. */
async function runRelay(flags: RelayFlags, options: Options, logger: Logger, signal: AbortSignal): Promise<boolean> {
  const { Closers } = await import('../main/closers.ts');
  const closers = new Closers(logger);
  try {
    const relay = await openRelay(options, logger);
    const opened = await listenForRelay(options, relay, closers);
    process.on('SIGHUP', () => reload(flags, relay, logger));
    warnOf(options, logger);
    if (flags.json || process.stdout.isTTY) printResult(flags, opened, startText(opened));
    logger.info({ ...opened }, 'listening');
    logger.flush();
    await aborted(signal);
    logger.info('stopping: open dialogues may end first');
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
  const unclosed = await closers.closeAll();
  logger.flush();
  return unclosed.length === 0;
}

async function openRelay(options: Options, logger: Logger): Promise<Relay> {
  const { Relay: Server } = await import('../relay/server.ts');
  const settings = {
    ...relaySecrets(options),
    ports: options.relayPorts,
    bind: options.relayBind,
    maxConnections: options.relayMaxConnections,
    idleMs: options.relayIdleSeconds * 1000,
    totalMs: options.relayTotalSeconds * 1000,
    allowPrivate: options.allowPrivateNetworks,
    own: ownAddresses(networkInterfaces()),
    logsClients: options.logClientIp,
  };
  return new Server(settings, logger, systemClock);
}

function relaySecrets({ relayTokenFile, relayTlsCert, relayTlsKey }: Options): RelaySecrets {
  const tls = relayTlsCert &&
    relayTlsKey && { cert: relayTlsCert.pem, key: relayTlsKey.pem, endsAt: relayTlsCert.first.validToDate.getTime() };
  return { tokens: relayTokenFile ?? [], tls };
}

interface Listening {
  /** `ip:port` */
  readonly listen: string;
  readonly tls: boolean;
  readonly health_url: string | null;
}

/** Opens both ports. Throws one error with all that prevents it. */
async function listenForRelay(options: Options, relay: Relay, closers: Closers): Promise<Listening> {
  const { relayListen, relayHealthListen, relayBind } = options;
  const [{ explainListening }, { checkLocalAddress }] = await Promise.all([
    import('../main/listen.ts'),
    import('../relay/server.ts'),
  ]);
  const onPort = <T>(
    { address: host, port }: HostPort,
    option: '--listen' | '--health-listen',
    open: () => Promise<T>,
  ) => explainListening({ host, port, option, hostOption: option }, open);
  const [main, health, ...local] = await Promise.allSettled([
    onPort(relayListen, '--listen', () => relay.listen(relayListen)),
    relayHealthListen && onPort(relayHealthListen, '--health-listen', () => serveHealth(options, relay, closers)),
    ...relayBind.map((ip) =>
      checkLocalAddress(ip).catch(() => {
        throw new Error(`${ip} is not an address of this machine: correct --bind.`);
      }),
    ),
  ]);
  // Last, so that it is the first to stop, and its health is reported meanwhile.
  closers.add('relay', RELAY_DRAIN_MS + 2_000, () => relay.stop(RELAY_DRAIN_MS));
  const problems = [main, health, ...local].flatMap((one) =>
    one?.status === 'rejected' ? [messageOf(one.reason)] : [],
  );
  if (main?.status !== 'fulfilled' || health?.status !== 'fulfilled' || problems.length > 0)
    throw new Error(problems.join('\n'));
  return {
    listen: formatHostPort(main.value),
    tls: options.relayTlsCert !== null,
    health_url: health.value,
  };
}

/** Serves `/healthz` and `/metrics`; returns the URL. */
async function serveHealth(options: Options, relay: Relay, closers: Closers): Promise<string | null> {
  if (options.relayHealthListen === null) return null;
  const { address, port } = options.relayHealthListen;
  const [{ createRelayMetrics }, { listenForMetrics }] = await Promise.all([
    import('../http/metrics/registry.ts'),
    import('../http/metrics/port.ts'),
  ]);
  const one = (value: number) => [{ labels: {}, value }];
  const metrics = createRelayMetrics({
    mailvet_relay_connections_total: () =>
      [...relay.stats.ended].map(([outcome, value]) => ({ labels: { outcome }, value })),
    mailvet_relay_connections: () => [
      { labels: { state: 'handshake' }, value: relay.stats.handshakes },
      { labels: { state: 'dialogue' }, value: relay.stats.dialogues },
      { labels: { state: 'trunk' }, value: relay.stats.trunks },
    ],
    mailvet_relay_connections_max: () => one(options.relayMaxConnections),
    mailvet_relay_bytes_total: () =>
      Object.entries(relay.stats.bytes).map(([to, value]) => ({ labels: { to }, value })),
    mailvet_relay_certificate_expires_seconds: () => {
      const { certificateEndsAt } = relay.stats;
      return certificateEndsAt === null ? [] : one(certificateEndsAt / 1000);
    },
  });
  const server = await listenForMetrics(metrics, address, port, () => !closers.closing);
  closers.add('health port', 1_000, () => {
    server.closeAllConnections();
    server.close();
  });
  const bound = server.address();
  const at = typeof bound === 'object' && bound !== null ? bound.port : port;
  return `http://${formatHostPort({ address, port: at })}`;
}

function startText({ listen, tls, health_url: health }: Listening): string {
  return [
    `The relay listens on ${listen} (SOCKS 5 ${tls ? 'over TLS' : 'without TLS'}).`,
    ...(health === null ? [] : [`Health: ${health}/healthz, metrics: ${health}/metrics`]),
  ].join('\n');
}

function warnOf({ allowPrivateNetworks, relayTlsCert }: Options, logger: Logger): void {
  if (allowPrivateNetworks)
    logger.warn(
      'MAILVET_ALLOW_PRIVATE_NETWORKS is on: clients may connect to any address, this host included; use it in laboratories only',
    );
  const end = relayTlsCert?.first.validToDate;
  if (end && end.getTime() < systemClock.now())
    logger.warn({ end }, 'the certificate has ended: clients will not connect');
}

/** Takes tokens and certificate from the files again; where something is wrong with them, those before stay in use. */
function reload(flags: RelayFlags, relay: Relay, logger: Logger): void {
  try {
    const options = optionsFrom(flags, 'relay', relayConflicts);
    relay.reload(relaySecrets(options));
    logger.info('read token and certificate again');
    warnOf(options, logger);
  } catch (error) {
    logger.error({ problems: messageOf(error).split('\n') }, 'token and certificate stay as they were');
  }
}

/** What a service that is to use this relay has to know. */
interface EgressEntry {
  readonly name: string;
  readonly helo: string;
  readonly via: string;
  readonly families?: readonly string[];
}

const PLACEHOLDER = 'relay.example.com';

function egressEntry(options: Options, host: string): EgressEntry {
  const { relayListen, relayTlsCert, relayTokenFile, relayBind } = options;
  if (relayListen.port === 0) throw new UsageError('--print-egress needs a port: --listen has 0, any free one.');
  const own = isQualified(host) ? host.toLowerCase() : null;
  const address = relayTlsCert ? nameFor(relayTlsCert.first, own) : relayListen.address;
  const helo = own ?? (isQualified(address) ? address : PLACEHOLDER);
  const scheme = relayTlsCert ? 'socks5+tls' : 'socks5';
  const at = formatHostPort({ address, port: relayListen.port });
  const families = [...new Set(relayBind.map((ip) => (ip.includes(':') ? 'ipv6' : 'ipv4')))];
  return {
    name: helo.split('.')[0] ?? helo,
    helo,
    via: `${scheme}://mailvet:${encodeURIComponent(relayTokenFile?.[0] ?? '')}@${at}`,
    ...(families.length === 1 ? { families } : {}),
  };
}

/** A name that the certificate is valid for: this host's, if it is one of them. */
function nameFor(certificate: X509Certificate, host: string | null): string {
  if (host !== null && certificate.checkHost(host) !== undefined) return host;
  const [first = PLACEHOLDER] = certificateNames(certificate.subjectAltName).toSorted(
    (a, b) => Number(a.startsWith('*')) - Number(b.startsWith('*')),
  );
  return first.replace('*', 'relay');
}

/** Reads host names and IP addresses: `DNS:a.example, IP Address:192.0.2.1`. */
const certificateNames = (subjectAltName: string | undefined): string[] =>
  [...(subjectAltName ?? '').matchAll(/(?:^|, )(?:DNS|IP Address):([\w.*:-]+)/g)].map(([, name = '']) =>
    name.toLowerCase(),
  );

function egressText({ name, helo, via, families }: EgressEntry): string {
  return [
    '# It has the token of the relay: keep it from others.',
    ...(helo === PLACEHOLDER
      ? [`# Replace ${PLACEHOLDER} by the name of the relay's host, which resolves to its address.`]
      : []),
    `- name: ${name}`,
    `  helo: ${helo}`,
    `  via: ${via}`,
    ...(families ? [`  families: [${families.join(', ')}]`] : []),
  ].join('\n');
}
