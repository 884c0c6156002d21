/** A connection of a client that carries many dialogues (kernel/socks.ts). */
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import type { Clock } from '../kernel/clock.ts';
import type { HostPort } from '../kernel/ip.ts';
import { FRAME_BYTES, type FrameKind, FrameReader, FrameWriter } from '../kernel/socks.ts';
import {
  connectedReply,
  destinationIn,
  outcomeOfConnecting,
  type RelayEnd,
  type RelayOutcome,
  replyTo,
} from './socks.ts';

/** Octets that wait for the client; beyond them nothing is read, from it and from mail servers. */
const UNTAKEN_BYTES_MAX = 256 * 1024;
/** Octets that wait for one mail server; the commands of a dialogue are far fewer. */
const UNSENT_BYTES_MAX = 64 * 1024;
const TRUNK_SWEEP_MS = 500;

/** What mail servers' sockets read into: copied before the next one reads. */
const TRUNK_INPUT = Buffer.allocUnsafeSlow(FRAME_BYTES);

/** One dialogue of a trunk, until it has ended. */
export interface CarriedDialogue {
  readonly destination: HostPort | null;
  readonly upstream: Socket | null;
  readonly startedAt: number;
}

interface OpenDialogue extends CarriedDialogue {
  readonly upstream: Socket;
  isConnected: boolean;
  movedAt: number;
  /** When the client has closed it. */
  closedAt: number | null;
  error: unknown;
  /** Why the relay ends it. */
  cut: RelayOutcome | null;
}

interface TrunkSettings {
  readonly idleMs: number;
  readonly totalMs: number;
  readonly connectMs: number;
  /** This long after the client's side has ended, the mail server's ends. */
  readonly lastMs: number;
  readonly clock: Clock;
  /** How to connect there; throws RelayEnd where that is not allowed. */
  readonly optionsFor: (destination: HostPort) => TcpNetConnectOpts;
  readonly endOf: (error: unknown) => RelayEnd;
  readonly on: {
    readonly began: (dialogue: CarriedDialogue) => void;
    /** Also of one that was refused, and so never began. */
    readonly ended: (dialogue: CarriedDialogue, outcome: RelayOutcome) => void;
    /** Once, when the connection has closed; dialogues that were open end after it. */
    readonly closed: (outcome: RelayOutcome) => void;
  };
}

export class RelayTrunk {
  readonly #socket: Socket;
  readonly #settings: TrunkSettings;
  readonly #reader = new FrameReader();
  readonly #writer: FrameWriter;
  readonly #dialogues = new Map<number, OpenDialogue>();
  /** Mail servers that are not read from until the client takes more. */
  readonly #paused = new Set<Socket>();
  readonly #sweep: NodeJS.Timeout;
  #movedAt: number;
  #isRetired = false;
  #outcome: RelayOutcome = 'completed';

