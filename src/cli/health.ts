import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { publicUrlOf } from '../config/read.ts';
import { systemClock } from '../kernel/clock.ts';
import { messageOf } from '../kernel/errors.ts';
import { CommandFailure, command, optionsFrom, printable, printResult, table, wholeNumber } from './command.ts';

/** Longer than its checks may take. */
const REQUEST_TIMEOUT_MS = 5_000;
const WAIT_MAX_SECONDS = 3600;
const READY_POLL_MS = 100;

interface Readiness {
  readonly status: string;
  readonly checks: Readonly<Record<string, { readonly status: string; readonly reason?: string }>>;
}

export const healthCommand = (): Command =>
  command('health', 'Ask the service on this host whether it is ready; exit with 1 if it is not.')
    .option('--wait <seconds>', 'how long to wait until it is ready', wholeNumber('--wait', 0, WAIT_MAX_SECONDS), 0)
    .action(async (flags: { json?: boolean; wait: number }) => {
      const { host, port } = optionsFrom(flags, 'health');
      const url = `${publicUrlOf(host, port)}/readyz`;
      const untilMs = systemClock.elapsed() + flags.wait * 1000;
      while (systemClock.elapsed() < untilMs && !(await isReady(url))) await sleep(READY_POLL_MS);
      const body = await fetch(url, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
        .then(async (reply) => ({ status: reply.status, json: await reply.json() }))
        .catch((error: unknown) => {
          const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
          throw new CommandFailure(
            `${url} does not answer: ${messageOf(cause)}. Does the service run, with this MAILVET_HOST and MAILVET_PORT?`,
          );
        });
      if (!isReadiness(body.json)) throw new CommandFailure(`${url} is not of a Mailvet service.`);
      const rows = Object.entries(body.json.checks).map(([name, { status, reason }]) => [name, status, reason ?? null]);
      printResult(flags, body.json, `${printable(body.json.status)}\n${table(rows, ['CHECK', 'STATUS', 'REASON'])}`);
      if (body.status !== 200) process.exitCode = 1;
    });

const isReady = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) }).then(
    ({ ok }) => ok,
    () => false,
  );

const isReadiness = (json: unknown): json is Readiness =>
  typeof json === 'object' && json !== null && 'status' in json && 'checks' in json;
