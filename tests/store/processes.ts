/** Starts process.ts, and sees to its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const SCRIPT = fileURLToPath(new URL('process.ts', import.meta.url));

interface Process {
  readonly child: ChildProcess;
  /** What it has said so far, parsed. */
  readonly said: unknown[];
  /** Sends it a line. */
  tell(line: string): void;
  /** Resolves when it has said so many things. */
  hasSaid(count: number): Promise<void>;
  ended(): Promise<void>;
}

/** Resolves when the process has opened the store. */
export const startProcess = (url: string, job: string, hash = '', count = 0): Promise<Process> =>
  startScript(SCRIPT, [url, job, hash, String(count)]);

/** Resolves when the script has printed `ready`. It is killed after the test. */
export async function startScript(script: string, args: readonly string[]): Promise<Process> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const lines = createInterface({ input: child.stdout });
  const exit = Promise.all([once(child, 'exit'), once(lines, 'close')]);
  const said: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`The process ended with ${code}.`)));
    lines.on('line', (line) => {
      if (line === 'ready') resolve();
      // A killed process may leave half a line.
      else if (/^["{].*["}]$/.test(line)) said.push(JSON.parse(line));
    });
  });
  return {
    child,
    said,
    tell: (line) => child.stdin.write(`${line}\n`),
    async hasSaid(wanted) {
      while (said.length < wanted) {
        if (child.exitCode !== null) throw new Error(`The process ended with ${child.exitCode}.`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    ended: () => exit.then(() => undefined),
  };
}
