import { hostname } from 'node:os';
import { Command } from 'commander';
import { configuredPlans } from '../config/plans.ts';
import { effectiveOptions } from '../config/read.ts';
import { COMMIT, VERSION } from '../kernel/version.ts';
import { accountCommand } from './account.ts';
import { alertsCommand } from './alerts.ts';
import { backupCommand } from './backup.ts';
import {
  CommandFailure,
  command,
  flagValues,
  openConfiguredStore,
  optionsFrom,
  printResult,
  table,
  UsageError,
} from './command.ts';
import { completionCommand } from './completion.ts';
import { disposableCommand } from './disposable.ts';
import { doctorCommand } from './doctor.ts';
import { filtersCommand } from './filters.ts';
import { healthCommand } from './health.ts';
import { jobsCommand } from './jobs.ts';
import { keyCommand } from './key.ts';
import { listsCommand } from './lists.ts';
import { mcpCommand } from './mcp.ts';
import { migrateCommand } from './migrate.ts';
import { exportStoreCommand, importStoreCommand } from './move-store.ts';
import { operatorKeyCommand } from './operator-key.ts';
import { outcomesCommand } from './outcomes.ts';
import { privacyCommand } from './privacy.ts';
import { relayCommand } from './relay.ts';
import { repliesCommand, replyCommand } from './reply.ts';
import { serveCommand } from './serve.ts';
import { usageCommand } from './usage.ts';
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
