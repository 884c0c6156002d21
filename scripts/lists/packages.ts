/** The npm packages with the source lists: downloaded as tarballs, verified, read. None of their code ever runs. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { readTar } from './tar.ts';

export interface ListPackage {
  readonly letter: string;
  readonly name: string;
  readonly version: string;
  readonly published: string;
  /** Subresource integrity (sha512) of the tarball. */
  readonly integrity: string;
  /** Path inside the package. */
  readonly file: string;
  readonly format: 'json' | 'text' | 'js-set';
  readonly licence: string;
  readonly licenceFile: string;
  readonly url: string;
  readonly use: string;
}

/** The tarball is unavailable: no network, or not in the registry. */
export class UnavailableError extends Error {}

const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

function tarball(pack: ListPackage, cache: string): Buffer {
  const path = join(cache, `${pack.name.replace('@', '').replace('/', '-')}-${pack.version}.tgz`);
  if (!existsSync(path)) {
    mkdirSync(cache, { recursive: true });
    try {
      execFileSync('npm', ['pack', `${pack.name}@${pack.version}`, '--ignore-scripts', '--silent'], {
        cwd: cache,
        stdio: ['ignore', 'ignore', 'pipe'],
        timeout: 120_000,
      });
    } catch (cause) {
      throw new UnavailableError(`npm pack ${pack.name}@${pack.version} failed`, { cause });
    }
  }
  const bytes = readFileSync(path);
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found !== pack.integrity) throw new Error(`${path} is not the recorded tarball: its integrity is ${found}`);
  return bytes;
}

/** The names in the package's list, unchanged and in order. Throws UnavailableError without the tarball. */
export function namesIn(pack: ListPackage, cache: string): string[] {
  const files = readTar(gunzipSync(tarball(pack, cache), { maxOutputLength: MAX_UNPACKED_BYTES }));
  const text = files.get(`package/${pack.file}`)?.toString('utf8');
  if (text === undefined) throw new Error(`${pack.name} ${pack.version} has no ${pack.file}`);
  const names = parse(text, pack);
  if (!Array.isArray(names) || names.some((name) => typeof name !== 'string')) {
    throw new Error(`${pack.name} ${pack.version}: ${pack.file} is not a list of names`);
  }
  return names as string[];
}

function parse(text: string, pack: ListPackage): unknown {
  if (pack.format === 'json') return JSON.parse(text);
  if (pack.format === 'text') {
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'));
  }
  // `new Set(["…", …])` in a JavaScript file: the array between the parentheses is JSON.
  const array = /new Set\((\[[^\]]*\])\)/.exec(text)?.[1];
  if (array === undefined) throw new Error(`${pack.name} ${pack.version}: no set in ${pack.file}`);
  return JSON.parse(array);
}
