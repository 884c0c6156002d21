import type { HttpReply } from './exchange.ts';

/** Aborted when the client has gone before its reply. */
export function disconnectSignal(reply: HttpReply): AbortSignal {
  const gone = new AbortController();
  const { raw } = reply;
  if (raw.destroyed) gone.abort();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  return gone.signal;
}
