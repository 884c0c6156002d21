import { Command } from 'commander';
import { accountCommand } from './account.ts';
import { auditCommand } from './audit.ts';
import { backupCommand } from './backup.ts';
import { completionCommand } from './completion.ts';
import { configCommand } from './config.ts';
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
import { plansCommand } from './plans.ts';
import { privacyCommand } from './privacy.ts';
import { relayCommand } from './relay.ts';
import { repliesCommand, replyCommand } from './reply.ts';
import { serveCommand } from './serve.ts';
import { usageCommand } from './usage.ts';
import { userCommand } from './user.ts';
import { verifyCommand } from './verify.ts';
import { versionCommand, versionText } from './version.ts';
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
