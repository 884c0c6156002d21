/** Questions over TCP (RFC 7766), asked when a reply over UDP was truncated: one connection, one question. */
import { connect } from 'node:net';
import { randomInt } from '../../kernel/ids.ts';
import { encodeQuestion, type Question, readReply } from './message.ts';
import type { Server } from './servers.ts';
import type { Got } from './udp.ts';

/**
 * Sends one question; `got` is called at most once, not after the returned function was called. The two octets of
 * length in front of the reply bound it to 64 KiB, split over packets as it may be. A connection that ends in the
 * middle of it, or a reply to something else, is `malformed`.
 */
export function askTcp(server: Server, question: Question, edns: boolean, got: Got): () => void {
  const id = randomInt(65536);
  const message = encodeQuestion(id, question, edns);
  const socket = connect({ host: server.address, port: server.port, noDelay: true });
  const chunks: Buffer[] = [];
  let size = 0;
  let done = false;

  function finish(result: Parameters<Got>[0] | null): void {
    if (done) return;
    done = true;
    socket.destroy();
    if (result) got(result);
  }

  function receive(chunk: Buffer): void {
    if (done) return;
    chunks.push(chunk);
    size += chunk.length;
    if (size < 2) return;
    const first = chunks[0]!;
    const length = first.length > 1 ? first.readUInt16BE(0) : (first[0]! << 8) | chunks[1]![0]!;
    if (size < length + 2) return;
    const reply = Buffer.concat(chunks, size).subarray(2, length + 2);
    const read = length >= 2 && reply.readUInt16BE(0) === id ? readReply(reply, question) : null;
    finish(read && read.kind !== 'truncated' ? read : { kind: 'malformed' });
  }

  const cutOff = (): void => finish({ kind: size > 0 ? 'malformed' : 'network' });
  socket.on('data', receive);
  socket.on('error', cutOff);
  socket.on('close', cutOff);
  const frame = Buffer.allocUnsafe(message.length + 2);
  frame.writeUInt16BE(message.length, 0);
  message.copy(frame, 2);
  socket.write(frame);
  return () => finish(null);
}
