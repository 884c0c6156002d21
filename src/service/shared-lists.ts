/** The downloaded lists on several nodes: the store has the newest ones, and each node keeps a copy in its folder. */
import { parseDisposable } from '../engine/data/disposable-file.ts';
import {
  DISPOSABLE_FILE,
  LEARNED_FILE,
  parseLearned,
  replaceFile,
  type WatchedDomainData,
} from '../engine/data/domain-data.ts';
import type { SourceOutcome, UpdateSource } from '../engine/data/update.ts';
import { toIso } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';

/** The record tells of the last attempt to download the lists, on any node. */
export interface UpdateAttempt {
  /** The time is Unix time in ms. */
  readonly at: number;
  readonly problems: Readonly<Partial<Record<UpdateSource, string>>>;
  /** Why the whole update failed; null where a list was downloaded. */
  readonly failed: string | null;
}

const ATTEMPT = 'disposable-update.json';

export function createSharedLists(parts: {
  store: Pick<Store, 'sharedFiles' | 'clock'>;
  lists: WatchedDomainData;
  dir: string;
}) {
  const { store, lists, dir } = parts;
  const { sharedFiles } = store;
  const now = async () => (await store.clock.peek()).now;

  async function exchangeDisposable(stored: string): Promise<void> {
    const { file, downloaded } = lists;
    if (stored > file.made) {
      const newer = await sharedFiles.read(DISPOSABLE_FILE);
      if (newer === null) return;
      // Throws for a damaged file.
      parseDisposable(newer.text);
      replaceFile(dir, DISPOSABLE_FILE, newer.text);
    } else if (downloaded && file.made > stored) {
      await sharedFiles.put({ name: DISPOSABLE_FILE, made: file.made, text: file.text });
    }
  }

  async function exchangeLearned(stored: string): Promise<void> {
    if (!lists.learns || stored <= lists.learned.made) return;
    const newer = await sharedFiles.read(LEARNED_FILE);
    if (newer === null) return;
    parseLearned(newer.text);
    replaceFile(dir, LEARNED_FILE, newer.text);
  }

  return {
    /** Takes newer files from the store into this node's folder, and gives it those that are newer here. */
    async exchange() {
      const stored = new Map((await sharedFiles.list('')).map(({ name, made }) => [name, made]));
      await exchangeDisposable(stored.get(DISPOSABLE_FILE) ?? '');
      await exchangeLearned(stored.get(LEARNED_FILE) ?? '');
    },
    async record(outcomes: readonly SourceOutcome[], failed: string | null) {
      const at = await now();
      const problems = Object.fromEntries(
        outcomes.flatMap(({ source, problem }) => (problem === null ? [] : [[source, problem]])),
      );
      const text = JSON.stringify({ at, problems, failed } satisfies UpdateAttempt);
      await sharedFiles.put({ name: ATTEMPT, made: toIso(at), text });
    },
    async lastAttempt() {
      const file = await sharedFiles.read(ATTEMPT);
      if (file === null) return null;
      const attempt: UpdateAttempt = JSON.parse(file.text);
      return attempt;
    },
    /** Reads the store's clock. */
    now,
  };
}

export type SharedLists = ReturnType<typeof createSharedLists>;
