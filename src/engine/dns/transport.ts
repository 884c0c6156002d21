/** One query to one server: UDP first, TCP if truncated, without EDNS if the server does not support it. */
import { contain, warnOfFault } from '../../kernel/contain.ts';
import type { Question, Reply } from './message.ts';
import type { DnsFailure } from './records.ts';
import type { Server } from './servers.ts';
import { askTcp } from './tcp.ts';
import { createUdp, type OnResult } from './udp.ts';

export type Outcome = { readonly kind: 'reply'; readonly reply: Reply } | { readonly kind: DnsFailure };

export interface Transport {
  /**
   * Sends one query. `done` is called exactly once, never synchronously, unless the returned function, which cancels
   * the query, was called before. `timeoutMs` applies to UDP, and again to TCP. Replies with another id, question, type
   * or class are ignored: a forged one must not make a name fail.
   */
  ask(question: Question, timeoutMs: number, done: (outcome: Outcome) => void): () => void;
  close(): void;
}

export function createTransport(server: Server): Transport {
  const udp = createUdp(server);

  function ask(question: Question, timeoutMs: number, done: (outcome: Outcome) => void): () => void {
    let edns = true;
    let tcp = false;
    let timer: NodeJS.Timeout;
    let late: NodeJS.Immediate | undefined;
    let stop: (() => void) | undefined;
    let isOver = false;

    function cancel(): void {
      isOver = true;
      clearTimeout(timer);
      clearImmediate(late);
      stop?.();
    }
    function finish(outcome: Outcome): void {
      if (isOver) return;
      cancel();
      done(outcome);
    }
    /** A fault of ours: another server may do better. */
    function onFault(fault: unknown): void {
      warnOfFault(fault);
      finish({ kind: 'network' });
    }
    function begin(): void {
      timer = setTimeout(contain(onFault, onTimeout), timeoutMs);
      send();
    }
    /** If this process was too busy to read the reply in time, it reads it now. */
    function onTimeout(): void {
      late = setImmediate(contain(onFault, () => finish({ kind: 'timeout' })));
    }
    function send(): void {
      stop = tcp ? askTcp(server, question, edns, receive) : udp.send(question, edns, receive);
    }
    const onResult: OnResult = (result) => {
      switch (result.kind) {
        case 'truncated':
          clearTimeout(timer);
          clearImmediate(late);
          tcp = true;
          return begin();
        case 'no_edns':
          // The server rejects the plain query as well.
          if (!edns) return finish({ kind: 'servfail' });
          edns = false;
          return send();
        case 'reply':
        case 'servfail':
        case 'refused':
        case 'malformed':
        case 'network':
          return finish(result);
      }
    };
    const receive = contain(onFault, onResult);
    begin();
    return () => cancel();
  }

  return { ask, close: () => udp.close() };
}
