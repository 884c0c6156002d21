import { createHash, randomBytes } from 'node:crypto';
import { destination, levels, type Logger as PinoLogger, pino } from 'pino';
import { systemClock, toIso } from './clock.ts';

export interface Logger extends PinoLogger {
  /**
   * A line whose fields are JSON already, `"name":value,…`: for the line of every request, which costs a fifth of
   * what it costs with `info`.
   */
  fields(level: 'info' | 'debug', fields: string): void;
}

type LogAddresses = 'hash' | 'domain' | 'full';

/**
 * JSON lines on standard output, buffered to avoid a system call per request; the buffer is flushed at least every
 * second and at exit. Keys, passwords and cookies are never passed to it: redacting them here would cost as much as the
 * whole line, and tests search the output for them. `journal`: systemd reads the lines, so each begins with its
 * priority.
 */
export function createLogger(level: string, { journal = false }: { readonly journal?: boolean } = {}): Logger {
  const output = logDestination(journal ? priorityOf : () => '');
  const logger = pino({ level, base: null, timestamp: isoTime }, output);
  return Object.assign(logger, {
    fields(level: 'info' | 'debug', fields: string) {
      if (logger.isLevelEnabled(level)) output.write(`{"level":${levels.values[level]}${isoTime()},${fields}}\n`);
    },
  });
}

/**
 * Bytes that are written at once, and at most. Each write goes to another thread and back: with 4 KB, 20 lines of
 * requests, that was a twentieth of a verification's CPU time.
 */
const LOG_BUFFER = { minLength: 32 * 1024, maxWrite: 64 * 1024 };

/** Priorities of syslog by the first digit of a level, as systemd takes them from a line (sd-daemon(3)). */
const PRIORITIES: Readonly<Record<string, string>> = { 1: '<7>', 2: '<7>', 3: '<6>', 4: '<4>', 5: '<3>', 6: '<2>' };
const priorityOf = (line: string): string => PRIORITIES[line.charAt('{"level":'.length)] ?? '';

/** What is kept while it cannot be written, such as on a full disk; later lines are dropped. */
const KEPT_BYTES = 1 << 20;

/**
 * It collects bytes: of text, it would measure all that it has at every line. A log that cannot be written must not
 * stop the service: without a listener, the error would end the process, and flushing at its end waits for the disk
 * forever. While writing fails, nothing is flushed, and each line beyond the buffer's size tries again.
 */
function logDestination(prefix: (line: string) => string) {
  const stream = destination({
    dest: 1,
    sync: false,
    ...LOG_BUFFER,
    maxLength: KEPT_BYTES,
    periodicFlush: 1000,
    contentMode: 'buffer',
  });
  const { flush, flushSync } = stream;
  let isFailing = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!isFailing) process.stderr.write(`mailvet: the log cannot be written (${error.code}); lines may be lost.\n`);
    isFailing = true;
    Object.assign(stream, { flush: notNow, flushSync: notNow });
  });
  stream.on('write', () => {
    if (!isFailing) return;
    isFailing = false;
    Object.assign(stream, { flush, flushSync });
  });
  return {
    // Of this mode, the declared type says otherwise.
    write: (line: string) => Reflect.apply(stream.write, stream, [Buffer.from(prefix(line) + line)]),
    flush: (done?: (error?: Error) => void) => stream.flush(done),
  };
}

const notNow = (done?: ((error?: Error) => void) | null): void => done?.();

let stampedAt = -1;
let stamp = '';
/** Caches the text, because many lines share a millisecond. */
function isoTime(): string {
  const now = systemClock.now();
  if (now !== stampedAt) {
    stampedAt = now;
    stamp = `,"time":"${toIso(now)}"`;
  }
  return stamp;
}

/** New for each process: hashes identify equal addresses within one log, and cannot be reversed later. */
const salt = randomBytes(16);

/** Returns an address as the log may show it. */
export function shownAddress(email: string, how: LogAddresses): string {
  if (how === 'full') return email;
  if (how === 'domain') {
    const at = email.lastIndexOf('@');
    return at < 0 ? '*' : `*${email.slice(at)}`;
  }
  return createHash('sha256').update(salt).update(email.toLowerCase()).digest('hex').slice(0, 16);
}
