import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import type { Usage } from '../../sdk/src/index.ts';
import { configuredPlans } from '../config/plans.ts';
import { effectiveOptions, publicUrlOf } from '../config/read.ts';
import { systemClock } from '../kernel/clock.ts';
import { messageOf } from '../kernel/errors.ts';
import { counted, grouped } from '../kernel/format.ts';
import { COMMIT, VERSION } from '../kernel/version.ts';
import type { SchemaCheck, Store } from '../store/store.ts';
import { accountCommand } from './account.ts';
import { alertsCommand } from './alerts.ts';
import {
  CommandFailure,
  command,
  flagValues,
  openConfiguredStore,
  optionsFrom,
  printable,
  printResult,
  table,
  UsageError,
  wholeNumber,
} from './command.ts';
import { completionCommand } from './completion.ts';
import { disposableCommand } from './disposable.ts';
import { doctorCommand } from './doctor.ts';
import { filtersCommand } from './filters.ts';
import { jobsCommand } from './jobs.ts';
import { keyCommand } from './key.ts';
import { listsCommand } from './lists.ts';
import { mcpCommand } from './mcp.ts';
import { exportStoreCommand, importStoreCommand } from './move-store.ts';
import { operatorKeyCommand } from './operator-key.ts';
import { outcomesCommand } from './outcomes.ts';
import { privacyCommand } from './privacy.ts';
import { createShareBar } from './progress.ts';
import { relayCommand } from './relay.ts';
import { repliesCommand, replyCommand } from './reply.ts';
import { serveCommand } from './serve.ts';
import { withServer } from './server-error.ts';
import { userCommand } from './user.ts';
import { verifyCommand } from './verify.ts';
import { webhooksCommand } from './webhooks.ts';

/** `mailvet` with all its commands. Also what completion and the manual page are made of. */
export function createProgram(): Command {
  const program = new Command('mailvet')
    .description('Self-hosted email verification.')
    .version(versionText(), '-v, --version')
    .showHelpAfterError('(run mailvet <command> --help for usage)')
    .exitOverride();
  const commands = [
    serveCommand,
    verifyCommand,
    relayCommand,
    accountCommand,
    plansCommand,
    keyCommand,
    operatorKeyCommand,
    userCommand,
    listsCommand,
    filtersCommand,
    webhooksCommand,
    alertsCommand,
    usageCommand,
    disposableCommand,
    mcpCommand,
    replyCommand,
    repliesCommand,
    outcomesCommand,
    privacyCommand,
    jobsCommand,
    doctorCommand,
    healthCommand,
    configCommand,
    backupCommand,
    exportStoreCommand,
    importStoreCommand,
    auditCommand,
    migrateCommand,
    versionCommand,
    completionCommand,
  ];
  for (const make of commands) program.addCommand(make());
  return program;
}

/** `0.1.0 (commit 94722bf0…, Node 24.21.0)` */
const versionText = (): string =>
  `${VERSION} (${COMMIT === null ? 'from the sources' : `commit ${COMMIT}`}, Node ${process.versions.node})`;

const versionCommand = (): Command =>
  command('version', 'Print the version, with the commit it was built from.').action((flags: { json?: boolean }) =>
    printResult(flags, { version: VERSION, commit: COMMIT, node: process.versions.node }, versionText()),
  );

const plansCommand = (): Command =>
  command(
    'plans',
    'Print the plans in force as a plans file, to begin one of your own with; mistakes in MAILVET_PLANS_FILE fail it.',
  ).action(async (flags: { json?: boolean }) => {
    const plans = await configuredPlans(optionsFrom(flags, 'plans'));
    const { plansFileEntries, plansFileText } = await import('../config/plans-file.ts');
    printResult(flags, plansFileEntries(plans), plansFileText(plans).trimEnd());
  });

const configCommand = (): Command =>
  command(
    'config',
    'Print the options that are in effect, and where each comes from; secrets are not shown.',
    'serve',
  ).action((flags: { json?: boolean }) => {
    const read = effectiveOptions(flagValues(flags, 'serve'), hostname());
    if (!read.ok) throw new UsageError(read.problems.join('\n'));
    const rows = read.options.map(({ name, value, from }) => [name, value, from]);
    printResult(flags, read.options, table(rows, ['OPTION', 'VALUE', 'FROM']));
  });

const auditCommand = (): Command =>
  command(
    'audit',
    'Check that balances, holds, ledger, log and usage counters agree, also while the service runs; exit with 1 if not.',
  ).action(async (flags: { json?: boolean }) => {
    const store = await openConfiguredStore(optionsFrom(flags, 'audit'));
    try {
      const { version, pending } = await store.checkSchema();
      if (pending.length > 0)
        throw new CommandFailure(`The store is at schema version ${version}: run mailvet migrate first.`);
      const problems = await store.accounts.audit();
      printResult(flags, { problems }, problems.length === 0 ? 'All sums agree.' : problems.join('\n'));
      if (problems.length > 0) process.exitCode = 1;
    } finally {
      await store.close();
    }
  });

const usageCommand = (): Command =>
  command('usage', 'Plan, credits and rate limit of the account of MAILVET_KEY, on a server.', 'usage').action(
    async (flags: { json?: boolean }) => {
      await withServer(flags, 'usage', async (mailvet) => {
        const usage = await mailvet.usage();
        printResult(flags, usage, usageText(usage));
      });
    },
  );