  /** The client has signed in. The socket has a listener for errors. */
  constructor(socket: Socket, settings: TrunkSettings) {
    this.#socket = socket;
    this.#settings = settings;
    this.#movedAt = settings.clock.elapsed();
    this.#writer = new FrameWriter((bytes) => {
      if (socket.writable) socket.write(bytes);
    });
    this.#sweep = setInterval(() => this.#onSweep(), TRUNK_SWEEP_MS);
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('drain', () => this.#onDrain());
    socket.on('end', () => socket.destroy());
    socket.on('close', () => this.#onClose());
    socket.resume();
  }

  /** Takes no more dialogues, and ends when those that are open have ended. */
  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#writer.add('retire', 0);
    this.#endIfUnused();
  }

  /** Ends all at once. */
  cut(outcome: RelayOutcome): void {
    for (const dialogue of this.#dialogues.values()) this.#cut(dialogue, outcome);
    this.#outcome = outcome;
    this.#socket.destroy();
  }

  #endIfUnused(): void {
    if (!this.#isRetired || this.#dialogues.size > 0) return;
    this.#writer.flush();
    this.#socket.destroySoon();
  }

  get #isFull(): boolean {
    return this.#socket.writableLength + this.#writer.sizeBytes > UNTAKEN_BYTES_MAX;
  }

  #onData(chunk: Buffer): void {
    this.#movedAt = this.#settings.clock.elapsed();
    if (!this.#reader.read(chunk, this.#onFrame)) {
      this.#outcome = 'malformed';
      this.#socket.destroy();
    } else if (this.#isFull) this.#socket.pause();
  }

  readonly #onFrame = (kind: FrameKind, id: number, payload: Buffer) => {
    if (kind === 'open') return this.#open(id, payload);
    const dialogue = this.#dialogues.get(id);
    // It may have ended here before the client knew.
    if (dialogue === undefined || dialogue.closedAt !== null) return;
    const { upstream } = dialogue;
    dialogue.movedAt = this.#movedAt;
    if (kind === 'close') {
      dialogue.closedAt = this.#movedAt;
      upstream.destroySoon();
    } else if (kind === 'data') {
      upstream.write(payload);
      if (upstream.writableLength > UNSENT_BYTES_MAX) this.#cut(dialogue, 'broken');
    }
  };

  #open(id: number, request: Buffer) {
    const { clock, optionsFor, endOf, on } = this.#settings;
    if (this.#isRetired || this.#dialogues.has(id)) return this.#writer.add('close', id);
    let destination: HostPort | null = null;
    try {
      destination = destinationIn(request);
      const dialogue = this.#connect(id, destination, optionsFor(destination));
      this.#dialogues.set(id, dialogue);
      on.began(dialogue);
    } catch (error) {
      const { reply, outcome } = endOf(error);
      this.#answer(id, reply);
      on.ended({ destination, upstream: null, startedAt: clock.elapsed() }, outcome);
    }
  }

  #answer(id: number, reply: Buffer | null): void {
    if (reply === null) this.#writer.add('close', id);
    else this.#writer.add('reply', id, reply);
  }

  #connect(id: number, destination: HostPort, options: TcpNetConnectOpts): OpenDialogue {
    const startedAt = this.#movedAt;
    const onread = {
      buffer: TRUNK_INPUT,
      callback: (octets: number) => {
        dialogue.movedAt = this.#settings.clock.elapsed();
        this.#movedAt = dialogue.movedAt;
        if (dialogue.closedAt !== null || dialogue.cut !== null) return true;
        this.#writer.add('data', id, TRUNK_INPUT.subarray(0, octets));
        if (!this.#isFull) return true;
        this.#paused.add(upstream);
        return false;
      },
    };
    const upstream = connect({ ...options, onread });
    const dialogue: OpenDialogue = {
      destination,
      upstream,
      startedAt,
      isConnected: false,
      movedAt: startedAt,
      closedAt: null,
      error: null,
      cut: null,
    };
    upstream.on('connect', () => {
      dialogue.isConnected = true;
      const from = { address: upstream.localAddress ?? '0.0.0.0', port: upstream.localPort ?? 0 };
      if (dialogue.closedAt === null) this.#writer.add('reply', id, connectedReply(from));
    });
    upstream.on('error', (error) => {
      dialogue.error = error;
    });
    upstream.on('close', () => this.#onEnd(id, dialogue));
    return dialogue;
  }

  #onEnd(id: number, dialogue: OpenDialogue): void {
    const { isConnected, error, closedAt, cut, upstream } = dialogue;
    this.#dialogues.delete(id);
    this.#paused.delete(upstream);
    const failed = error === null ? 'completed' : isConnected ? 'broken' : outcomeOfConnecting(error);
    const outcome = cut ?? (closedAt !== null && !isConnected ? 'gone' : failed);
    if (closedAt === null) this.#answer(id, isConnected ? null : replyTo(outcome));
    this.#settings.on.ended(dialogue, outcome);
    this.#endIfUnused();
  }

  #cut(dialogue: OpenDialogue, outcome: RelayOutcome): void {
    dialogue.cut ??= outcome;
    dialogue.upstream.destroy();
  }

  #onSweep(): void {
    const { clock, idleMs, totalMs, connectMs, lastMs } = this.#settings;
    const now = clock.elapsed();
    for (const dialogue of this.#dialogues.values()) {
      const { startedAt, movedAt, closedAt, isConnected } = dialogue;
      if (closedAt !== null && now - closedAt >= lastMs) this.#cut(dialogue, isConnected ? 'completed' : 'gone');
      else if (!isConnected && now - startedAt >= connectMs) this.#cut(dialogue, 'host_unreachable');
      else if (now - movedAt >= idleMs) this.#cut(dialogue, 'idle');
      else if (now - startedAt >= totalMs) this.#cut(dialogue, 'too_long');
    }
    if (this.#dialogues.size > 0 || now - this.#movedAt < idleMs) return;
    this.#outcome = 'idle';
    this.#socket.destroy();
  }

  #onDrain(): void {
    for (const upstream of this.#paused) upstream.resume();
    this.#paused.clear();
    this.#socket.resume();
  }

  #onClose(): void {
    clearInterval(this.#sweep);
    for (const dialogue of this.#dialogues.values()) {
      dialogue.closedAt ??= this.#movedAt;
      const broken = dialogue.isConnected ? 'broken' : 'gone';
      this.#cut(dialogue, this.#outcome === 'completed' ? broken : this.#outcome);
    }
    this.#settings.on.closed(this.#outcome);
  }
}
