import type { Logger } from '../../kernel/log.ts';

/** Work that a reply does not wait for, so that its time tells nothing; the end of the process does. */
export interface Later {
  /** `failed` is the log's sentence for what did not happen; nobody else is told. */
  run(failed: string, work: () => Promise<void>): void;
  /** Waits until nothing is under way. */
  settled(): Promise<void>;
}

export function createLater(logger: Logger): Later {
  const running = new Set<Promise<void>>();
  return {
    run(failed, work) {
      const one = work()
        .catch((error: unknown) => logger.error({ cause: nameOf(error) }, failed))
        .finally(() => running.delete(one));
      running.add(one);
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Messages of databases and mail servers quote addresses; codes do not. */
const nameOf = (error: unknown): string => {
  const { name, code } = error as { name?: string; code?: string | number };
  return [name ?? 'error', code].filter((part) => part !== undefined).join(' ');
};
