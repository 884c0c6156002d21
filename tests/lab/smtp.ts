/**
 * Mail servers as found in the wild, on loopback. A persona defines a server's behavior; everything that a client does
 * is recorded, so that a test can assert "never DATA", "always QUIT", "nothing before the banner".
 *
 * Personas can share a port number by listening on different 127.x.y.z addresses.
 */
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';

type Verb = 'EHLO' | 'HELO' | 'STARTTLS' | 'MAIL' | 'RCPT' | 'RSET' | 'QUIT' | 'DATA' | string;

/** The reaction to a command: reply lines with codes, close the connection, or never reply. */
type Says = string | readonly string[] | 'drop' | 'silence' | Buffer;

export interface Persona {
  /** Lines with codes; default one 220. `drop` closes at once, `silence` never greets. */
  readonly banner?: Says;
  readonly bannerDelayMs?: number;
  /** Rejects clients that talk before the banner is complete, like postscreen. */
  readonly punishEarlyTalkers?: boolean;
  /** EHLO keywords; default PIPELINING, 8BITMIME, SIZE. */
  readonly capabilities?: readonly string[];
  /** `broken`: no TLS follows. `closes`: it ends every handshake. */
  readonly tls?: 'works' | 'broken' | 'closes' | 'refused';
  /** EHLO keywords under TLS; default the same. */
  readonly capabilitiesUnderTls?: readonly string[];
  /** The newest version that it takes; default TLS 1.3. */
  readonly tlsUpTo?: 'TLSv1.2';
  /** What it does instead of a handshake where TLS 1.3 is offered. */
  readonly onTls13?: 'close' | 'reset' | 'alert' | 'silence';
  /**
   * What goes wrong where commands come together: it closes the connection; sends the first reply twice; replies in
   * reverse order; reads the first command only; or rejects those after it.
   */
  readonly pipelining?: 'closes' | 'repeats' | 'reverses' | 'swallows' | 'rejects';
  /** 530 at MAIL before TLS. */
  readonly demandsTls?: boolean;
  /** Local parts that exist; `*` for any. Default: `good`. */
  readonly mailboxes?: readonly string[];
  /** Overrides for any command; undefined falls through to the default behavior. */
  readonly on?: (command: Heard, connection: Connection) => Says | undefined;
  /** Sends bytes one by one, or holds replies back until this many commands were read. */
  readonly delivery?: 'whole' | 'bytes';
  /** Delay before each reply. */
  readonly delayMs?: number;
  /** The reply to a command is held back until this settles. */
  readonly hold?: (command: Heard, connection: Connection) => Promise<void>;
}

/** A command as it arrived. */
interface Heard {
  readonly connection: number;
  readonly line: string;
  readonly verb: Verb;
  /** The path between the angle brackets. */
  readonly path: string;
  readonly tls: boolean;
}

interface Connection {
  readonly number: number;
  readonly from: string;
  /** The server's address. */
  readonly to: string;
  tls: boolean;
  recipients: number;
  greeted: boolean;
  readonly commands: Heard[];
}

