/** Calls of work in a thread of its own: both ends. What they send each other must be structured-clonable. */
import { parentPort, type ResourceLimits, Worker } from 'node:worker_threads';

/** A call failed because its thread ended before it answered. `cause`: what ended it, where that was an error. */
export class ThreadEndedError extends Error {
  override readonly name = 'ThreadEndedError';
}

type FromCaller<Request, Reply> =
  | { readonly id: number; readonly request: Request }
  | { readonly id: number; readonly canceled: true }
  | { readonly id: number; readonly question: number; readonly reply: Reply }
  | { readonly id: number; readonly question: number; readonly unanswered: string };

type FromThread<Answer, Question> =
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly failure: Failure }
  | { readonly id: number; readonly question: number; readonly asked: Question };

/** An error without what cannot be sent: its message, and its own properties that are plain values. */
interface Failure {
  readonly message: string;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
}

interface SessionOptions {
  /** This module calls `answerCalls` (`threadCode`). */
  readonly code: URL;
  readonly limits?: ResourceLimits;
  /** A thread that goes on with a canceled call for longer is ended, and with it its other calls. */
  readonly cancelMs?: number;
}

interface ThreadOptions extends SessionOptions {
  /** A thread without a call ends after this time. */
  readonly idleMs: number;
  readonly cancelMs: number;
}

interface CallOptions<Question, Reply> {
  /** When it is aborted, the call rejects with its reason at once. */
  readonly signal?: AbortSignal;
  /** Answers what the work asks meanwhile. It is not called any more once the call has ended or was canceled. */
  readonly reply?: (question: Question) => Promise<Reply>;
}

interface Call<Answer, Question, Reply> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  /** Null once it was canceled. */
  reply: ((question: Question) => Promise<Reply>) | null;
  readonly ended: () => void;
}

/** A module next to that of `base` in the sources; in dist/, all are in one folder, under the names of the build. */
export const threadCode = (base: string, source: string, built: string): URL =>
  new URL(base.endsWith('.ts') ? source : built, base);

/**
 * A thread that starts with a call when there is none, and ends when it is idle. Its calls run at the same time. It
 * needs no closer: callers end their calls, and a process may end while the thread is idle.
 */
export class Thread<Request, Answer, Question = never, Reply = never> {
  readonly #options: ThreadOptions;
  #session: ThreadSession<Request, Answer, Question, Reply> | null = null;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /** Calls that the thread works on, those included that were canceled. */
  get running(): number {
    return this.#session?.running ?? 0;
  }

