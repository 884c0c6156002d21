import { describe, expect, it } from 'vitest';
import { handlersIn, isEngine } from './handlers.ts';
import { allSources } from './syntax.ts';

it('every handler of the engine is contained', () => {
  const found = allSources().filter(isEngine).map(handlersIn);
  expect(found.flatMap(({ contained }) => contained).length).toBeGreaterThan(50);
  expect(found.flatMap(({ bare }) => bare)).toEqual([]);
});

describe('a handler', () => {
  const bareIn = (text: string) => handlersIn({ path: 'src/engine/a.ts', text }).bare;

  it.each([
    "socket.on('data', () => read());",
    "socket.once('data', read);",
    "signal.addEventListener('abort', this.#end);",
    'setTimeout(end, 1);',
    'queueMicrotask(() => end());',
    'const off = onAbort(signal, () => end());',
    'void run();',
  ])('that is bare is found: %s', (text) => expect(bareIn(`\n${text}`)).toEqual(['src/engine/a.ts:2']));

  it.each([
    "socket.on('data', contain(fail, read));",
    'const end = contain(fail, () => x()); setTimeout(end, 1);',
    "const enter = (phase) => contain(fail, () => x(phase)); socket.once('connect', enter('y'));",
    'class A { #end = contain(this.fail, () => x()); b() { setTimeout(this.#end, 1); } }',
  ])('that is contained is none: %s', (text) => expect(bareIn(text)).toEqual([]));
});
