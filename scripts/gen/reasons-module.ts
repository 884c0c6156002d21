import {
  NO_REASON,
  NO_REASON_COPY,
  REASON_FILTERS,
  REASON_NAMES,
  REASONS,
  type VerdictCopy,
} from '../../src/kernel/reasons.ts';

/**
 * web/src/api/reasons.ts: labels and copy of the reasons, for the dashboard, which cannot import the server's sources.
 */
export function reasonsModule(): string {
  const rows = REASON_NAMES.map((name) => {
    const { label, copy } = REASONS[name];
    const shown =
      'title' in copy ? copyOf(copy) : `{\n      good: ${copyOf(copy.good)},\n      bad: ${copyOf(copy.bad)},\n    }`;
    return `  ${name}: {\n    label: ${JSON.stringify(label)},\n    copy: ${shown},\n  },\n`;
  });
  return `// Generated from src/kernel/reasons.ts by \`npm run gen\`; edit it there.
import type { Verification } from './schema.ts';

export type Reason = NonNullable<Verification['reason']>;

/** A verdict in plain English. */
export interface VerdictCopy {
  readonly title: string;
  readonly meaning: string;
  readonly advice: string;
}
export interface ReasonRow {
  readonly label: string;
  /** One text, or one per status if the reason occurs with both. */
  readonly copy: VerdictCopy | Readonly<Record<Verification['status'], VerdictCopy>>;
}

export const REASONS: Readonly<Record<Reason, ReasonRow>> = {
${rows.join('')}};

/** Stands for "no reason" in the filter of the log and in usage by reason. */
export const NO_REASON = ${JSON.stringify(NO_REASON)};
/** The values of the log's reason filter. */
export const REASON_FILTERS = ${JSON.stringify(REASON_FILTERS)} as const;

/** Verdicts without a reason, by billed level. */
export const NO_REASON_COPY: Readonly<Record<Verification['validation_type'], VerdictCopy>> = {
  mx: ${copyOf(NO_REASON_COPY.mx)},
  smtp: ${copyOf(NO_REASON_COPY.smtp)},
};
`;
}

/** The dashboard shows plain text, without the backticks around field names. */
const copyOf = ({ title, meaning, advice }: VerdictCopy): string =>
  JSON.stringify({ title, meaning, advice: advice.replaceAll('`', '') });
