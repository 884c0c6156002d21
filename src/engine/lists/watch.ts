/** Reloads the lists of a running process after `mailvet disposable update` has replaced them. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import type { DisposableFile } from './entries.ts';
import { readFacts } from './facts.ts';
import { type LearnedHosts, NOTHING_LEARNED, parseLearned } from './learned.ts';
import { assemble, type Lists, packagedDir, readDisposable } from './lists.ts';
import { DISPOSABLE_FILE, LEARNED_FILE } from './replace-file.ts';

interface WatchOptions {
  /** Whether mail hosts that were learned count; default true. */
  readonly learned?: boolean;
  /** The package's data/ folder. */
  readonly packaged?: string;
  /**
   * Minimum interval in milliseconds between two stat calls. The default is shorter than `disposable update` takes to
   * exit after its rename, so that the next request sees the new list; its cost is not measurable.
   */
  readonly checkEveryMs?: number;
}

export interface WatchedLists {
  /** Read this property for every verification. Loading a changed list takes about 20 ms, once. */
  readonly current: Lists;
  /** The disposable list of `current`. */
  readonly file: DisposableFile;
  /** NOTHING_LEARNED where it is turned off. */
  readonly learned: LearnedHosts;
  /** Whether learned mail hosts count. */
  readonly learns: boolean;
  /** Whether it was downloaded; false: it came with the package. */
  readonly downloaded: boolean;
  /** Why the downloaded list is not used although it exists; null if there is no problem. */
  readonly problem: string | null;
}

/**
 * `dir` is the output directory of `disposable update`; it need not exist (null: only the packaged lists). The newer of
 * that file and the packaged one is used. Without timers or handles: the file is checked on access.
 */
export function watchLists(dir: string | null, clock: Clock, options: WatchOptions = {}): WatchedLists {
  const { packaged = packagedDir(), checkEveryMs = 20, learned: learns = true } = options;
  const facts = readFacts(packaged);
  const shipped = readDisposable(packaged);
  let lists = assemble(facts, shipped);
  let inUse: DisposableFile = shipped;
  let seen: string | null = null;
  let learned = NOTHING_LEARNED;
  let learnedSeen: string | null = null;
  let problem: string | null = null;
  let nextLook = Number.NEGATIVE_INFINITY;

  function look(): void {
    if (dir === null || clock.elapsed() < nextLook) return;
    nextLook = clock.elapsed() + checkEveryMs;
    const learnedStamp = learns ? stampOf(dir, LEARNED_FILE) : null;
    const newlyLearned = learnedStamp !== learnedSeen;
    if (newlyLearned) {
      learnedSeen = learnedStamp;
      learned = readLearned(dir) ?? learned;
    }
    const stamp = stampOf(dir, DISPOSABLE_FILE);
    if (stamp === seen) {
      if (newlyLearned) lists = assemble(facts, inUse, learned);
      return;
    }
    seen = stamp;
    const read = stamp === null ? { file: shipped, problem: null } : readOverlay(dir, shipped);
    problem = read.problem;
    // An unreadable download changes nothing: the list in use is good.
    const chosen = read.file ?? inUse;
    if (chosen === inUse && !newlyLearned) return;
    inUse = chosen;
    lists = assemble(facts, chosen, learned);
  }

  look();
  return {
    get current() {
      look();
      return lists;
    },
    get file() {
      look();
      return inUse;
    },
    get learned() {
      look();
      return learned;
    },
    learns,
    get downloaded() {
      look();
      return inUse !== shipped;
    },
    get problem() {
      return problem;
    },
  };
}

/** Changes whenever the file is replaced; null if there is no file. */
function stampOf(dir: string, name: string): string | null {
  try {
    // An error for a file that is not there costs 10 times as much.
    const found = statSync(join(dir, name), { throwIfNoEntry: false });
    return found === undefined ? null : `${found.ino} ${found.size} ${found.mtimeMs}`;
  } catch {
    return null;
  }
}

/** Null: unreadable, and what was learned before stays. */
function readLearned(dir: string): LearnedHosts | null {
  try {
    return parseLearned(readFileSync(join(dir, LEARNED_FILE), 'utf8'));
  } catch {
    return null;
  }
}

/** The downloaded list, or the packaged one if it is newer; on the same date the download wins. */
function readOverlay(dir: string, shipped: DisposableFile): { file: DisposableFile | null; problem: string | null } {
  try {
    const file = readDisposable(dir);
    return { file: file.version >= shipped.version ? file : shipped, problem: null };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { file: null, problem: `${join(dir, 'disposable.txt')}: ${why}` };
  }
}

/** The disposable list in use for `dir`: the baseline of `disposable update`. */
export function currentDisposable(dir: string, packaged: string): DisposableFile {
  const shipped = readDisposable(packaged);
  return stampOf(dir, DISPOSABLE_FILE) === null ? shipped : (readOverlay(dir, shipped).file ?? shipped);
}
