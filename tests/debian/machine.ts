/**
 * A machine with only Node and npm: clones and projects in temporary folders, and a PATH with only the system's node,
 * npm, npx and sh.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export interface Machine {
  /** Temporary; deleted at the end. */
  readonly dir: string;
  /** The system's node, not the project's. */
  readonly node: string;
  /** Runs a command to completion. */
  run(cwd: string, command: string, args: readonly string[], env?: Record<string, string>): Promise<Run>;
  /** Starts a command in its own process group, as a terminal does. */
  start(cwd: string, command: string, args: readonly string[], env?: Record<string, string>): Running;
  remove(): void;
}
interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}
export interface Running {
  readonly pid: number;
  readonly ended: Promise<Run>;
  /** Output so far, of both streams. */
  output(): string;
  /** Waits for a text on either stream; throws with all output if the command ends or `ms` have passed. */
  printed(pattern: RegExp, ms: number): Promise<RegExpExecArray>;
  /** Signals the whole group, as Ctrl-C does, or only the process. */
  signal(signal: NodeJS.Signals, whom: 'group' | 'process'): void;
}

export function freshMachine(): Machine {
  const dir = mkdtempSync(join(tmpdir(), 'mailvet-machine-'));
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  for (const name of ['node', 'npm', 'npx', 'sh']) symlinkSync(realpathSync(systemCommand(name)), join(bin, name));
  const own = /^(npm_|MAILVET_|VITEST|NODE_|DATABASE_URL|PORT$|CI$|TEST$|INIT_CWD$)/;
  const kept = Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
  // Settings for certificates belong to the machine.
  const { NODE_EXTRA_CA_CERTS } = process.env;
  const base = {
    ...kept,
    ...(NODE_EXTRA_CA_CERTS ? { NODE_EXTRA_CA_CERTS } : {}),
    PATH: bin,
    MAILVET_DRAIN_SECONDS: '0',
  };
  const groups: ChildProcess[] = [];

  const start: Machine['start'] = (cwd, command, args, env = {}) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...base, ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    groups.push(child);
    return follow(child);
  };
  return {
    dir,
    node: join(bin, 'node'),
    start,
    run: (cwd, command, args, env) => start(cwd, command, args, env).ended,
    remove() {
      for (const child of groups) stopGroup(child, 'SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function systemCommand(name: string): string {
  const dirs = process.env.PATH!.split(delimiter).filter((dir) => !dir.includes('node_modules'));
  const found = dirs.map((dir) => join(dir, name)).find((path) => existsSync(path));
  if (!found) throw new Error(`There is no ${name} on the PATH beside this project's own.`);
  return found;
}

function stopGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-child.pid!, signal);
  } catch {
    // The whole group has already ended.
  }
}

function follow(child: ChildProcess): Running {
  let stdout = '';
  let stderr = '';
  let ended = false;
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    tell();
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    tell();
  });
  const end = new Promise<Run>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      ended = true;
      tell();
      resolve({ code, stdout, stderr });
    });
  });
  const output = () => `${stdout}\n${stderr}`;
  return {
    pid: child.pid!,
    ended: end,
    output,
    printed: (pattern, ms) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => done(new Error(`${pattern} was not printed in ${ms} ms:\n${output()}`)), ms);
        const done = (result: RegExpExecArray | Error) => {
          clearTimeout(late);
          listeners.delete(look);
          if (result instanceof Error) reject(result);
          else resolve(result);
        };
        const look = () => {
          const match = pattern.exec(stdout) ?? pattern.exec(stderr);
          if (match) done(match);
          else if (ended) done(new Error(`It ended before it printed ${pattern}:\n${output()}`));
        };
        listeners.add(look);
        look();
      }),
    signal: (signal, whom) => (whom === 'group' ? stopGroup(child, signal) : child.kill(signal)),
  };
}

/** The files of a clone of the working tree: tracked ones and new ones that are not ignored. */
export function cloneTo(folder: string): void {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const names = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 });
  for (const name of names.split('\0')) {
    if (name === '' || !existsSync(join(ROOT, name))) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(ROOT, name), join(folder, name));
  }
}

export function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** The request that the printed `curl` command would send. */
export function requestOf(curl: string): { url: string; init: RequestInit } {
  const words = [...curl.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]!);
  const headers: Record<string, string> = {};
  let url = '';
  let body = '';
  for (let i = 1; i < words.length; i++) {
    const word = words[i]!;
    if (word === '-H') {
      const [name = '', value = ''] = words[++i]!.split(/: (.*)/);
      headers[name] = value;
    } else if (word === '-d') body = words[++i]!;
    else if (!word.startsWith('-')) url = word;
  }
  return { url, init: { method: 'POST', headers, body } };
}
