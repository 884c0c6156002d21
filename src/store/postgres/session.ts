/** A session of a connection, seen from another one. */
import type pg from 'pg';
import { onlyRow } from '../rows.ts';

/** Process IDs are used again, together with the start they are not. */
export interface Session {
  readonly pid: number;
  readonly start: string;
}

const OWN = `SELECT pid, extract(epoch FROM backend_start)::text AS start FROM pg_stat_activity
  WHERE pid = pg_backend_pid()`;
/** Ending sessions of one's own role needs no privilege. */
const END = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = $1 AND extract(epoch FROM backend_start)::text = $2`;

export async function sessionOf(client: pg.Client): Promise<Session> {
  return onlyRow((await client.query<{ pid: number; start: string }>(OWN)).rows);
}

/** True when the session has ended, with whatever it was doing; false when it was told to. */
export async function endSession(client: pg.Client, { pid, start }: Session): Promise<boolean> {
  return (await client.query(END, [pid, start])).rows.length === 0;
}
