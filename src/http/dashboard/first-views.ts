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
/** A page is sent without its first view after so long, ms: the browser renders it anyway. */
const WITHIN_MS = 2_000;
/** Views at the same time; beyond it, pages are sent without. */
const AT_ONCE = 8;

/** Answers a request of a view: `path` is one of the dashboard's private API. */
type Answer = (path: string) => Promise<DataReply>;

/** First views of pages of the dashboard as HTML. */
export interface FirstViews {
  /** Null where the page has to be sent without one. */
  render(view: ViewRequest, answer: Answer): Promise<Rendered<string> | null>;
  close(): Promise<void>;
}

interface Waiting {
  readonly answer: Answer;
  readonly end: (view: Rendered<string> | null) => void;
}

/** `folders`: candidates for dist/web. A thread renders; it starts with the first view. */
export function createFirstViews(folders: readonly string[], logger: Logger): FirstViews {
  const waiting = new Map<number, Waiting>();
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
      for (const { end } of waiting.values()) end(null);
    });
    return worker;
  }

  async function onReport(worker: Worker, report: Report): Promise<void> {
    const { id } = report;
    const view = waiting.get(id);
    if (view === undefined) return;
    switch (report.kind) {
      case 'ask': {
        const { n } = report;
        const reply = await view.answer(report.path);
        worker.postMessage({ kind: 'reply', id, n, reply } satisfies Order);
        return;
      }
      case 'failed':
        logger.warn({ problem: report.message }, 'a first view of the dashboard could not be rendered');
        return view.end(null);
      case 'rendered':
        return view.end(report.view);
    }
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
      if (script === null || waiting.size >= AT_ONCE) return null;
      thread ??= start(script);
      clearTimeout(idle);
      const id = count++;
      const { promise, resolve: end } = Promise.withResolvers<Rendered<string> | null>();
      waiting.set(id, { answer, end });
      thread.postMessage({ kind: 'render', id, ...view } satisfies Order);
      const late = setTimeout(() => end(null), WITHIN_MS);
      const rendered = await promise;
      clearTimeout(late);
      waiting.delete(id);
      if (waiting.size === 0) idle = setTimeout(() => void thread?.terminate(), IDLE_MS).unref();
      return rendered;
    },
    async close() {
      clearTimeout(idle);
      await thread?.terminate();
    },
  };
}
