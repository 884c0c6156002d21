/** First views of pages of the dashboard as HTML: rendered by a thread, so that nothing else waits meanwhile. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../kernel/log.ts';
import { Thread, ThreadEndedError, threadCode } from '../../kernel/thread.ts';
import { missingIsNull } from './web-files.ts';

/** What the dashboard's `render` returns (web/src/first-view/render.tsx). */
export interface Rendered<K = unknown> {
  readonly html: string;
  /** Whose data is shown; null: nobody's. */
  readonly account: string | null;
  /** The data that it was rendered with. */
  readonly known: K;
}

interface ViewRequest {
  /** Of the page, with the public address of the service. */
  readonly url: string;
  /** As `navigator.platform`: the names of keys depend on it. */
  readonly platform: string;
  /** Of style elements. */
  readonly nonce: string;
}

/** What the thread is asked for: `script` is the path of the built dashboard's own. */
export type ViewOrder = ViewRequest & { readonly script: string };

/** A reply of the dashboard's private API. */
export interface DataReply {
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

/** Of the thread's heap, MB. */
const HEAP_MB = 128;
/** The thread ends after so long without a view, ms. */
const IDLE_MS = 60_000;
/** Views at the same time, those included that came too late; beyond it, pages are sent without. */
export const VIEWS_AT_ONCE = 8;

interface Times {
  /** A page is sent without its first view after so long, ms: the browser renders it anyway. */
  readonly withinMs: number;
  /** A thread that has not finished a view after so much longer, ms, is ended: it may never do. */
  readonly stuckMs: number;
}
const TIMES: Times = { withinMs: 2_000, stuckMs: 8_000 };

/** Answers a request of a view: `path` is one of the dashboard's private API. */
type Answer = (path: string) => Promise<DataReply>;

export interface FirstViews {
  /** Null where the page has to be sent without one. `known` of a view is JSON. */
  render(view: ViewRequest, answer: Answer): Promise<Rendered<string> | null>;
  close(): Promise<void>;
}

/** `folders`: candidates for dist/web. */
export function createFirstViews(
  folders: readonly string[],
  logger: Logger,
  { withinMs, stuckMs }: Times = TIMES,
): FirstViews {
  const thread = new Thread<ViewOrder, Rendered<string> | null, string, DataReply>({
    code: threadCode(import.meta.url, './first-view-thread.ts', './first-view-thread.js'),
    limits: { maxOldGenerationSizeMb: HEAP_MB },
    idleMs: IDLE_MS,
    cancelMs: stuckMs,
  });

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
      if (script === null || thread.running >= VIEWS_AT_ONCE) return null;
      const signal = AbortSignal.timeout(withinMs);
      async function reply(path: string): Promise<DataReply> {
        try {
          return await answer(path);
        } catch (err) {
          logger.error({ err }, 'a request of a first view could not be answered');
          throw err;
        }
      }
      try {
        return await thread.call({ ...view, script }, { signal, reply });
      } catch (error) {
        if (error instanceof ThreadEndedError)
          logger.warn({ err: error }, 'the thread for first views of the dashboard ended');
        else if (!signal.aborted) logger.warn({ err: error }, 'a first view of the dashboard could not be rendered');
        return null;
      }
    },
    close: () => thread.close(),
  };
}
