/** The relay: passes connections of clients that know the token on to mail servers, from this host's address. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket, type TcpNetConnectOpts } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { routable } from '../engine/dns/routable.ts';
import type { Clock } from '../kernel/clock.ts';
import { RELAY_FAILED_LOGINS, RELAY_FAILED_LOGINS_SECONDS } from '../kernel/facts/limits.ts';
import { canonicalIp, formatHostPort, type HostPort, widestNetworkOf, withoutZone } from '../kernel/ip.ts';
import type { Logger } from '../kernel/log.ts';
import { SOCKS_METHODS, SOCKS_VERSION } from '../kernel/socks.ts';
import { GuessCounts } from '../kernel/windows.ts';
import {
  chooseMethod,
  connectedReply,
  LOGIN_ACCEPTED,
  LOGIN_REJECTED,
  outcomeOfConnecting,
  RELAY_OUTCOMES,
  RelayEnd,
  type RelayOutcome,
  readDestination,
  readerOf,
  readPassword,
  tokenMatcher,
} from './socks.ts';
import { type CarriedDialogue, RelayTrunk } from './trunk.ts';

/** A whole step of the handshake has this time, with TLS in the first: bytes that trickle in do not extend it. */
const HANDSHAKE_STEP_MS = 10_000;
/** Longer than the service waits. */
const RELAY_CONNECT_MS = 20_000;
/** What a client still sends after its last reply is discarded for so long: closing at once may take the reply away. */
const RELAY_LINGER_MS = 500;
/** This long after the mail server's side has ended, the client's ends. */
const LAST_MS = 5_000;
const RELAY_KEEP_ALIVE_MS = 60_000;

export interface RelaySecrets {
  readonly tokens: readonly string[];
  /** PEM texts; the certificate ends at `endsAt`, ms since 1970. Null means no TLS. */
  readonly tls: { readonly cert: string; readonly key: string; readonly endsAt: number } | null;
}

interface RelaySettings extends RelaySecrets {
  readonly ports: readonly number[];
  /** Local addresses to connect from, at most one of each family; none: the system's choice. */
  readonly bind: readonly string[];
  readonly maxConnections: number;
  readonly idleMs: number;
  readonly totalMs: number;
  /** Test setups only: destinations may have any address. */
  readonly allowPrivate: boolean;
  /** This host's addresses, as `ownAddresses` gives them. */
  readonly own: ReadonlySet<string>;
  readonly logsClients: boolean;
}

/** A connection of a client, until it has ended. */
interface RelayClient {
  readonly ip: string;
  readonly network: string;
  readonly socket: Socket;
  readonly startedAt: number;
  /** Aborted with the outcome as its reason. */
  readonly ending: AbortController;
  inDialogue: boolean;
  destination: HostPort | null;
  upstream: Socket | null;
}

const familyOf = (ip: string): 4 | 6 => (ip.includes(':') ? 6 : 4);

