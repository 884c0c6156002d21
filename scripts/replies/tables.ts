import { agrees, type Evaluated, isBad, isFalsePositive } from '../../src/engine/smtp/classify/evaluation.ts';

export const percent = (part: number, whole: number): string => `${((100 * part) / Math.max(whole, 1)).toFixed(1)} %`;

const DEAD_LABELS = ['mailbox_not_found', 'mailbox_disabled', 'mailbox_full', 'relay_denied', 'domain_error'];

export const isGone = ({ reply }: Evaluated): boolean => reply.label === 'mailbox_not_found' && reply.code >= 500;
/** About the client, the server or time, and no fair judge takes it for a dead mailbox. */
export const isAboutUs = ({ reply }: Evaluated): boolean =>
  ['blocked', 'rate_limited', 'greylisted', 'temporary_failure'].includes(reply.label) &&
  !reply.also_ok.some((label) => DEAD_LABELS.includes(label));
export const isFalselyDead = (one: Evaluated): boolean => isAboutUs(one) && isFalsePositive(one);
const recognized = (of: readonly Evaluated[]): number => of.filter(({ reading }) => isBad(reading)).length;

const HEAD = (what: string): string =>
  `| ${what} | replies | falsely dead | of | found | of | | right or acceptable | |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|`;

function line(name: string, of: readonly Evaluated[]): string {
  const [aboutUs, gone] = [of.filter(isAboutUs), of.filter(isGone)];
  const [found, fair] = [recognized(gone), of.filter(agrees).length];
  const share = gone.length === 0 ? '' : percent(found, gone.length);
  return `| ${name} | ${of.length} | ${of.filter(isFalselyDead).length} | ${aboutUs.length} | ${found} | ${gone.length} | ${share} | ${fair} | ${percent(fair, of.length)} |`;
}

export const lines = (what: string, rows: readonly (readonly [string, readonly Evaluated[]])[]): string =>
  [HEAD(what), ...rows.map(([name, of]) => line(name, of))].join('\n');

/** One line for each value of `key`, the most replies first. */
export function grouped<T extends Evaluated>(what: string, of: readonly T[], key: (one: T) => string): string {
  const groups = new Map<string, T[]>();
  for (const one of of) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
  const sorted = [...groups].sort(([a, many], [b, few]) => few.length - many.length || (a < b ? -1 : 1));
  return lines(what, [...sorted, ['**all**', of]]);
}

export const misses = (of: readonly (Evaluated & { readonly row?: { readonly id: string } })[]): string[] =>
  of
    .filter((one) => !agrees(one) || isFalselyDead(one))
    .map((one) => {
      const { reply, label, reading, row } = one;
      const kind = isFalselyDead(one) ? 'FALSELY DEAD' : isGone(one) && !isBad(reading) ? 'not found' : 'differs';
      return `${kind} ${row?.id ?? ''}: ${reply.label} read as ${label} by ${reading.rule} (${reading.probability ?? '-'}): ${reply.code} ${reply.enhanced ?? ''} ${reply.text.replaceAll('\n', ' ')}`;
    });
