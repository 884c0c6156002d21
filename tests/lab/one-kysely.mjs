/**
 * Preloaded by threads that tests start: `kysely` is one file, which built.ts writes. Starting the writer of a store
 * takes 130 ms of CPU time so, and 300 ms with Kysely's 255 files.
 */
import { registerHooks } from 'node:module';

const url = new URL('../../.cache/test/kysely.mjs', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'kysely' ? { url, format: 'module', shortCircuit: true } : next(specifier, context),
});
