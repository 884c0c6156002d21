import { CLOCK_DOUBT_HOURS, CLOCK_TOLERANCE_SECONDS } from '../kernel/facts/limits.ts';
import type { Logger } from '../kernel/log.ts';
import type { WatchedClock } from '../service/store-clock.ts';
import { every } from './every.ts';

const EVERY_MS = 30_000;
const TOLERANCE_MS = CLOCK_TOLERANCE_SECONDS * 1000;

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
    else if (stepMs > TOLERANCE_MS) logger.warn(step, "the store's clock was set ahead, or the host was suspended");
    if (stepMs < -TOLERANCE_MS) logger.warn(step, "the store's clock was set back: it was ahead, or is behind now");
    doubted = doubtedSince !== null;
  };
  await round();
  const failed = (error: unknown) => logger.error({ err: error }, "the store's clock could not be read");
  return every(EVERY_MS, round, failed);
}
