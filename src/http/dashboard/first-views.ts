import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../kernel/log.ts';
import type { DataReply, Order, Rendered, Report, ViewRequest } from './first-view-messages.ts';
import { missingIsNull } from './web-files.ts';

/** Next to this file in the sources; by its name in dist/. */
const CODE = new URL(
  import.meta.url.endsWith('.ts') ? './first-view-thread.ts' : './first-view-thread.js',
  import.meta.url,
);

/** Of the thread's heap, MB. */
const HEAP_MB = 128;
/** The thread ends after so long without a view, ms. */
const IDLE_MS = 60_000;
/** Views at the same time, those included that came too late; beyond it, pages are sent without. */
export const VIEWS_AT_ONCE = 8;

interface Times {
  /** A page is sent without its first view after so long, ms: the browser renders it anyway. */
  readonly withinMs: number;
  /** A thread that has not finished a view after so long, ms, is ended: it may never do. */
  readonly stuckMs: number;
}
const TIMES: Times = { withinMs: 2_000, stuckMs: 10_000 };

/** What a view gets for a request that was not answered; it fails then. */
const UNANSWERED: DataReply = { status: 503, body: 'null' };

/** Answers a request of a view: `path` is one of the dashboard's private API. */
type Answer = (path: string) => Promise<DataReply>;

/** First views of pages of the dashboard as HTML. */
export interface FirstViews {
  /** Null where the page has to be sent without one. */
  render(view: ViewRequest, answer: Answer): Promise<Rendered<string> | null>;
  close(): Promise<void>;
}

/** A view that the thread has not finished. */
interface Unfinished {
  /** Null once its page was sent without it. */
  answer: Answer | null;
  readonly send: (view: Rendered<string> | null) => void;
  readonly timers: readonly NodeJS.Timeout[];
}

/** `folders`: candidates for dist/web. A thread renders; it starts with the first view. */
export function createFirstViews(
  folders: readonly string[],
  logger: Logger,
  { withinMs, stuckMs }: Times = TIMES,
): FirstViews {
  const unfinished = new Map<number, Unfinished>();
  let thread: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  let count = 0;

  function start(script: string): Worker {
    const worker = new Worker(CODE, {
      workerData: script,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    worker.unref();
    worker.on('message', (report: Report) => void onReport(worker, report));
    worker.on('error', (err) => logger.warn({ err }, 'the thread for first views of the dashboard has failed'));
    worker.once('exit', () => {
      if (thread === worker) thread = null;
      for (const id of unfinished.keys()) finish(id, null);
    });
    return worker;
  }

  async function onReport(worker: Worker, report: Report): Promise<void> {
    const { id } = report;
    switch (report.kind) {
      case 'ask': {
        // Without a reply, the thread would keep the view.
        const reply = await answered(unfinished.get(id)?.answer ?? null, report.path);
        worker.postMessage({ kind: 'reply', id, n: report.n, reply } satisfies Order);
        return;
      }
      case 'failed':
        logger.warn({ problem: report.message }, 'a first view of the dashboard could not be rendered');
        return finish(id, null);
      case 'rendered':
        return finish(id, report.view);
    }
  }

  async function answered(answer: Answer | null, path: string): Promise<DataReply> {
    try {
      return (await answer?.(path)) ?? UNANSWERED;
    } catch (err) {
      logger.error({ err }, 'a request of a first view could not be answered');
      return UNANSWERED;
    }
  }

  function finish(id: number, view: Rendered<string> | null): void {
    const finished = unfinished.get(id);
    if (finished === undefined) return;
    unfinished.delete(id);
    for (const timer of finished.timers) clearTimeout(timer);
    finished.send(view);
    if (unfinished.size === 0) idle = setTimeout(() => void thread?.terminate(), IDLE_MS).unref();
  }

  async function scriptOf(): Promise<string | null> {
    for (const folder of folders) {
      const script = join(folder, 'first-view.js');
      if ((await access(script).catch(missingIsNull)) !== null) return script;
    }
    return null;
  }

  return {
    async render(view, answer) {
      const script = await scriptOf();
      if (script === null || unfinished.size >= VIEWS_AT_ONCE) return null;
      thread ??= start(script);
      const renderer = thread;
      clearTimeout(idle);
      const id = count++;
      const { promise, resolve: send } = Promise.withResolvers<Rendered<string> | null>();
      const late = setTimeout(() => {
        one.answer = null;
        send(null);
      }, withinMs);
      const stuck = setTimeout(() => {
        logger.warn({}, 'a first view of the dashboard took too long, its thread was ended');
        void renderer.terminate();
      }, stuckMs).unref();
      const one: Unfinished = { answer, send, timers: [late, stuck] };
      unfinished.set(id, one);
      renderer.postMessage({ kind: 'render', id, ...view } satisfies Order);
      return promise;
    },
    async close() {
      clearTimeout(idle);
      await thread?.terminate();
    },
  };
}
