import { Command } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import { command, Failed, optionsFrom, say, sentenceOf } from './command.ts';

export function listsCommand(): Command {
  const group = new Command('lists').description('The lists of disposable, free and relay domains.');
  group.addCommand(update());
  group.addCommand(show());
  return group;
}

const update = () =>
  command('update', 'Fetch the newest disposable list; the service takes it without a restart.', 'lists').action(
    async (flags: { json?: boolean }) => {
      const options = optionsFrom(flags, 'lists');
      const { fetchLists, summaryLine } = await import('../service/lists.ts');
      const summary = await fetchLists(options, systemClock).catch((error: unknown) => {
        throw new Failed(sentenceOf(error));
      });
      say(flags, summary, summaryLine(summary));
    },
  );

const show = () =>
  command('show', 'Say why a domain is, or is not, on the lists.', 'lists')
    .argument('<domain>')
    .action(async (domain: string, flags: { json?: boolean }) => {
      const { watchLists } = await import('../engine/lists/watch.ts');
      const lists = watchLists(optionsFrom(flags, 'lists').listsDir, systemClock).current;
      const found = lists.explain(domain.trim().toLowerCase());
      const { explanationLines } = await import('../engine/lists/explain.ts');
      say(flags, found, explanationLines(found).join('\n'));
    });
