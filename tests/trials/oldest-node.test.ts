import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Copy, copySources } from './copy.ts';

let copy: Copy;
beforeAll(() => {
  copy = copySources();
});
afterAll(() => copy.remove());

/** What Node 20.19 lacks, and where the published packages begin, or what they reach. */
const NEWER: readonly (readonly [file: string, code: string])[] = [
  ['src/index.ts', 'Promise.withResolvers();'],
  ['src/engine/smtp/session.ts', "Object.groupBy([''], (text) => text);"],
  ['src/engine/dns/transport.ts', 'Array.fromAsync([]);'],
  ['src/engine/data/domain-data.ts', 'new Set([1]).union(new Set([2]));'],
  ['src/engine/dns/resolver.ts', '[1].values().map(String);'],
  ['src/engine/data/disposable-file.ts', "import { glob } from 'node:fs';\nvoid glob;"],
  ['src/kernel/on-abort.ts', "import * as sqlite from 'node:sqlite';\nvoid sqlite;"],
  ['scripts/build/library-entry.ts', 'new Float16Array(1);'],
  ['sdk/src/guard.ts', 'void navigator;'],
  ['sdk/src/zod.ts', 'Promise.try(() => 1);'],
  ['bin/mailvet.mjs', 'process.execve?.("", []);'],
  ['bin/pinned-node.mjs', 'void import.meta.main;'],
  ['scripts/fresh.mjs', 'RegExp.escape("");'],
];

it('the compiler finds what the oldest supported Node lacks, in all that runs on it', () => {
  expect(copy.compile('tsconfig.node20.json')).toEqual([]);
  for (const [file, code] of NEWER) copy.write(file, `${copy.read(file)}\n${code}\n`);
  expect(copy.compile('tsconfig.node20.json')).toEqual(NEWER.map(([file]) => file).sort());
});

it('its types are those of the version that the packages ask for', () => {
  const minimum = /^>=(\d+\.\d+)$/.exec(JSON.parse(copy.read('package.json')).engines.node)?.[1];
  const { version } = JSON.parse(copy.read('sdk/node_modules/@types/node/package.json'));
  expect(version).toMatch(new RegExp(`^${minimum}\\.`));
});
