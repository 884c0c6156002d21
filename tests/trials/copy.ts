/**
 * A copy of the sources in a folder of its own, to change one fact in and see what compiler, generator and tests say.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const COPIED = [
  'bin',
  'src',
  'tests',
  'scripts',
  'bench',
  'sdk',
  'web',
  'docs',
  'data',
  'migrations',
  'clients',
  'library',
  'man',
];
const FILES = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.node20.json',
  'vitest.config.ts',
  '.env.example',
  'LICENSE',
];
const LINKED = ['node_modules', 'sdk/node_modules', 'dist'];

interface Ran {
  readonly ok: boolean;
  readonly output: string;
}

export interface Copy {
  read(path: string): string;
  write(path: string, text: string): void;
  /** Replaces `from`, which must be there exactly once. */
  edit(path: string, from: string, to: string): void;
  /**
   * The files with errors of the compiler, each once, sorted; `project` is a folder with a tsconfig.json, or such a
   * file.
   */
  compile(project?: '.' | 'sdk' | 'web' | 'tsconfig.node20.json'): string[];
  /** What `npm run gen --check` calls stale. */
  stale(): string[];
  generate(): void;
  /** Runs test files of the copy. */
  test(...files: string[]): Ran;
  remove(): void;
}

export function copySources(): Copy {
  const root = mkdtempSync(join(tmpdir(), 'mailvet-trial-'));
  const filter = (path: string) => !/[\\/](node_modules|dist)$/.test(path);
  for (const name of [...COPIED, ...FILES]) cpSync(join(ROOT, name), join(root, name), { recursive: true, filter });
  for (const name of LINKED) symlinkSync(join(ROOT, name), join(root, name));
  // Without the build of the command that other tests begin with.
  const test = { include: ['**/*.test.ts', '**/*.copy.ts'], pool: 'forks', testTimeout: 30_000, hookTimeout: 30_000 };
  writeFileSync(join(root, 'trial.config.ts'), `export default ${JSON.stringify({ test })};\n`);

  const run = (...args: string[]): Ran => {
    const env = { ...process.env, NO_COLOR: '1' };
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' });
    return { ok: status === 0, output: stdout + stderr };
  };
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const write = (path: string, text: string) => writeFileSync(join(root, path), text);

  return {
    read,
    write,
    edit(path, from, to) {
      const parts = read(path).split(from);
      if (parts.length !== 2) throw new Error(`${path} has ${JSON.stringify(from)} ${parts.length - 1} times`);
      write(path, parts.join(to));
    },
    compile(project = '.') {
      // Several threads take twice the time of the CPU, which other trials need.
      const how = ['--noEmit', '--pretty', 'false', '--singleThreaded'];
      const { ok, output } = run('node_modules/typescript/bin/tsc', ...how, '-p', project);
      const files = [...output.matchAll(/^(\S+?)\(\d+,\d+\): error/gm)].map(([, file]) => file ?? '');
      if (!ok && files.length === 0) throw new Error(output);
      return [...new Set(files)].sort();
    },
    stale() {
      const { ok, output } = run('scripts/gen.ts', '--check');
      const files = [...output.matchAll(/^stale: (.*)$/gm)].map(([, file]) => file ?? '');
      if (!ok && files.length === 0) throw new Error(output);
      return files.sort();
    },
    generate() {
      const { ok, output } = run('scripts/gen.ts');
      if (!ok) throw new Error(output);
    },
    test: (...files) => run('node_modules/vitest/vitest.mjs', 'run', '--config', 'trial.config.ts', ...files),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
