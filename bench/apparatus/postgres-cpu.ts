import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { cpuSeconds } from './measure.ts';

/** Process ID of the server, which must run on this host and let us read its files. */
export async function serverPid(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ text: string }>(`SELECT pg_read_file('postmaster.pid') AS text`);
  await client.end();
  return Number.parseInt(rows[0]?.text ?? '', 10);
}

function childrenOf(pid: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.map(Number).filter((child) => parentOf(child) === pid);
}

function parentOf(pid: number): number | null {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
  } catch {
    // It has just ended.
    return null;
  }
}

/** CPU seconds of the server and of the processes that it has now. */
export const serverCpuSeconds = (pid: number): number =>
  [pid, ...childrenOf(pid)].reduce((sum, one) => sum + cpuSeconds(one), 0);