export class Relay {
  readonly #settings: RelaySettings;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #guesses = new GuessCounts({
    windowMs: RELAY_FAILED_LOGINS_SECONDS * 1000,
    perNetwork: RELAY_FAILED_LOGINS,
  });
  /** Their destination is not being connected to yet; the oldest comes first. */
  readonly #handshakes = new Set<RelayClient>();
  readonly #dialogues = new Set<RelayClient>();
  readonly #trunks = new Set<RelayTrunk>();
  /** Dialogues that trunks carry. */
  readonly #carried = new Set<CarriedDialogue>();
  readonly #ended = new Map<RelayOutcome, number>(RELAY_OUTCOMES.map((outcome) => [outcome, 0]));
  readonly #bytes = { mail_server: 0, client: 0 };
  #isToken: (password: Buffer) => boolean = () => false;
  #secure: SecureContext | null = null;
  #certificateEndsAt: number | null = null;

  constructor(settings: RelaySettings, logger: Logger, clock: Clock) {
    this.#settings = settings;
    this.#logger = logger;
    this.#clock = clock;
    this.reload(settings);
    this.#server = createServer(
      { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: RELAY_KEEP_ALIVE_MS },
      (socket) => void this.#serve(socket),
    );
  }

  /** Rejects with the system's error. */
  async listen({ address, port }: HostPort): Promise<HostPort> {
    this.#server.listen(port, address);
    await once(this.#server, 'listening');
    this.#server.on('error', (error) => this.#logger.error({ err: error }, 'a connection could not be accepted'));
    const bound = this.#server.address();
    return { address, port: typeof bound === 'object' && bound !== null ? bound.port : port };
  }

  /** New connections use these; those that carry many dialogues take no more of them. */
  reload({ tokens, tls }: RelaySecrets): void {
    for (const trunk of this.#trunks) trunk.retire();
    // TLS 1.3 has no renegotiation, with which a client could keep the relay computing.
    this.#secure = tls === null ? null : createSecureContext({ cert: tls.cert, key: tls.key, minVersion: 'TLSv1.3' });
    this.#certificateEndsAt = tls === null ? null : tls.endsAt;
    this.#isToken = tokenMatcher(tokens);
  }

  get stats() {
    return {
      handshakes: this.#handshakes.size,
      dialogues: this.#dialogues.size + this.#carried.size,
      trunks: this.#trunks.size,
      ended: this.#ended,
      bytes: this.#bytes,
      certificateEndsAt: this.#certificateEndsAt,
    };
  }

  /** Accepts nothing more, lets dialogues end for `drainMs`, and cuts the others off. */
  async stop(drainMs: number): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const { ending } of this.#handshakes) ending.abort('stopped');
    for (const trunk of this.#trunks) trunk.retire();
    const cut = setTimeout(() => {
      for (const { ending } of this.#dialogues) ending.abort('stopped');
      for (const trunk of this.#trunks) trunk.cut('stopped');
    }, drainMs);
    await closed;
    clearTimeout(cut);
  }

  /** Serves one connection to its end; never rejects. */
  async #serve(raw: Socket): Promise<void> {
    const client = this.#admit(raw);
    if (client === null) return;
    let outcome: RelayOutcome;
    try {
      const destination = await this.#handshake(client);
      if (destination === null) outcome = await this.#carry(client);
      else outcome = await this.#dialogue(client, await this.#connect(client, destination));
      client.socket.destroy();
    } catch (error) {
      const end = this.#endOf(client, error);
      outcome = end.outcome;
      closeWith(client.socket, end.reply);
    }
    client.upstream?.destroy();
    this.#handshakes.delete(client);
    this.#dialogues.delete(client);
    this.#note(client, outcome);
  }

  #endOf({ ending: { signal } }: RelayClient, error: unknown): RelayEnd {
    if (signal.aborted) {
      const outcome: RelayOutcome = signal.reason;
      return new RelayEnd(outcome, null);
    }
    if (error instanceof RelayEnd) return error;
    this.#logger.error({ err: error }, 'a connection failed by a fault of the relay');
    return new RelayEnd('failed');
  }

  #admit(raw: Socket): RelayClient | null {
    // Of a TLS connection, errors are those of its TLSSocket.
    raw.on('error', () => undefined);
    const ip = canonicalIp(withoutZone(raw.remoteAddress ?? '')) ?? '';
    if (!this.#guesses.mayGuess(ip, this.#clock.now())) return this.#turnAway(raw, 'blocked');
    if (this.#handshakes.size >= this.#settings.maxConnections && !this.#evictOne(ip))
      return this.#turnAway(raw, 'busy');
    const socket = this.#secure === null ? raw : new TLSSocket(raw, { isServer: true, secureContext: this.#secure });
    const client: RelayClient = {
      ip,
      network: widestNetworkOf(ip),
      socket,
      startedAt: this.#clock.elapsed(),
      ending: new AbortController(),
      inDialogue: false,
      destination: null,
      upstream: null,
    };
    const breakOff = (outcome: RelayOutcome) => client.ending.abort(client.inDialogue ? 'broken' : outcome);
    socket.on('error', (error: NodeJS.ErrnoException) => {
      breakOff(/^(ERR_SSL|EPROTO)/.test(error.code ?? '') ? 'no_tls' : 'gone');
    });
    socket.on('end', () => client.inDialogue || client.ending.abort('gone'));
    socket.on('close', () => client.inDialogue || client.ending.abort('gone'));
    this.#handshakes.add(client);
    return client;
  }

  /** No line is logged, of which there would be as many as somebody wants. */
  #turnAway(raw: Socket, outcome: RelayOutcome): null {
    raw.destroy();
    this.#count(outcome);
    return null;
  }

  /**
   * Ends the oldest handshake of the network that has most, so that nobody keeps others out by holding. Those of
   * addresses that have signed in before are spared. False: there are only these, and `ip` is none of them.
   */
  #evictOne(ip: string): boolean {
    const isKnown = (client: RelayClient) => this.#guesses.hasSucceeded(client.ip);
    const all = [...this.#handshakes];
    const unknown = all.filter((client) => !isKnown(client));
    if (unknown.length === 0 && !this.#guesses.hasSucceeded(ip)) return false;
    const byNetwork = Map.groupBy(unknown.length > 0 ? unknown : all, ({ network }) => network);
    const most = [...byNetwork.values()].reduce((a, b) => (b.length > a.length ? b : a));
    const [oldest] = most;
    if (oldest === undefined) return false;
    this.#handshakes.delete(oldest);
    oldest.ending.abort('evicted');
    return true;
  }

  /**
   * Three steps, each within its time: TLS and greeting, password, request. The fourth is to connect. Null: there is no
   * request, as the client wants the connection to carry many dialogues.
   */
  async #handshake(client: RelayClient): Promise<HostPort | null> {
    const { socket, ending } = client;
    const reader = readerOf(socket, ending.signal);
    const step = async <T>(take: () => Promise<T>): Promise<T> => {
      const timer = setTimeout(() => ending.abort('slow'), HANDSHAKE_STEP_MS);
      try {
        return await take();
      } finally {
        clearTimeout(timer);
      }
    };
    try {
      const method = await step(() => chooseMethod(reader));
      socket.write(Buffer.of(SOCKS_VERSION, SOCKS_METHODS[method]));
      this.#checkPassword(client.ip, await step(() => readPassword(reader)));
      socket.write(LOGIN_ACCEPTED);
      if (method === 'streams') return null;
      client.destination = await step(() => readDestination(reader));
      return client.destination;
    } catch (error) {
      if (error instanceof RelayEnd && IS_FAILED_LOGIN.has(error.outcome)) this.#loginFailed(client.ip);
      throw error;
    } finally {
      reader.release();
    }
  }

  #checkPassword(ip: string, password: Buffer): void {
    // Others of its network may have failed meanwhile.
    if (!this.#guesses.mayGuess(ip, this.#clock.now())) throw new RelayEnd('blocked', LOGIN_REJECTED);
    if (!this.#isToken(password)) throw new RelayEnd('bad_token', LOGIN_REJECTED);
    this.#guesses.succeeded(ip);
  }

  #loginFailed(ip: string): void {
    const now = this.#clock.now();
    if (!this.#guesses.mayGuess(ip, now)) return;
    this.#guesses.failed(ip, now);
    if (this.#guesses.mayGuess(ip, now)) return;
    const client = this.#settings.logsClients ? { client: ip } : {};
    const about = { ...client, seconds: this.#guesses.secondsLeft(now) };
    this.#logger.warn(about, 'too many failed sign-ins came from this network; its connections are closed for a while');
  }

  /** How to connect to it; throws where that is not allowed. */
  #optionsFor({ address, port }: HostPort): TcpNetConnectOpts {
    const { ports, bind, maxConnections, allowPrivate, own } = this.#settings;
    if (!ports.includes(port)) throw new RelayEnd('port_not_allowed');
    if (!routable(address, { allowPrivate, own })) throw new RelayEnd('address_not_allowed');
    const localAddress = bind.find((ip) => familyOf(ip) === familyOf(address));
    if (bind.length > 0 && localAddress === undefined) throw new RelayEnd('address_type');
    if (this.stats.dialogues >= maxConnections) throw new RelayEnd('busy');
    return {
      host: address,
      port,
      noDelay: true,
      autoSelectFamily: false,
      keepAlive: true,
      keepAliveInitialDelay: RELAY_KEEP_ALIVE_MS,
      ...(localAddress === undefined ? {} : { localAddress }),
    };
  }

  /** Carries dialogues until the client's connection ends. */
  async #carry(client: RelayClient): Promise<RelayOutcome> {
    if (this.#trunks.size >= this.#settings.maxConnections) throw new RelayEnd('busy', null);
    const { idleMs, totalMs } = this.#settings;
    const { promise, resolve } = Promise.withResolvers<RelayOutcome>();
    this.#handshakes.delete(client);
    client.inDialogue = true;
    const trunk = new RelayTrunk(client.socket, {
      idleMs,
      totalMs,
      connectMs: RELAY_CONNECT_MS,
      lastMs: LAST_MS,
      clock: this.#clock,
      optionsFor: (destination) => this.#optionsFor(destination),
      endOf: (error) => this.#endOf(client, error),
      on: {
        began: (dialogue) => this.#carried.add(dialogue),
        ended: (dialogue, outcome) => {
          this.#carried.delete(dialogue);
          this.#note({ ...dialogue, ip: client.ip }, outcome);
        },
        closed: resolve,
      },
    });
    this.#trunks.add(trunk);
    const outcome = await promise;
    this.#trunks.delete(trunk);
    return outcome;
  }

  async #connect(client: RelayClient, destination: HostPort): Promise<Socket> {
    const options = this.#optionsFor(destination);
    this.#handshakes.delete(client);
    this.#dialogues.add(client);
    const upstream = connect({ ...options, allowHalfOpen: true });
    client.upstream = upstream;
    upstream.on('error', () => client.inDialogue && client.ending.abort('broken'));
    const late = AbortSignal.timeout(RELAY_CONNECT_MS);
    try {
      await once(upstream, 'connect', { signal: AbortSignal.any([client.ending.signal, late]) });
    } catch (error) {
      throw new RelayEnd(late.aborted ? 'host_unreachable' : outcomeOfConnecting(error));
    }
    return upstream;
  }

  /** Passes bytes on in both directions, as fast as they are taken, until both sides have ended. */
  async #dialogue(client: RelayClient, upstream: Socket): Promise<RelayOutcome> {
    const { socket, ending } = client;
    const { idleMs, totalMs } = this.#settings;
    client.inDialogue = true;
    socket.write(connectedReply({ address: upstream.localAddress ?? '0.0.0.0', port: upstream.localPort ?? 0 }));
    // Everything that is passed on moves this socket too.
    socket.setTimeout(idleMs, () => ending.abort(upstream.readableEnded ? 'completed' : 'idle'));
    upstream.once('end', () => socket.setTimeout(Math.min(LAST_MS, idleMs)));
    const total = setTimeout(() => ending.abort('too_long'), totalMs);
    const closed = Promise.all([socket, upstream].map((side) => once(side, 'close', { signal: ending.signal })));
    try {
      socket.pipe(upstream).pipe(socket);
      await closed;
      return 'completed';
    } finally {
      clearTimeout(total);
    }
  }

  #count(outcome: RelayOutcome): void {
    this.#ended.set(outcome, (this.#ended.get(outcome) ?? 0) + 1);
  }

  #note({ ip, destination, upstream, startedAt }: CarriedDialogue & { readonly ip: string }, outcome: RelayOutcome) {
    const bytes = { mail_server: upstream?.bytesWritten ?? 0, client: upstream?.bytesRead ?? 0 };
    this.#bytes.mail_server += bytes.mail_server;
    this.#bytes.client += bytes.client;
    this.#count(outcome);
    const about = {
      ...(this.#settings.logsClients ? { client: ip } : {}),
      destination: destination && formatHostPort(destination),
      outcome,
      bytes_to_mail_server: bytes.mail_server,
      bytes_to_client: bytes.client,
      ms: Math.round(this.#clock.elapsed() - startedAt),
    };
    this.#logger.info(about, 'connection ended');
  }
}

const IS_FAILED_LOGIN: ReadonlySet<RelayOutcome> = new Set(['malformed', 'no_password', 'bad_token']);

function closeWith(socket: Socket, reply: Buffer | null): void {
  if (reply === null || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(reply);
  socket.resume();
  const end = setTimeout(() => socket.destroy(), RELAY_LINGER_MS);
  socket.once('close', () => clearTimeout(end));
}

/** Rejects with the system's error if this host does not have the address. */
export async function checkLocalAddress(address: string): Promise<void> {
  const server = createServer();
  server.listen(0, address);
  await once(server, 'listening');
  server.close();
}