export interface SmtpLab {
  readonly address: string;
  readonly port: number;
  /** Every command of every connection, in order of arrival. */
  readonly commands: readonly Heard[];
  readonly connections: readonly Connection[];
  /** Connections that sent something before the banner was complete. */
  readonly early: readonly number[];
  /** Peak of concurrent connections, excluding those closed by the server. */
  readonly mostOpen: number;
  readonly open: number;
  verbs(connection?: number): string[];
  /** Waits until no client is connected. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

const read = (name: string) => readFileSync(new URL(`certificate/${name}`, import.meta.url));
const secureContext = createSecureContext({ cert: read('cert.pem'), key: read('key.pem') });
const upToTls12 = createSecureContext({ cert: read('cert.pem'), key: read('key.pem'), maxVersion: 'TLSv1.2' });
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const DEFAULT_CAPABILITIES = ['PIPELINING', '8BITMIME', 'SIZE 10240000'];

export async function startSmtp(
  persona: Persona = {},
  where: { address?: string; port?: number } = {},
): Promise<SmtpLab> {
  const commands: Heard[] = [];
  const connections: Connection[] = [];
  const early: number[] = [];
  const sockets = new Set<Socket>();
  let mostOpen = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    mostOpen = Math.max(mostOpen, [...sockets].filter((open) => open.writable).length);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    const from = socket.remoteAddress ?? '';
    const connection: Connection = {
      number: connections.length,
      from,
      to: socket.localAddress ?? '',
      tls: false,
      recipients: 0,
      greeted: false,
      commands: [],
    };
    connections.push(connection);
    void serve(socket, persona, connection, commands, early);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(where.port ?? 0, where.address ?? '127.0.0.1', resolve);
  });
  const { address, port } = server.address() as AddressInfo;
  return {
    address,
    port,
    commands,
    connections,
    early,
    get mostOpen() {
      return mostOpen;
    },
    get open() {
      return sockets.size;
    },
    verbs: (n) => commands.filter((c) => n === undefined || c.connection === n).map((c) => c.verb),
    async idle() {
      while (sockets.size > 0) await later(5);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One connection: lines in, replies out, strictly in sequence. */
async function serve(plain: Socket, persona: Persona, connection: Connection, all: Heard[], early: number[]) {
  let socket: Socket = plain;
  let buffered = '';
  let work: Promise<void> = Promise.resolve();
  const write = async (says: Says): Promise<boolean> => {
    if (says === 'drop') socket.destroy();
    if (says === 'drop' || says === 'silence' || socket.destroyed) return false;
    if (persona.delayMs) await later(persona.delayMs);
    const bytes = Buffer.isBuffer(says) ? says : Buffer.from(lines(says).join(''));
    if (persona.delivery !== 'bytes') return socket.write(bytes) || true;
    for (const byte of bytes) {
      if (socket.destroyed) return false;
      socket.write(Buffer.of(byte));
      await later(0);
    }
    return true;
  };
  const obey = async (line: string, instead?: Says): Promise<void> => {
    const { verb, says } = await hear(line);
    await utter(verb, instead ?? says);
  };
  const obeyTogether = async (group: readonly string[]): Promise<void> => {
    const [first = '', ...others] = group;
    if (persona.pipelining === 'reverses') {
      const heard = [];
      for (const line of group) heard.push(await hear(line));
      for (const { verb, says } of heard.reverse()) await utter(verb, says);
      return;
    }
    const { verb, says } = await hear(first);
    if (persona.pipelining === 'closes') return void plain.destroy();
    await utter(verb, says);
    if (persona.pipelining === 'swallows') return;
    if (persona.pipelining === 'repeats') {
      // In a packet of its own.
      await later(20);
      await utter(verb, says);
    }
    const complaint = '503 5.5.0 Improper use of SMTP command pipelining';
    for (const line of others) await obey(line, persona.pipelining === 'rejects' ? complaint : undefined);
  };
  const hear = async (line: string): Promise<{ verb: Verb; says: Says }> => {
    const verb = (/^[a-z]+/i.exec(line)?.[0] ?? '').toUpperCase();
    const path = /<(.*)>/.exec(line)?.[1] ?? '';
    const heard: Heard = { connection: connection.number, line, verb, path, tls: connection.tls };
    all.push(heard);
    connection.commands.push(heard);
    await persona.hold?.(heard, connection);
    return { verb, says: persona.on?.(heard, connection) ?? usual(heard, persona, connection) };
  };
  const utter = async (verb: Verb, says: Says): Promise<void> => {
    const said = await write(says);
    if (verb === 'QUIT') socket.end();
    if (said && lines(says)[0]?.startsWith('421')) socket.end();
    if (said && verb === 'STARTTLS' && lines(says)[0]?.startsWith('220')) upgrade();
  };
  const onData = (chunk: Buffer) => {
    if (!connection.greeted) early.push(connection.number);
    buffered += chunk.toString('utf8');
    const group: string[] = [];
    for (let end = buffered.indexOf('\r\n'); end !== -1; end = buffered.indexOf('\r\n')) {
      const line = buffered.slice(0, end);
      buffered = buffered.slice(end + 2);
      group.push(line);
    }
    if (group.length > 1 && persona.pipelining !== undefined) work = work.then(() => obeyTogether(group));
    else for (const line of group) work = work.then(() => obey(line));
  };
  const upgrade = () => {
    plain.off('data', onData);
    if (persona.tls === 'broken') {
      plain.once('data', () => plain.write('500 this is no TLS record\r\n'));
      return;
    }
    if (persona.tls === 'closes') return void plain.once('data', () => plain.end());
    if (persona.onTls13 !== undefined) return void plain.once('data', (hello) => onHello(hello));
    secured();
  };
  const onHello = (hello: Buffer) => {
    if (!offersTls13(hello)) {
      // TLSSocket reads first what a paused socket has.
      plain.pause();
      plain.unshift(hello);
      return secured();
    }
    // handshake_failure, fatal.
    if (persona.onTls13 === 'alert') plain.end(Buffer.of(0x15, 3, 3, 0, 2, 2, 40));
    else if (persona.onTls13 === 'close') plain.end();
    else if (persona.onTls13 === 'reset') plain.resetAndDestroy();
  };
  const secured = () => {
    const context = persona.tlsUpTo === undefined ? secureContext : upToTls12;
    const secure = new TLSSocket(plain, { isServer: true, secureContext: context });
    secure.on('error', () => plain.destroy());
    secure.on('data', onData);
    connection.tls = true;
    socket = secure;
  };
  socket.on('data', onData);
  if (persona.bannerDelayMs) await later(persona.bannerDelayMs);
  if (persona.punishEarlyTalkers && early.includes(connection.number)) {
    await write('554 5.5.1 Protocol error');
    socket.end();
    return;
  }
  connection.greeted = persona.banner !== 'silence';
  const banner = persona.banner ?? '220 mx.lab.test ESMTP';
  if ((await write(banner)) && lines(banner).at(-1)?.startsWith('421')) socket.end();
}

/** Whether a ClientHello has the extension `supported_versions` (43) with TLS 1.3 (RFC 8446 §4.2.1). */
function offersTls13(hello: Buffer): boolean {
  // Record 5, handshake 4, version 2, random 32.
  let at = 43;
  at += 1 + hello.readUInt8(at);
  at += 2 + hello.readUInt16BE(at);
  at += 1 + hello.readUInt8(at);
  at += 2;
  while (at + 4 <= hello.length) {
    const [type, length] = [hello.readUInt16BE(at), hello.readUInt16BE(at + 2)];
    const body = hello.subarray(at + 4, at + 4 + length);
    if (type === 43) return body.includes(Buffer.of(3, 4), 1);
    at += 4 + length;
  }
  return false;
}

const lines = (says: Says): string[] =>
  (Buffer.isBuffer(says) ? [says.toString('latin1')] : typeof says === 'string' ? [says] : [...says]).map((line) =>
    line.endsWith('\n') ? line : `${line}\r\n`,
  );

function usual({ verb, path, line }: Heard, persona: Persona, connection: Connection): Says {
  const domain = path.slice(path.lastIndexOf('@') + 1);
  switch (verb) {
    case 'EHLO': {
      const { capabilities = DEFAULT_CAPABILITIES, capabilitiesUnderTls = capabilities } = persona;
      const offered = [...(connection.tls ? capabilitiesUnderTls : capabilities)];
      if (persona.tls !== undefined && !connection.tls) offered.push('STARTTLS');
      return ['mx.lab.test', ...offered].map((text, i) => `250${i === offered.length ? ' ' : '-'}${text}`);
    }
    case 'HELO':
      return '250 mx.lab.test';
    case 'STARTTLS':
      return persona.tls === 'refused' ? '454 4.7.0 TLS not available' : '220 2.0.0 go ahead';
    case 'RSET':
      return '250 2.0.0 flushed';
    case 'QUIT':
      return '221 2.0.0 bye';
    case 'MAIL':
      if (persona.demandsTls && !connection.tls) return '530 5.7.0 Must issue a STARTTLS command first';
      if (/[^\x20-\x7e]/.test(line) && !line.includes('SMTPUTF8')) return '553 5.6.7 SMTPUTF8 needed';
      return '250 2.1.0 sender ok';
    case 'RCPT': {
      if (persona.demandsTls && !connection.tls) return '503 5.5.1 MAIL first';
      connection.recipients++;
      const mailboxes = persona.mailboxes ?? ['good'];
      const local = path.slice(0, path.lastIndexOf('@'));
      if (mailboxes.includes('*') || mailboxes.includes(local)) return '250 2.1.5 recipient ok';
      return `550 5.1.1 <${local}@${domain}>: Recipient address rejected: User unknown in virtual mailbox table`;
    }
    default:
      return '502 5.5.2 Command not recognized';
  }
}
