/** One question to one server: UDP first, TCP when the reply was truncated, without EDNS when the server has none. */
import type { Question, Reply } from './message.ts';
import type { DnsFailure } from './records.ts';
import type { Server } from './servers.ts';
import { askTcp } from './tcp.ts';
import { createUdp, type Got } from './udp.ts';

export type Outcome = { readonly kind: 'reply'; readonly reply: Reply } | { readonly kind: DnsFailure };

export interface Transport {
  /**
   * Asks once. `done` is called exactly once, never from within this call, unless the returned function (which gives
   * the question up) was called before. `timeoutMs` is for UDP, and anew for TCP if it comes to that.
   * Replies with another id, question, type or class are ignored: forging one must not be a way to make a name fail.
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
    let stop: () => void;

    function cancel(): void {
      clearTimeout(timer);
      stop();
    }
    function finish(outcome: Outcome): void {
      cancel();
      done(outcome);
    }
    function begin(): void {
      timer = setTimeout(() => finish({ kind: 'timeout' }), timeoutMs);
      send();
    }
    function send(): void {
      stop = tcp ? askTcp(server, question, edns, got) : udp.send(question, edns, got);
    }
    const got: Got = (result) => {
      switch (result.kind) {
        case 'truncated':
          clearTimeout(timer);
          tcp = true;
          return begin();
        case 'no_edns':
          // A server that refuses the plain question too has nothing for us.
          if (!edns) return finish({ kind: 'servfail' });
          edns = false;
          return send();
        default:
          return finish(result);
      }
    };
    begin();
    return () => cancel();
  }

  return { ask, close: () => udp.close() };
}
