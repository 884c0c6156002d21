import type { Command } from 'commander';
import { configuredPlans } from '../config/plans.ts';
import { command, optionsFrom, printResult } from './command.ts';

export const plansCommand = (): Command =>
  command(
    'plans',
    'Print the plans in force as a plans file, to begin one of your own with; mistakes in MAILVET_PLANS_FILE fail it.',
  ).action(async (flags: { json?: boolean }) => {
    const plans = await configuredPlans(optionsFrom(flags, 'plans'));
    const { plansFileEntries, plansFileText } = await import('../config/plans-file.ts');
    printResult(flags, plansFileEntries(plans), plansFileText(plans).trimEnd());
  });
