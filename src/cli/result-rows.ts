/** Which rows of results a command writes. */

import { deliverabilitiesIn } from '../kernel/facts/deliverability-choice.ts';
import { RESULT_FORMATS, type ResultFormat } from '../kernel/facts/lists.ts';
import type { Level } from '../kernel/facts/plans.ts';
import { DELIVERABILITIES, type Deliverability } from '../kernel/facts/reasons.ts';
import { choice } from '../kernel/format.ts';
import { UsageError } from './command.ts';

export const ONLY_HELP = `only these rows: ${DELIVERABILITIES.join(', ')}, several separated by commas, or !undeliverable for all but these`;

export function deliverabilities(text: string): readonly Deliverability[] {
  const chosen = deliverabilitiesIn(text);
  if (chosen !== null) return chosen;
  throw new UsageError(
    `--only takes ${choice(DELIVERABILITIES)}, separated by commas, or all but one as !undeliverable; it is ${JSON.stringify(text)}.`,
  );
}

/** Returns the format that the name of a file says, or null. */
export const formatByName = (out: string): ResultFormat | null =>
  RESULT_FORMATS.find((name) => out.toLowerCase().endsWith(`.${name}`)) ?? null;

/** Why nothing is found, where the level gives no such verdict; null: it does. Unasked, no mailbox is certain. */
export const neverFound = (level: Level, only: readonly Deliverability[]): string | null =>
  level === 'mx' && only.every((one) => one === 'deliverable')
    ? 'the level mx does not ask whether mailboxes exist, so no address is deliverable: verify at level smtp, or take --only !undeliverable.'
    : null;
