import { Command } from 'commander';
import { UsageError } from './command.ts';

/** The commands about disposable domains had this name. */
const MOVED = ['update', 'show'] as const;

export function listsCommand(): Command {
  const group = new Command('lists').description('Former name of mailvet disposable.');
  for (const name of MOVED) group.addCommand(moved(name), { hidden: true });
  return group;
}

/** Takes whatever the former command took, and says what its name is now. */
const moved = (name: string): Command =>
  new Command(name)
    .argument('[any...]')
    .allowUnknownOption()
    .action(() => {
      throw new UsageError(`this command is now mailvet disposable ${name}.`);
    });
