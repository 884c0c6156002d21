import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Thread, ThreadEndedError, ThreadSession } from './thread.ts';

const CODE = `
import { threadId } from 'node:worker_threads';
import { answerCalls } from ${JSON.stringify(new URL('./thread.ts', import.meta.url).href)};

let canceled = 0;
const work = {
  id: () => threadId,
  canceled: () => canceled,
  fail: () => { throw Object.assign(new Error('no'), { code: 'E_NO', field: null, left: () => 1, all: [1] }); },
  die: () => { setTimeout(() => { throw new Error('later'); }); return new Promise(() => undefined); },
  exit: () => process.exit(3),
  fill: () => { for (const all = []; ; ) all.push(new Array(100_000).fill({})); },
  loop: () => { for (;;); },
  wait: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => { canceled += 1; resolve(); })),
  never: () => new Promise(() => undefined),
  ask: async (signal, ask) => (await ask(1)) + (await ask(2)),
  askLate: async (signal, ask) => {
    setTimeout(() => ask(3).catch(({ message }) => { late = message; }), 50);
  },
  late: () => late,
};
let late = null;
answerCalls((request, { signal, ask }) => work[request](signal, ask));
`;

let folder: string;
let code: URL;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailvet-thread-'));
  const file = join(folder, 'thread.mjs');
  await writeFile(file, CODE);
  code = pathToFileURL(file);
});
afterAll(() => rm(folder, { recursive: true }));

let thread: Thread<string, unknown, number, number>;
beforeEach(() => {
  thread = new Thread({ code, limits: { maxOldGenerationSizeMb: 32 }, idleMs: 200, cancelMs: 300 });
});
afterEach(() => thread.close());

describe('calls of a thread', () => {
  it('are answered by one thread, at the same time', async () => {
    const [a, b] = await Promise.all([thread.call('id'), thread.call('id')]);
    expect(a).toBe(b);
  });

  it('reject with the message and the plain properties of what was thrown', async () => {
    const error: unknown = await thread.call('fail').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: 'no', code: 'E_NO', field: null });
    expect(error).not.toHaveProperty('left');
    expect(error).not.toHaveProperty('all');
  });

  it('ask their caller meanwhile, and are refused afterwards', async () => {
    expect(await thread.call('ask', { reply: async (question) => question * 10 })).toBe(30);
    await expect(thread.call('ask')).rejects.toThrow('The call has ended.');
    const failing = () => Promise.reject(new Error('no reply'));
    await expect(thread.call('ask', { reply: failing })).rejects.toThrow('no reply');
    await thread.call('askLate', { reply: async () => 1 });
    await expect.poll(() => thread.call('late')).toBe('The call has ended.');
  });

  it('reject at once when they are canceled, and the work is told', async () => {
    const abort = new AbortController();
    const waiting = thread.call('wait', { signal: abort.signal });
    await thread.call('id');
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(await thread.call('canceled')).toBe(1);
    await expect(thread.call('id', { signal: abort.signal })).rejects.toThrow('enough');
  });

  it('count until the thread has ended them, canceled or not', async () => {
    const abort = new AbortController();
    const waiting = thread.call('never', { signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(thread.running).toBe(1);
    await expect.poll(() => thread.running).toBe(0);
  });
});

describe('a thread', () => {
  it.each(['die', 'exit', 'fill'])('that dies rejects its calls, and the next call has a new one: %s', async (how) => {
    const before = await thread.call('id');
    const beside = thread.call('never').catch((error: unknown) => error);
    await expect(thread.call(how)).rejects.toThrow(ThreadEndedError);
    expect(await beside).toBeInstanceOf(ThreadEndedError);
    expect(await thread.call('id')).not.toBe(before);
  });

  it.each(['loop', 'never'])('that goes on with a canceled call is ended: %s', async (how) => {
    const before = await thread.call('id');
    await expect(thread.call(how, { signal: AbortSignal.timeout(50) })).rejects.toThrow('timeout');
    await expect.poll(() => thread.call('id').catch(() => before), { timeout: 5_000 }).not.toBe(before);
  });

  it('ends when it is idle, and not before', async () => {
    const before = await thread.call('id');
    const beside = thread.call('wait', { signal: AbortSignal.timeout(500) }).catch((error: Error) => error.name);
    expect(await beside).toBe('TimeoutError');
    expect(await thread.call('id')).toBe(before);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await thread.call('id')).not.toBe(before);
  });

  it('that is closed rejects its calls', async () => {
    const waiting = thread.call('never').catch((error: unknown) => error);
    await thread.close();
    expect(await waiting).toBeInstanceOf(ThreadEndedError);
  });
});

it.each(['exit', 'end'])('a session rejects calls after its thread has ended: %s', async (how) => {
  const session = new ThreadSession<string, unknown>({ code });
  expect(await session.call('id')).toEqual(expect.any(Number));
  if (how === 'end') await session.end();
  else await expect(session.call('exit')).rejects.toThrow(ThreadEndedError);
  expect(await session.exited).toBeInstanceOf(ThreadEndedError);
  await expect(session.call('id')).rejects.toThrow(ThreadEndedError);
});
