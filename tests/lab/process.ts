/** The service in a separate process, for tests that need one, such as killing it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../bin/mailvet.mjs', import.meta.url));

export interface Running {
  readonly url: string;
  /** The first line printed with `--json`. */
  readonly greeting: Readonly<Record<string, unknown>>;
  readonly child: ChildProcess;
  /** Lines printed so far, those of the log included. */
  readonly printed: readonly string[];
  /** Sends a signal and waits for the exit; returns the exit code, or the signal that killed it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

type Environment = Readonly<Record<string, string>>;

const inherited = (): Record<string, string> => {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, NODE_NO_WARNINGS: '1' };
};

/** Nobody waits for a load balancer here. */
const SERVE = {
  MAILVET_PORT: '0',
  MAILVET_LOG_LEVEL: 'error',
  MAILVET_DRAIN_SECONDS: '0',
  MAILVET_LISTS_UPDATE: 'off',
  MAILVET_LISTS_LEARN_HOSTS: 'false',
};

/** Starts `serve --json` and waits until it prints its URL. `cli`: the command of another version. */
export async function startProcess(
  environment: Environment,
  flags: readonly string[] = [],
  cli = CLI,
): Promise<Running> {
  const child = spawn(process.execPath, [cli, 'serve', '--json', ...flags], {
    env: { ...inherited(), ...SERVE, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  const greeting = await new Promise<{ url: string }>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${said.join('')}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const parsed = JSON.parse(line) as { url?: string };
      if (parsed.url) resolve({ ...parsed, url: parsed.url });
      said.push(line);
    });
  });
  return {
    url: greeting.url,
    greeting,
    child,
    printed: said,
    async end(signal) {
      if (child.exitCode !== null) return child.exitCode;
      if (child.signalCode !== null) return child.signalCode;
      const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
      child.kill(signal);
      const [code, killed] = await exited;
      return code ?? killed!;
    },
  };
}

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs one command to completion; `input` is its standard input. */
export const runCli = (args: readonly string[], environment: Environment = {}, input = '', cli = CLI): Promise<Ran> =>
  spawnCli(args, environment, input, cli).done;

/** A command that a test can interrupt. */
export function spawnCli(args: readonly string[], environment: Environment = {}, input = '', cli = CLI) {
  const child = spawn(process.execPath, [cli, ...args], {
    env: { ...inherited(), ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A command that reads no input may exit before it is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk;
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  return { child, done: ended.then(([code]): Ran => ({ code, out, err })) };
}

/** A value of PATH with the command `mailvet` of this tree, as samples of the documentation call it. */
export function pathWithMailvet(): string {
  const bin = mkdtempSync(join(tmpdir(), 'mailvet-bin-'));
  writeFileSync(join(bin, 'mailvet'), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`, { mode: 0o755 });
  return `${bin}${delimiter}${process.env.PATH}`;
}
