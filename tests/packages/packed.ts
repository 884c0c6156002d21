import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../scripts/fresh.mjs';

/** What is published, and the folder of its manifest. */
export const PACKAGES = {
  mailvet: { folder: '.', file: 'mailvet' },
  '@mailvet/engine': { folder: 'library', file: 'mailvet-engine' },
  '@mailvet/client': { folder: 'sdk', file: 'mailvet-client' },
} as const;

/** Their tarballs. */
export const PACKED = join(ROOT, '.cache/packed');
/** The frameworks, tools and versions of Node that they are used with. */
export const CONSUMER = join(ROOT, '.cache/consumer');

export const tarball = (name: keyof typeof PACKAGES): string => {
  const { folder, file } = PACKAGES[name];
  const { version } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
  return join(PACKED, `${file}-${version}.tgz`);
};

/** A command of the consumer. */
export const tool = (name: string): string => join(CONSUMER, 'node_modules/.bin', name);

/** Its npm package has a script that downloads; the binary is in one for each platform. */
export const BUN = join(
  CONSUMER,
  `node_modules/@oven/bun-linux-${process.arch === 'arm64' ? 'aarch64' : process.arch}/bin/bun`,
);

const of = (major: number) => join(CONSUMER, `node_modules/node-${major}-${process.arch}/bin/node`);
export const NODES = { '20.19': of(20), 22: of(22), 24: process.execPath } as const;

/** The programs see these libraries alone, and the packages of the consumer above them. */
export function emptyProject(name: string): string {
  const folder = join(CONSUMER, 'projects', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: name.replaceAll(' ', '-'), private: true }));
  return folder;
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, with `node` first on the PATH. */
export async function run(
  cwd: string,
  command: string,
  args: readonly string[],
  { node = process.execPath, env = {} }: { node?: string; env?: Record<string, string> } = {},
): Promise<Ran> {
  const { NODE_OPTIONS: _options, NODE_COMPILE_CACHE: _cache, VITEST: _vitest, ...rest } = process.env;
  const path = [dirname(node), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);
  try {
    const options = { cwd, env: { ...rest, CI: 'true', NO_COLOR: '1', ...env, PATH: path }, maxBuffer: 1 << 26 };
    return { code: 0, ...(await promisify(execFile)(command, args, options)) };
  } catch (error) {
    if (error instanceof Error && 'stdout' in error && 'stderr' in error && 'code' in error)
      return { code: Number(error.code), stdout: String(error.stdout), stderr: String(error.stderr) };
    throw error;
  }
}
