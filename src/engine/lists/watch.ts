/** The lists of a process that lives long: `mailvet lists update` replaces them from another process, without a restart. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import type { DisposableFile } from './entries.ts';
import { assemble, type Lists, packagedDir, readDisposable, readFacts } from './lists.ts';

export interface WatchOptions {
  /** The package's data/. */
  readonly packaged?: string;
  /**
   * Milliseconds between two looks at the disk. The default is shorter than it takes `lists update` to end after its
   * rename, so that the next request sees the new list, and costs nothing that can be measured.
   */
  readonly checkEveryMs?: number;
}

export interface WatchedLists {
  /** Ask for it anew for every verification. Reading a changed list takes some 20 ms, once. */
  readonly current: Lists;
  /** Why the downloaded list is not in use although it is there; null when all is well. */
  readonly problem: string | null;
}

/**
 * `dir` is where `lists update` puts its file; it need not exist (null: only the package's lists). The newer of that file
 * and the packaged one is in use. No timer, no handle: the disk is looked at when somebody asks.
 */
export function watchLists(dir: string | null, clock: Clock, options: WatchOptions = {}): WatchedLists {
  const { packaged = packagedDir(), checkEveryMs = 20 } = options;
  const facts = readFacts(packaged);
  const shipped = readDisposable(packaged);
  let lists = assemble(facts, shipped);
  let inUse: DisposableFile = shipped;
  let seen: string | null = null;
  let problem: string | null = null;
  let nextLook = Number.NEGATIVE_INFINITY;

  function look(): void {
    if (dir === null || clock.elapsed() < nextLook) return;
    nextLook = clock.elapsed() + checkEveryMs;
    const stamp = stampOf(dir);
    if (stamp === seen) return;
    seen = stamp;
    const read = stamp === null ? { file: shipped, problem: null } : readOverlay(dir, shipped);
    problem = read.problem;
    // A download that cannot be read changes nothing: the list that is in use is a good one.
    const chosen = read.file ?? inUse;
    if (chosen === inUse) return;
    inUse = chosen;
    lists = assemble(facts, chosen);
  }

  look();
  return {
    get current() {
      look();
      return lists;
    },
    get problem() {
      return problem;
    },
  };
}

/** Changes with every replacement of the file; null when there is none. */
function stampOf(dir: string): string | null {
  try {
    const { ino, size, mtimeMs } = statSync(join(dir, 'disposable.txt'));
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return null;
  }
}

/** The downloaded list, or the packaged one when that is newer; on the same day the download wins. */
function readOverlay(dir: string, shipped: DisposableFile): { file: DisposableFile | null; problem: string | null } {
  try {
    const file = readDisposable(dir);
    return { file: file.version >= shipped.version ? file : shipped, problem: null };
  } catch (error) {
    return { file: null, problem: `${join(dir, 'disposable.txt')}: ${(error as Error).message}` };
  }
}

/** The disposable list that is in force for `dir`, without a store: what `lists update` compares with. */
export function currentDisposable(dir: string, packaged: string): DisposableFile {
  const shipped = readDisposable(packaged);
  return stampOf(dir) === null ? shipped : (readOverlay(dir, shipped).file ?? shipped);
}
