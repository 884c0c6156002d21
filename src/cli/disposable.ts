import { Command } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import { CommandFailure, command, messageOf, optionsFrom, printResult } from './command.ts';

export function disposableCommand(): Command {
  const group = new Command('disposable').description('Manage the lists of disposable, free and relay domains.');
  group.addCommand(update());
  group.addCommand(show());
  return group;
}

const update = () =>
  command(
    'update',
    'Download the latest disposable list; a running service picks it up without a restart.',
    'disposable',
  ).action(async (flags: { json?: boolean }) => {
    const options = optionsFrom(flags, 'disposable');
    const { fetchLists, summaryLine } = await import('../service/disposable-lists.ts');
    const summary = await fetchLists(options, systemClock).catch((error: unknown) => {
      throw new CommandFailure(messageOf(error));
    });
    printResult(flags, summary, summaryLine(summary));
  });

const show = () =>
  command('show', 'Show whether a domain is listed, and why.', 'disposable')
    .argument('<domain>')
    .action(async (domain: string, flags: { json?: boolean }) => {
      const { watchLists } = await import('../engine/lists/watch.ts');
      const lists = watchLists(optionsFrom(flags, 'disposable').listsDir, systemClock).current;
      const found = lists.explain(domain.trim().toLowerCase());
      const { explanationLines } = await import('../engine/lists/explain.ts');
      printResult(flags, found, explanationLines(found).join('\n'));
    });
