import { createHash, randomBytes } from 'node:crypto';
import { destination, type Logger, pino } from 'pino';
import { systemClock, toIso } from './clock.ts';

export type { Logger };
export type LogAddresses = 'hash' | 'domain' | 'full';

/**
 * JSON lines on standard output, buffered, since a line per request would else cost a system call per request; what
 * is buffered is written at least every second and at exit. Keys, passwords and cookies are never handed to it: cutting
 * them out here would cost as much as the whole line, and the tests look for them in what was written.
 */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: isoTime,
    },
    destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 1000 }),
  );
}

let stampedAt = -1;
let stamp = '';
/** Many lines are of one millisecond. */
function isoTime(): string {
  const now = systemClock.now();
  if (now !== stampedAt) {
    stampedAt = now;
    stamp = `,"time":"${toIso(now)}"`;
  }
  return stamp;
}

/** New for each process: a hash in the log tells the same address from another one, and nothing to who reads it later. */
const salt = randomBytes(16);

/** An address as the log may show it. */
export function shownAddress(email: string, how: LogAddresses): string {
  if (how === 'full') return email;
  if (how === 'domain') return `*@${email.slice(email.lastIndexOf('@') + 1)}`;
  return createHash('sha256').update(salt).update(email.toLowerCase()).digest('hex').slice(0, 16);
}
