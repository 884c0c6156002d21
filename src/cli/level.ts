import { type Command, Option } from 'commander';
import { LEVELS, type Level } from '../kernel/facts/plans.ts';
import { UsageError } from './command.ts';

export interface LevelFlags {
  readonly level?: Level;
  readonly smtp?: true;
  readonly validationType?: Level;
}

/** `--level`. `--smtp`, its name in earlier versions, and `--validation-type`, that of the API, are accepted. */
export const withLevel = (command: Command, about: string): Command =>
  command
    .addOption(new Option('--level <level>', about).choices(LEVELS))
    .addOption(new Option('--smtp', 'the same as --level smtp').hideHelp())
    .addOption(new Option('--validation-type <level>', 'the same as --level').choices(LEVELS).hideHelp());

/** Undefined: none is given. Throws UsageError where two differ. */
export function levelOf({ level, smtp, validationType }: LevelFlags): Level | undefined {
  const given: readonly (Level | undefined)[] = [level, validationType, smtp ? 'smtp' : undefined];
  const levels = new Set(given.filter((one) => one !== undefined));
  if (levels.size > 1)
    throw new UsageError('--smtp and --validation-type are other names for --level: give one of them.');
  return [...levels][0];
}
