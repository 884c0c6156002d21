/**
 * A DNS server on loopback, UDP and TCP on one port, made from a zone literal:
 *
 *     const lab = await zone({ 'good.test': { MX: [[10, 'mx.good.test']] }, 'mx.good.test': { A: ['127.0.0.1'] } });
 *
 * Names not in the zone are NXDOMAIN, `*.name` is a wildcard (RFC 4592), negative answers have an SOA. It can simulate
 * hostile servers (`fault`), stop replying and resume, and it records the questions.
 */
import type { RemoteInfo, Socket as UdpSocket } from 'node:dgram';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket, type Server as TcpServer } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { decode } from 'dns-packet';
import type { RecordType } from '../../src/engine/dns/message.ts';
import { forge } from './dns-faults.ts';
import { type Entry, faultOf, find, type Held, lookUp, type Negative, no, type Zone } from './dns-zone.ts';

export type { Entry, Fault, Zone } from './dns-zone.ts';

/** What a paused server does: drop everything, reply with this code, or close its port. */
type Pause = 'silent' | 'servfail' | 'refused' | 'closed';

/**
 * What a server with false answers replies to every question: the last one has one address for every name and no other
 * records.
 */
export const FALSE_ANSWERS = ['nxdomain', 'nxdomain without SOA', 'nodata', 'one address'] as const;
export type FalseAnswers = (typeof FALSE_ANSWERS)[number];

/** What the resolver's default control names have on the Internet. */
export const CONTROL_ZONE: Zone = {
  ...Object.fromEntries(['com', 'net', 'org'].map((tld) => [tld, { NS: [`a.nic.${tld}`] }])),
  ...Object.fromEntries(
    ['gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com'].map((domain) => [domain, { MX: [[10, `mx.${domain}`]] }]),
  ),
};

interface Query {
  readonly name: string;
  readonly type: string;
  readonly over: 'udp' | 'tcp';
  readonly edns: boolean;
}

export interface DnsLab {
  readonly address: string;
  readonly port: number;
  /** In the format of the resolver's option. */
  readonly servers: readonly { address: string; port: number }[];
  /** Every question received, paused or not, oldest first. */
  readonly queries: Query[];
  /** Number of questions for a name, of one type or all. */
  asked(name: string, type?: RecordType): number;
  /** Replaces a name's records; null removes it. */
  set(name: string, entry: Entry | null): void;
  pause(how?: Pause): Promise<void>;
  /** Ends a pause or false answers. */
  resume(): Promise<void>;
  answerFalsely(how: FalseAnswers): void;
  close(): Promise<void>;
}

export interface ZoneOptions extends Negative {
  /** Default: any free port. */
  readonly port?: number;
  /** Default: loopback. */
  readonly address?: string;
}

export async function zone(records: Zone, options: ZoneOptions = {}): Promise<DnsLab> {
  const names = new Map(Object.entries(records));
  const queries: Query[] = [];
  const connections = new Set<Socket>();
  let paused: Pause | null = null;
  let falseAnswers: FalseAnswers | null = null;
  let udp: UdpSocket;
  let tcp: TcpServer;
  let port = options.port ?? 0;
  const { address = '127.0.0.1' } = options;

  async function respond(octets: Buffer, over: 'udp' | 'tcp', send: (reply: Buffer, split?: boolean) => void) {
    const query = decode(octets);
    const question = query.questions?.[0];
    if (!question || query.id === undefined) return;
    const name = question.name.toLowerCase();
    const edns = query.additionals?.some(({ type }) => type === 'OPT') ?? false;
    queries.push({ name, type: question.type, over, edns });
    if (paused === 'silent' || paused === 'closed') return;
    const entry = find(names, name);
    const fault = paused ?? faultOf(entry, question.type as RecordType);
    const held =
      fault === 'servfail' || fault === 'refused'
        ? no(fault)
        : falseAnswers === null
          ? lookUp(names, name, question.type, options)
          : falseAnswer(name, question.type, falseAnswers);
    if (fault !== null && typeof fault === 'object') await after(fault.slow);
    let reply = forge({ fault, query, question, held, over, edns });
    const fits = over === 'tcp' || fault !== null || (reply?.octets.length ?? 0) <= (edns ? 1232 : 512);
    if (!fits) reply = forge({ fault: 'truncate', query, question, held, over, edns });
    if (reply?.before) send(reply.before);
    if (reply) send(reply.octets, reply.split);
  }

  function onDatagram(octets: Buffer, from: RemoteInfo): void {
    const socket = udp;
    void respond(octets, 'udp', (reply) => socket.send(reply, from.port, from.address, () => {})).catch(() => {});
  }

  function onConnection(socket: Socket): void {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
    socket.on('error', () => {});
    let had = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      had = Buffer.concat([had, chunk]);
      if (had.length < 2 || had.length < had.readUInt16BE(0) + 2) return;
      const message = had.subarray(2, had.readUInt16BE(0) + 2);
      had = had.subarray(message.length + 2);
      void respond(message, 'tcp', (reply, split) => void sendFramed(socket, reply, split)).catch(() => {});
    });
  }

  async function open(): Promise<void> {
    // A port that is free for UDP may be in use for TCP.
    for (let attempt = 0; ; attempt++) {
      udp = createSocket('udp4');
      udp.on('message', onDatagram);
      udp.bind(port, address);
      await once(udp, 'listening');
      tcp = createServer(onConnection);
      tcp.listen(udp.address().port, address);
      try {
        await once(tcp, 'listening');
        port = (tcp.address() as AddressInfo).port;
        return;
      } catch (error) {
        udp.close();
        if (attempt === 20) throw error;
      }
    }
  }

  async function shut(): Promise<void> {
    for (const socket of connections) socket.destroy();
    const closed = [once(udp, 'close'), once(tcp, 'close')];
    udp.close();
    tcp.close();
    await Promise.all(closed);
  }

  await open();
  return {
    address,
    port,
    servers: [{ address, port }],
    queries,
    asked: (name, type) => queries.filter((q) => q.name === name && (type === undefined || q.type === type)).length,
    set: (name, entry) => void (entry ? names.set(name, entry) : names.delete(name)),
    async pause(how = 'silent') {
      if (how === 'closed' && paused !== 'closed') await shut();
      paused = how;
    },
    async resume() {
      if (paused === 'closed') await open();
      paused = null;
      falseAnswers = null;
    },
    answerFalsely: (how) => {
      falseAnswers = how;
    },
    close: () => (paused === 'closed' ? Promise.resolve() : shut()),
  };
}

const FALSE_ZONES: Readonly<Record<FalseAnswers, Zone>> = {
  nxdomain: {},
  'nxdomain without SOA': {},
  nodata: { '*': { TXT: [] } },
  'one address': { '*': { A: ['127.0.0.1'] } },
};

const falseAnswer = (name: string, type: string, how: FalseAnswers): Held =>
  lookUp(new Map(Object.entries(FALSE_ZONES[how])), name, type, {
    negativeTtl: how === 'nxdomain without SOA' ? null : 60,
  });

/** One frame; if split, the first octets and the rest are sent in separate packets. */
async function sendFramed(socket: Socket, reply: Buffer, split = false): Promise<void> {
  const frame = Buffer.concat([Buffer.from([reply.length >> 8, reply.length & 0xff]), reply]);
  socket.setNoDelay(true);
  for (const end of split ? [1, 2, 3, 20] : []) {
    socket.write(frame.subarray(end === 20 ? 3 : end - 1, end));
    await after(5);
  }
  socket.write(split ? frame.subarray(20) : frame);
}
