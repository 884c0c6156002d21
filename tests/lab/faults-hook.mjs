/** Preloaded: puts a fault into one handler of the engine at a time, inside of what contains it. */
import { registerHooks } from 'node:module';

/** Calls by place, `src/…:line`, and the place whose next call throws. */
globalThis.handlerCalls = new Map();
globalThis.faultyPlace = null;

const SOURCE = `
  import { contain as real } from './contain.ts?real';
  export { warnOfFault } from './contain.ts?real';
  export function contain(onFault, handler) {
    const [, , caller = ''] = new Error().stack.split('\\n');
    const place = caller.match(/(src\\/[^:]+:\\d+):\\d+\\)?$/)?.[1] ?? caller;
    return real(onFault, (...args) => {
      handlerCalls.set(place, (handlerCalls.get(place) ?? 0) + 1);
      if (faultyPlace === place) {
        faultyPlace = null;
        throw new Error('fault at ' + place);
      }
      return handler(...args);
    });
  }`;

registerHooks({
  load: (url, context, next) =>
    url.endsWith('/src/kernel/contain.ts')
      ? { format: 'module', source: SOURCE, shortCircuit: true }
      : next(url, context),
});
