/** DNS over TCP (RFC 7766), used after a truncated UDP reply: one connection per query. */
import { connect } from 'node:net';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import { randomInt } from '../../kernel/ids.ts';
import { encodeQuestion, type Question, readReply } from './message.ts';
import type { Server } from './servers.ts';
import type { OnResult } from './udp.ts';

/**
 * Sends one query; `onResult` is called at most once, and not after the returned function was called. The two-octet
 * length prefix bounds the reply to 64 KiB, in any number of packets. A connection that closes mid-reply, or a reply to
 * another question, is `malformed`.
 */
export function askTcp(server: Server, question: Question, edns: boolean, onResult: OnResult): () => void {
  const id = randomInt(65536);
  const message = encodeQuestion(id, question, edns);
  const socket = connect({ host: server.address, port: server.port, noDelay: true });
  const chunks: Buffer[] = [];
  let size = 0;
  let done = false;

  function finish(result: Parameters<OnResult>[0] | null): void {
    if (done) return;
    done = true;
    socket.destroy();
    if (result) onResult(result);
  }

  function receive(chunk: Buffer): void {
    if (done) return;
    chunks.push(chunk);
    size += chunk.length;
    const [first = chunk] = chunks;
    if (size < 2) return;
    const length = (first.length > 1 ? first : Buffer.concat(chunks, size)).readUInt16BE(0);
    if (size < length + 2) return;
    const reply = Buffer.concat(chunks, size).subarray(2, length + 2);
    const read = length >= 2 && reply.readUInt16BE(0) === id ? readReply(reply, question) : null;
    finish(read && read.kind !== 'truncated' ? read : { kind: 'malformed' });
  }

  const cutOff = (): void => finish({ kind: size > 0 ? 'malformed' : 'network' });
  const onFault = (fault: unknown): void => {
    warnOfFault(fault);
    finish({ kind: 'malformed' });
  };
  socket.on('data', contain(onFault, receive));
  socket.on('error', contain(onFault, cutOff));
  socket.on('close', contain(onFault, cutOff));
  const frame = Buffer.allocUnsafe(message.length + 2);
  frame.writeUInt16BE(message.length, 0);
  message.copy(frame, 2);
  socket.write(frame);
  return () => finish(null);
}
