/** Who can read the files of a SQLite store, with the real command under an ordinary umask. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { startProcess } from '../lab/process.ts';
import { ENGINE } from '../lab/stores.ts';

vi.setConfig({ testTimeout: 60_000 });

const top = mkdtempSync(join(tmpdir(), 'mailvet-modes-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const environmentOf = (folder: string, more: Record<string, string> = {}) => ({
  MAILVET_DATABASE_URL: `sqlite:${join(folder, 'mailvet.db')}`,
  MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
  ...more,
});

async function underUmask<T>(mask: number, work: () => Promise<T>): Promise<T> {
  const before = process.umask(mask);
  try {
    return await work();
  } finally {
    process.umask(before);
  }
}

describe.runIf(ENGINE === 'sqlite' && process.platform !== 'win32')('the files of a store', () => {
  it('are for their owner only, with those beside them and the folders made for them', async () => {
    const folder = join(top, 'var', 'store');
    const service = await underUmask(0o022, () => startProcess(environmentOf(folder)));
    try {
      expect([modeOf(join(top, 'var')), modeOf(folder)]).toEqual(['700', '700']);
      const files = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());
      expect(files).toEqual(expect.arrayContaining(['mailvet.db', 'mailvet.db-shm', 'mailvet.db-wal']));
      expect(files.filter((name) => modeOf(join(folder, name)) !== '600')).toEqual([]);
    } finally {
      await service.end('SIGTERM');
    }
  });

  it('are named at the start when they are open to others, with the command that mends it', async () => {
    const folder = join(top, 'old');
    await (await startProcess(environmentOf(folder))).end('SIGTERM');
    const file = join(folder, 'mailvet.db');
    chmodSync(file, 0o644);
    expect(await warningsOf(folder)).toContainEqual(
      expect.objectContaining({ path: file, mode: '0644', fix: `chmod 0600 '${file}'` }),
    );
    chmodSync(file, 0o600);
    expect((await warningsOf(folder)).filter((line) => 'fix' in line)).toEqual([]);
  });
});

/** The log of a start and a stop. */
async function warningsOf(folder: string): Promise<Record<string, unknown>[]> {
  const environment = environmentOf(folder, {
    MAILVET_PORT: '0',
    MAILVET_LOG_LEVEL: 'warn',
    MAILVET_DRAIN_SECONDS: '0',
  });
  const child = spawn(process.execPath, ['bin/mailvet.mjs', 'serve', '--json'], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  const lines: Record<string, unknown>[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const parsed: Record<string, unknown> = JSON.parse(line);
    if ('url' in parsed) child.kill('SIGTERM');
    else lines.push(parsed);
  }
  await exited;
  return lines;
}
