import type { HttpReply } from './exchange.ts';

/** Whether the client has gone before its reply. */
export const isGone = ({ raw }: HttpReply): boolean => raw.destroyed && !raw.writableFinished;

const signals = new WeakMap<HttpReply, AbortSignal>();

/** Aborted when the client has gone before its reply; one for all that a request asks for. */
export function disconnectSignal(reply: HttpReply): AbortSignal {
  const known = signals.get(reply);
  if (known !== undefined) return known;
  const gone = new AbortController();
  signals.set(reply, gone.signal);
  const { raw } = reply;
  if (raw.destroyed) gone.abort();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  return gone.signal;
}
