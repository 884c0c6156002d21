import type { Command } from 'commander';
import { COMMIT, VERSION } from '../kernel/version.ts';
import { command, printResult } from './command.ts';

/** `0.1.0 (commit 94722bf0…, Node 24.21.0)` */
export const versionText = (): string =>
  `${VERSION} (${COMMIT === null ? 'from the sources' : `commit ${COMMIT}`}, Node ${process.versions.node})`;

export const versionCommand = (): Command =>
  command('version', 'Print the version, with the commit it was built from.').action((flags: { json?: boolean }) =>
    printResult(flags, { version: VERSION, commit: COMMIT, node: process.versions.node }, versionText()),
  );
