import type { HttpReply } from './exchange.ts';

/** Whether the client has gone before its reply. */
export const isGone = ({ raw }: HttpReply): boolean => raw.destroyed && !raw.writableFinished;

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
