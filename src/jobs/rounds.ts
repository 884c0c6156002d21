/** What a process does again and again that is no job, because every process does it, or because jobs may be stuck. */
import { HOUR_MS } from '../kernel/clock.ts';
import { CLOCK_DOUBT_HOURS, CLOCK_TOLERANCE_MS } from '../kernel/facts/limits.ts';
import type { Logger } from '../kernel/log.ts';
import type { ListService } from '../service/lists/service.ts';
import type { ListWorkService } from '../service/lists/work.ts';
import type { SharedLists } from '../service/shared-lists.ts';
import type { WatchedClock } from '../service/store-clock.ts';

interface Rounds {
  /** Runs one now, or after the current one. */
  now(): void;
  stop(): Promise<void>;
}

/**
 * Runs `round` every `ms` until stopped; rounds never overlap. `stop` aborts the signal of the current round and waits
 * for it to end.
 */
export function every(
  ms: number,
  round: (signal: AbortSignal) => Promise<void>,
  failed: (error: unknown) => void,
): Rounds {
  const stopping = new AbortController();
  let current: Promise<void> | null = null;
  let again = false;
  const run = () => {
    if (stopping.signal.aborted) return;
    current ??= round(stopping.signal)
      .catch(failed)
      .finally(() => {
        current = null;
        if (!again) return;
        again = false;
        run();
      });
  };
  const timer = setInterval(run, ms);
  timer.unref();
  return {
    now() {
      if (current === null) run();
      else again = true;
    },
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await current;
    },
  };
}

interface Flushed {
  /** Names the round in the log. */
  readonly what: string;
  readonly everyMs: number;
  /** If the store fails, nothing is lost: the next call writes everything. */
  readonly flush: () => Promise<void>;
}

/** Writes what is kept in memory to the store regularly, and at stop. */
export function startFlushing({ what, everyMs, flush }: Flushed, logger: Logger): { stop(): Promise<void> } {
  const failed = (error: unknown) => logger.warn({ err: error }, `${what} could not be stored; will retry`);
  const flushing = every(everyMs, flush, failed);
  return {
    async stop() {
      await flushing.stop();
      await flush().catch((error: unknown) => logger.error({ err: error }, `${what} were lost`));
    },
  };
}

const LIST_WORK_MS = 1_000;

/** Works on lists of addresses until stopped; on those that this process starts, at once. */
export function startListWorker(
  work: ListWorkService,
  lists: Pick<ListService, 'onRunning'>,
  logger: Logger,
): { stop(): Promise<void> } {
  const rounds = every(
    LIST_WORK_MS,
    () => work.round(),
    (error) => logger.error({ err: error }, 'work on lists failed'),
  );
  lists.onRunning(() => rounds.now());
  return {
    async stop() {
      await rounds.stop();
      await work.stop();
    },
  };
}

const EXCHANGE_MS = 5_000;

/**
 * Keeps this node's copy of the lists the newest one of all nodes, from the start on. Not a job: every process does it.
 */
export function startListsExchange(shared: SharedLists, logger: Logger): { stop(): Promise<void> } {
  let failing = false;
  async function round(): Promise<void> {
    await shared.exchange();
    if (failing) logger.info('the lists are exchanged with other nodes again');
    failing = false;
  }
  function failed(error: unknown): void {
    if (!failing) logger.warn({ err: error }, 'the lists could not be exchanged with other nodes; will retry');
    failing = true;
  }
  const first = round().catch(failed);
  const rounds = every(EXCHANGE_MS, round, failed);
  return {
    async stop() {
      await Promise.all([first, rounds.stop()]);
    },
  };
}

const NODE_REPORT_MS = 10_000;

/** Says every 10 s that this process runs, for the page about the service; that it lives is proved by a lock. */
export const startNodeReport = (report: () => Promise<void>, logger: Logger): { stop(): Promise<void> } =>
  every(NODE_REPORT_MS, report, (error) =>
    logger.warn({ err: error }, 'this process could not be reported as running'),
  );

const CLOCK_MS = 30_000;

/** Reads the store's clock now and every 30 s until stopped, and logs what is wrong with it or with ours. */
export async function startStoreClock(clock: WatchedClock, logger: Logger): Promise<{ stop(): Promise<void> }> {
  const seconds = (ms: number) => Math.round(ms / 1000);
  let differs = false;
  let doubted = false;
  const round = async () => {
    const { stepMs, doubtedSince } = await clock.read();
    const ahead = clock.aheadMs();
    if ((clock.problem() !== null) !== differs) {
      differs = !differs;
      if (differs) logger.error({ ahead_seconds: seconds(ahead) }, "this host's clock differs from the store's");
      else logger.info("this host's clock agrees with the store's again");
    }
    const step = { ahead_seconds: seconds(stepMs) };
    if (doubtedSince !== null && !doubted)
      logger.error(
        { ...step, paused_hours: CLOCK_DOUBT_HOURS },
        "the store's clock is ahead of the last time the store has seen: it is wrong, or the service was down for long; nothing is purged meanwhile",
      );
    else if (stepMs > CLOCK_TOLERANCE_MS)
      logger.warn(step, "the store's clock was set ahead, or the host was suspended");
    if (stepMs < -CLOCK_TOLERANCE_MS)
      logger.warn(step, "the store's clock was set back: it was ahead, or is behind now");
    doubted = doubtedSince !== null;
  };
  await round();
  const failed = (error: unknown) => logger.error({ err: error }, "the store's clock could not be read");
  return every(CLOCK_MS, round, failed);
}

const UPKEEP_MS = 30_000;

/** Releases the holds of dead processes every 30 s until stopped. `release` returns the number released. */
export function startUpkeep(
  release: (signal: AbortSignal) => Promise<number>,
  logger: Logger,
): { stop(): Promise<void> } {
  return every(
    UPKEEP_MS,
    async (signal) => {
      const released = await release(signal);
      if (released > 0) logger.warn({ released }, 'released the holds of dead processes');
    },
    // The next round retries. Until then nothing is lost; credits stay held.
    (error) => logger.error({ err: error }, 'upkeep failed'),
  );
}

const IDENTITIES_MS = HOUR_MS;
/** The first round is this long after the start. */
const IDENTITIES_FIRST_MS = 60_000;

/** Looks at what DNS says of the names of egresses, every hour. Every process does it: their egresses may differ. */
export function startIdentityWatch(lookUp: () => Promise<void>, logger: Logger): Rounds {
  const failed = (error: unknown) => logger.warn({ err: error }, 'the names of egresses could not be looked up');
  const rounds = every(IDENTITIES_MS, lookUp, failed);
  const first = setTimeout(() => rounds.now(), IDENTITIES_FIRST_MS);
  first.unref();
  return {
    now: () => rounds.now(),
    stop() {
      clearTimeout(first);
      return rounds.stop();
    },
  };
}
