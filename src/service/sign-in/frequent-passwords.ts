import { readFile } from 'node:fs/promises';
import { dataFile } from '../../engine/data.ts';

let loaded: Promise<ReadonlySet<string>> | null = null;

async function load(): Promise<ReadonlySet<string>> {
  const text = await readFile(dataFile('frequent-passwords.txt'), 'utf8');
  return new Set(text.split('\n').filter((line) => line !== '' && !line.startsWith('#')));
}

/**
 * The cores of the most frequent passwords (kernel/password-rules.ts). Read when a password is first set, not at the
 * start.
 */
export function frequentPasswords(): Promise<ReadonlySet<string>> {
  loaded ??= load().catch((error: unknown) => {
    loaded = null;
    throw error;
  });
  return loaded;
}
