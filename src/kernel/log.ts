import { createHash, randomBytes } from 'node:crypto';
import { destination, type Logger, pino } from 'pino';

export type { Logger };
export type LogAddresses = 'hash' | 'domain' | 'full';

/**
 * JSON lines on standard output, buffered, since a line per request would else cost a system call per request; what
 * is buffered is written at least every second and at exit. Keys, passwords and cookies are cut out wherever a careless
 * caller might put them.
 */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: ['authorization', 'cookie', 'password', 'key_value', '*.authorization', '*.cookie', '*.password'],
        censor: '[redacted]',
      },
    },
    destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 1000 }),
  );
}

/** New for each process: a hash in the log tells the same address from another one, and nothing to who reads it later. */
const salt = randomBytes(16);

/** An address as the log may show it. */
export function shownAddress(email: string, how: LogAddresses): string {
  if (how === 'full') return email;
  if (how === 'domain') return `*@${email.slice(email.lastIndexOf('@') + 1)}`;
  return createHash('sha256').update(salt).update(email.toLowerCase()).digest('hex').slice(0, 16);
}
