/** Learns disposable mail hosts (engine/data/learn.ts) in small steps that any node can continue. */
import { setTimeout as sleep } from 'node:timers/promises';
import { verdictsAfter } from '../engine/data/disposable-file.ts';
import { formatLearned, LEARNED_FILE, type WatchedDomainData } from '../engine/data/domain-data.ts';
import {
  createHostTally,
  judgeHosts,
  type LearnDns,
  type LearnKind,
  type LearnRow,
  lookUpHosts,
} from '../engine/data/learn.ts';
import { DAY_MS, fromIso, toIso } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';

/** Domains of one step; its results are stored together. */
const STEP_DOMAINS = 300;
/** At most this many domains are looked up per second. */
const PER_SECOND = 10;
/** From the end of one pass over all domains to the next. */
const PASS_MS = 3 * DAY_MS;
const STEPS = 'learning/';

interface Cursor {
  readonly kind: LearnKind;
  /** The last domain that was looked up. */
  readonly after: string;
}
interface Step {
  readonly next: Cursor;
  readonly rows: readonly LearnRow[];
}

/** `more`: there is a next step; `done`: hosts were learned; `unsure`: too little is known of good domains. */
export type StepOutcome = 'more' | 'done' | 'unsure' | 'not_due';

export function createHostLearning(parts: {
  store: Pick<Store, 'sharedFiles' | 'clock'>;
  lists: WatchedDomainData;
  /** Opened for a step, so that its answers do not take the place of others in a cache. */
  openDns: () => Omit<LearnDns, 'signal'> & { close(): void };
  perSecond?: number;
}) {
  const { store, lists, openDns, perSecond = PER_SECOND } = parts;
  const { sharedFiles } = store;

  function namesAfter({ kind, after }: Cursor): readonly string[] {
    if (kind === 'listed') return verdictsAfter(lists.file, after, STEP_DOMAINS);
    return lists.current
      .knownGood()
      .filter((name) => name > after)
      .slice(0, STEP_DOMAINS);
  }

  async function lookUp(names: readonly string[], kind: LearnKind, dns: LearnDns): Promise<LearnRow[]> {
    const rows: Promise<LearnRow>[] = [];
    for (const name of names) {
      rows.push(lookUpHosts(name, kind, lists.current, dns));
      await sleep(1000 / perSecond, undefined, { signal: dns.signal });
    }
    const done = await Promise.all(rows);
    dns.signal.throwIfAborted();
    return done;
  }

  async function finish(steps: readonly string[], dns: LearnDns): Promise<StepOutcome> {
    const tally = createHostTally();
    for (const name of steps) {
      const file = await sharedFiles.read(name);
      const step: Step = JSON.parse(file?.text ?? '{"rows":[]}');
      for (const row of step.rows) tally.add(row);
    }
    if (tally.isComplete()) {
      const made = toIso((await store.clock.peek()).now);
      const pause = () => sleep(1000 / perSecond, undefined, { signal: dns.signal });
      const learned = await judgeHosts(tally, made, lists.current, { ...dns, pause });
      await sharedFiles.put({ name: LEARNED_FILE, made, text: formatLearned(learned) });
    }
    await sharedFiles.drop(STEPS);
    return tally.isComplete() ? 'done' : 'unsure';
  }

  async function isDue(): Promise<boolean> {
    const [last] = await sharedFiles.list(LEARNED_FILE);
    const at = last === undefined ? null : fromIso(last.made);
    return at === null || Math.abs((await store.clock.peek()).now - at) >= PASS_MS;
  }

  return {
    async step(signal: AbortSignal) {
      const steps = (await sharedFiles.list(STEPS)).map(({ name }) => name);
      const last = steps.at(-1);
      if (last === undefined && !(await isDue())) return 'not_due';
      const stored: Step | null =
        last === undefined ? null : JSON.parse((await sharedFiles.read(last))?.text ?? 'null');
      let cursor: Cursor = stored?.next ?? { kind: 'good', after: '' };
      let names = namesAfter(cursor);
      if (names.length === 0 && cursor.kind === 'good') {
        cursor = { kind: 'listed', after: '' };
        names = namesAfter(cursor);
      }
      const dns = { ...openDns(), signal };
      try {
        if (names.length === 0) return await finish(steps, dns);
        const rows = await lookUp(names, cursor.kind, dns);
        const step: Step = { next: { kind: cursor.kind, after: names.at(-1) ?? '' }, rows };
        const name = `${STEPS}${String(steps.length).padStart(5, '0')}`;
        const made = toIso((await store.clock.peek()).now);
        await sharedFiles.put({ name, made, text: JSON.stringify(step) });
        return 'more';
      } finally {
        dns.close();
      }
    },
  };
}

export type HostLearning = ReturnType<typeof createHostLearning>;
