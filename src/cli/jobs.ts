import { Command } from 'commander';
import { toIso, toIsoOrNull } from '../kernel/clock.ts';
import type { JobRecord } from '../service/jobs.ts';
import { CommandFailure, command, optionsFrom, printResult, table, wholeNumber, withStore } from './command.ts';

const JOBS_LIMIT = { min: 1, max: 1000, default: 100 } as const;

const jobJson = (job: JobRecord) => ({
  id: job.id,
  kind: job.kind,
  account_id: job.account,
  state: job.state,
  attempts: job.attempts,
  last_error: job.lastError,
  created_at: toIso(job.createdAt),
  at: toIsoOrNull(job.at),
});

export function jobsCommand(): Command {
  const group = new Command('jobs').description('Inspect background jobs; retry or drop those that failed.');
  group.addCommand(listJobsCommand());
  group.addCommand(retry());
  group.addCommand(drop());
  return group;
}

const listJobsCommand = () =>
  command('list', 'List failed jobs, newest first.', 'jobs')
    .option('--open', 'list the jobs that are waiting or running instead')
    .option('--limit <n>', 'number of jobs', wholeNumber('--limit', JOBS_LIMIT.min, JOBS_LIMIT.max), JOBS_LIMIT.default)
    .action(async (flags: { json?: boolean; open?: boolean; limit: number }) => {
      await withStore(optionsFrom(flags, 'jobs'), async (store) => {
        const { items, total } = await store.jobs.list({ failed: flags.open !== true, limit: flags.limit });
        const rows = items.map((job) => {
          const { id, kind, account_id, state, attempts, at, last_error } = jobJson(job);
          return [id, kind, account_id, state, attempts, at, last_error];
        });
        const text = table(rows, ['ID', 'KIND', 'ACCOUNT', 'STATE', 'ATTEMPTS', 'AT', 'LAST ERROR']);
        const more = total > items.length ? `\n${total - items.length} more` : '';
        printResult(flags, items.map(jobJson), `${text}${more}`);
      });
    });

const retry = () =>
  command('retry', 'Retry a failed job; it gets all its attempts again.', 'jobs')
    .argument('<id>')
    .action(async (id: string, flags: { json?: boolean }) => {
      await withStore(optionsFrom(flags, 'jobs'), async (store) => {
        const outcome = await store.jobs.retry(id);
        if (outcome === 'not_found') throw noFailedJob(id);
        if (outcome === 'conflict')
          throw new CommandFailure(`the same job is already waiting or running; drop ${JSON.stringify(id)}.`);
        printResult(flags, { id, retried: true }, `Job ${id} will run again.`);
      });
    });

const drop = () =>
  command('drop', 'Delete a failed job; its work is not done.', 'jobs')
    .argument('<id>')
    .action(async (id: string, flags: { json?: boolean }) => {
      await withStore(optionsFrom(flags, 'jobs'), async (store) => {
        if (!(await store.jobs.drop(id))) throw noFailedJob(id);
        printResult(flags, { id, dropped: true }, `Job ${id} was dropped.`);
      });
    });

const noFailedJob = (id: string) =>
  new CommandFailure(`there is no failed job ${JSON.stringify(id)}; see mailvet jobs list.`);
