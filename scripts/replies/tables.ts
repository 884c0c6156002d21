import {
  agrees,
  agreesStrictly,
  type Evaluated,
  isBad,
  isFalsePositive,
} from '../../src/engine/smtp/classify/evaluation.ts';
import { FOLDS, type Held } from './folds.ts';

const percent = (part: number, whole: number): string => `${((100 * part) / Math.max(whole, 1)).toFixed(1)} %`;

interface Figures {
  readonly replies: number;
  readonly strict: number;
  readonly fair: number;
  readonly falseBad: number;
}

const figures = (of: readonly Evaluated[]): Figures => ({
  replies: of.length,
  strict: of.filter(agreesStrictly).length,
  fair: of.filter(agrees).length,
  falseBad: of.filter(isFalsePositive).length,
});

const line = (name: string, of: readonly Evaluated[]): string => {
  const { replies, strict, fair, falseBad } = figures(of);
  return `| ${name} | ${replies} | ${strict} | ${percent(strict, replies)} | ${fair} | ${percent(fair, replies)} | ${falseBad} |`;
};

const head = (what: string): string =>
  `| ${what} | replies | strict | | with \`also_ok\` | | false dead mailbox |\n|---|--:|--:|--:|--:|--:|--:|`;

function grouped<T extends Evaluated>(what: string, of: readonly T[], key: (one: T) => string): string {
  const keys = [...new Set(of.map(key))].sort();
  return [
    head(what),
    ...keys.map((name) =>
      line(
        name,
        of.filter((one) => key(one) === name),
      ),
    ),
    line('**all**', of),
  ].join('\n');
}

export const byLabel = (of: readonly Evaluated[]): string => grouped('label', of, ({ reply }) => reply.label);
export const byLanguage = (of: readonly Held[]): string => grouped('language', of, ({ language }) => language);
export const bySet = <T extends Evaluated>(of: readonly T[], key: (one: T) => string): string =>
  grouped('set', of, key);

/** The mean over the folds of a share of each, in percent. */
export function mean(of: readonly Held[], share: (fold: readonly Held[]) => number): string {
  const folds = Array.from({ length: FOLDS }, (_, fold) => of.filter((one) => one.fold === fold));
  const shares = folds.map(share).filter((one) => !Number.isNaN(one));
  return `${((100 * shares.reduce((sum, one) => sum + one, 0)) / shares.length).toFixed(1)} %`;
}

export const isGone = ({ reply }: Evaluated): boolean => reply.label === 'mailbox_not_found' && reply.code >= 500;
export const isAboutUs = ({ reply }: Evaluated): boolean =>
  ['blocked', 'rate_limited', 'greylisted', 'temporary_failure'].includes(reply.label);
export const recognized = (of: readonly Evaluated[]): number => of.filter(({ reading }) => isBad(reading)).length;

export const misses = (of: readonly Evaluated[]): string[] =>
  of
    .filter((one) => !agreesStrictly(one))
    .map((one) => {
      const { reply, label, reading } = one;
      const kind = isFalsePositive(one) ? 'FALSE POSITIVE' : agrees(one) ? 'also ok' : 'differs';
      return `${kind}: ${reply.label} read as ${label} by ${reading.rule}: ${reply.code} ${reply.enhanced ?? ''} ${reply.text}`;
    });