function usageText({ plan, period, credits, rate_limit: rate, totals, validation_types: levels }: Usage): string {
  const prices = Object.entries(levels).map(([level, { credits: price, available }]) =>
    available ? `${level} for ${counted(price, 'credit')}` : `${level} not in this plan`,
  );
  return [
    `Plan ${plan}: ${prices.join(', ')}`,
    `${counted(credits.remaining, 'credit')} left, ${grouped(credits.locked)} held, ${grouped(credits.used)} used since ${period.start.slice(0, 10)}`,
    `${grouped(rate.remaining)} of ${counted(rate.limit, 'request')} left in this window of ${grouped(rate.window_seconds)} seconds`,
    `${counted(totals.requests, 'verification')} since ${period.start.slice(0, 10)}: ${grouped(totals.good)} good, ${grouped(totals.bad)} bad`,
  ].join('\n');
}

/** Longer than its checks may take. */
const REQUEST_TIMEOUT_MS = 5_000;
const WAIT_MAX_SECONDS = 3600;
const READY_POLL_MS = 100;

interface Readiness {
  readonly status: string;
  readonly checks: Readonly<Record<string, { readonly status: string; readonly reason?: string }>>;
}

const healthCommand = (): Command =>
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

const migrateCommand = (): Command =>
  command(
    'migrate',
    'Migrate the store to the current version; fails if a newer version of Mailvet has migrated it and is not compatible.',
  )
    .option('--check', 'change nothing; exit with 1 if migrations are pending')
    .action(async (flags: { json?: boolean; check?: boolean }) => {
      const store = await openConfiguredStore(optionsFrom(flags, 'migrate'), { creates: !flags.check });
      try {
        await (flags.check ? reportSchema(store, flags) : applyMigrations(store, flags));
      } finally {
        await store.close();
      }
    });

async function applyMigrations(store: Store, flags: { json?: boolean }): Promise<void> {
  const { from, to } = await store.migrate();
  const text = from === to ? `The store is at version ${to}.` : `Migrated the store from version ${from} to ${to}.`;
  printResult(flags, { from, to }, text);
}

async function reportSchema(store: Store, flags: { json?: boolean }): Promise<void> {
  const found = await store.checkSchema();
  const { version, compatibleFrom, known, pending, rolling } = found;
  const json = {
    schema_version: version,
    compatible_from: compatibleFrom,
    known_version: known,
    pending: pending.map((one) => ({ version: one.version, name: one.name, compatible_from: one.compatibleFrom })),
    old_nodes_keep_working: rolling,
  };
  printResult(flags, json, schemaText(found));
  if (pending.length > 0) process.exitCode = 1;
}

function schemaText({ version, known, pending, rolling }: SchemaCheck): string {
  if (version > known) return `The store is at version ${version}, newer than this Mailvet, which can use it.`;
  if (pending.length === 0) return `The store is at version ${version}: nothing to migrate.`;
  const rows = pending.map((one) => [one.version, one.name, one.compatibleFrom]);
  return [
    table(rows, ['PENDING', 'NAME', 'COMPATIBLE FROM']),
    rolling
      ? `Nodes of version ${version} keep working meanwhile: they can be replaced one after the other.`
      : `Nodes of version ${version} cannot charge afterwards: stop them first.`,
  ].join('\n');
}

const backupCommand = (): Command =>
  command('backup', 'Copy an SQLite store to a file, also while the service runs; the copy is consistent and checked.')
    .argument('<file>', 'where to write the copy')
    .option('--force', 'replace the file if it exists')
    .action(async (to: string, flags: { json?: boolean; force?: boolean }) => {
      const { databaseUrl: url } = optionsFrom(flags, 'backup');
      if (!url.startsWith('sqlite:')) throw new UsageError(POSTGRES);
      if (url === 'sqlite::memory:') throw new UsageError('A store in memory cannot be backed up.');
      const [{ FileRefused }, { backupSqlite }] = await Promise.all([
        import('../store/new-file.ts'),
        import('../store/sqlite/backup.ts'),
      ]);
      const terminal = process.stderr.isTTY && flags.json !== true;
      const onProgress = createShareBar(systemClock, (text) => void (terminal && process.stderr.write(text)));
      try {
        const request = { url, to, force: flags.force === true, signal: interruption(), onProgress };
        const { file, bytes, schemaVersion } = await backupSqlite(request);
        onProgress(1);
        const size = `${grouped(Math.ceil(bytes / 1e6))} MB`;
        printResult(
          flags,
          { file, bytes, schema_version: schemaVersion },
          `Backed up the store to ${file}: ${size}, schema version ${schemaVersion}, checked.`,
        );
      } catch (error) {
        onProgress(1);
        throw error instanceof FileRefused ? new UsageError(error.message) : new CommandFailure(messageOf(error));
      }
    });

const POSTGRES =
  'This store is a PostgreSQL database: back it up with pg_dump, or with base backups and WAL archiving ' +
  '(https://www.postgresql.org/docs/current/backup.html; docs/backups.md).';

/** Aborts at Ctrl-C and the like; a repeated signal does not hinder the cleaning up. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  const stop = () => controller.abort(new CommandFailure('Interrupted: no backup was written.'));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop);
  return controller.signal;
}