  /** Rejects with what the work threw, with the reason of the signal, or with ThreadEndedError. */
  async call(request: Request, { signal, reply }: CallOptions<Question, Reply> = {}): Promise<Answer> {
    signal?.throwIfAborted();
    clearTimeout(this.#idle);
    this.#session ??= this.#start();
    return this.#session.call(request, signal, reply);
  }

  /** Calls that are under way reject. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#session?.end();
  }

  #start(): ThreadSession<Request, Answer, Question, Reply> {
    const session: ThreadSession<Request, Answer, Question, Reply> = new ThreadSession(this.#options, {
      idle: () => {
        if (this.#session !== session) return;
        this.#idle = setTimeout(() => void session.end(), this.#options.idleMs).unref();
      },
      ending: () => {
        if (this.#session === session) this.#session = null;
      },
    });
    return session;
  }
}

/** `idle`: it has no call. `ending`: it is to get no more calls. */
interface SessionEvents {
  readonly idle: () => void;
  readonly ending: () => void;
}
const UNHEARD: SessionEvents = { idle: () => undefined, ending: () => undefined };

/** A session lasts from the start of one thread to its end. */
export class ThreadSession<Request, Answer, Question = never, Reply = never> {
  readonly #worker: Worker;
  readonly #cancelMs: number | undefined;
  readonly #on: SessionEvents;
  readonly #calls = new Map<number, Call<Answer, Question, Reply>>();
  readonly #exited = Promise.withResolvers<ThreadEndedError>();
  #last = 0;
  #cause: Error | undefined;
  /** Calls reject with it once the thread has ended. */
  #lost: ThreadEndedError | null = null;

  constructor({ code, limits, cancelMs }: SessionOptions, on: SessionEvents = UNHEARD) {
    this.#cancelMs = cancelMs;
    this.#on = on;
    this.#worker = new Worker(code, { execArgv: [], ...(limits && { resourceLimits: limits }) });
    // A process may end while its threads are idle, not while it waits for one.
    this.#worker.unref();
    this.#worker.on('message', (message: FromThread<Answer, Question>) => this.#receive(message));
    this.#worker.on('error', (error: Error) => {
      this.#cause = error;
      this.#on.ending();
    });
    this.#worker.once('exit', (code) => {
      this.#on.ending();
      const { cause = new Error(`exit code ${code}`) } = { cause: this.#cause };
      const lost = new ThreadEndedError(`A thread ended before it answered: ${cause.message}`, { cause });
      this.#lost = lost;
      // This comes first, so that who calls again at once calls another session.
      this.#exited.resolve(lost);
      for (const id of [...this.#calls.keys()]) this.#finish(id)?.reject(lost);
    });
  }

  /** Resolves once the thread has ended, for whatever reason. */
  get exited(): Promise<ThreadEndedError> {
    return this.#exited.promise;
  }

  get running(): number {
    return this.#calls.size;
  }

  /** Does what `Thread.call` does. */
  call(
    request: Request,
    signal?: AbortSignal,
    reply: ((question: Question) => Promise<Reply>) | null = null,
  ): Promise<Answer> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    this.#last += 1;
    const id = this.#last;
    this.#send({ id, request });
    if (this.#calls.size === 0) this.#worker.ref();
    return new Promise((resolve, reject) => {
      let late: NodeJS.Timeout | undefined;
      const cancel = () => {
        call.reply = null;
        reject(signal?.reason);
        this.#send({ id, canceled: true });
        if (this.#cancelMs !== undefined) late = setTimeout(() => void this.end(), this.#cancelMs).unref();
      };
      const ended = () => {
        clearTimeout(late);
        signal?.removeEventListener('abort', cancel);
      };
      const call: Call<Answer, Question, Reply> = { resolve, reject, reply, ended };
      this.#calls.set(id, call);
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  /** Calls that are under way reject. */
  async end(): Promise<void> {
    this.#on.ending();
    await this.#worker.terminate();
    await this.#exited.promise;
  }

  #send(message: FromCaller<Request, Reply>): void {
    this.#worker.postMessage(message);
  }

  #receive(message: FromThread<Answer, Question>): void {
    if ('asked' in message) void this.#reply(message);
    else if ('answer' in message) this.#finish(message.id)?.resolve(message.answer);
    else this.#finish(message.id)?.reject(errorFrom(message.failure));
  }

  async #reply({ id, question, asked }: { readonly id: number; readonly question: number; readonly asked: Question }) {
    try {
      const { reply } = this.#calls.get(id) ?? { reply: null };
      if (reply === null) throw new Error('The call has ended.');
      this.#send({ id, question, reply: await reply(asked) });
    } catch (error) {
      this.#send({ id, question, unanswered: failureMessage(error).message });
    }
  }

  #finish(id: number): Call<Answer, Question, Reply> | undefined {
    const call = this.#calls.get(id);
    if (!this.#calls.delete(id)) return undefined;
    call?.ended();
    if (this.#calls.size === 0) {
      this.#worker.unref();
      this.#on.idle();
    }
    return call;
  }
}

const errorFrom = ({ message, details }: Failure): Error => Object.assign(new Error(message), details);

function failureMessage(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error), details: {} };
  const details: Record<string, string | number | boolean | null> = {};
  for (const [name, value] of Object.entries(error))
    if (['string', 'number', 'boolean'].includes(typeof value) || value === null) details[name] = value;
  return { message: error.message, details };
}

/** What the work of a call gets beside its request. */
interface CallScope<Question, Reply> {
  /** Aborted when the call is canceled. */
  readonly signal: AbortSignal;
  /** Asks the caller. Rejects where there is no reply, as after the end of the call. */
  ask(question: Question): Promise<Reply>;
}

/** The thread answers its calls by `work`. */
export function answerCalls<Request, Answer, Question = never, Reply = never>(
  work: (request: Request, scope: CallScope<Question, Reply>) => Answer | Promise<Answer>,
): void {
  if (parentPort === null) throw new TypeError('This module is the code of a thread.');
  const port = parentPort;
  const send = (message: FromThread<Answer, Question>) => port.postMessage(message);
  const calls = new Map<number, AbortController>();
  const asked = new Map<number, PromiseWithResolvers<Reply>>();
  let questions = 0;

  async function answer(id: number, request: Request): Promise<void> {
    const canceled = new AbortController();
    calls.set(id, canceled);
    const scope: CallScope<Question, Reply> = {
      signal: canceled.signal,
      ask(question) {
        questions += 1;
        const reply = Promise.withResolvers<Reply>();
        asked.set(questions, reply);
        send({ id, question: questions, asked: question });
        return reply.promise;
      },
    };
    try {
      send({ id, answer: await work(request, scope) });
    } catch (error) {
      send({ id, failure: failureMessage(error) });
    } finally {
      calls.delete(id);
    }
  }

  port.on('message', (message: FromCaller<Request, Reply>) => {
    if ('request' in message) return void answer(message.id, message.request);
    if ('canceled' in message) return calls.get(message.id)?.abort();
    const reply = asked.get(message.question);
    asked.delete(message.question);
    if ('reply' in message) reply?.resolve(message.reply);
    else reply?.reject(new Error(message.unanswered));
  });
}
