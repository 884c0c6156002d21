import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { CalibratedVerdict, ListedContradiction } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { operatorName } from '../../parts/operator-name.ts';
import { Timestamp } from '../../parts/timestamp.tsx';
import { VerdictLine } from '../../parts/verdict/verdict-line.tsx';

export type VerdictKind = Pick<CalibratedVerdict, 'deliverability' | 'reason' | 'validation_type' | 'provider'>;

/** Of verdicts that differ by it alone: a full mailbox that is risky may be used again. */
const statusOf = ({ deliverability }: VerdictKind) => (deliverability === 'undeliverable' ? 'bad' : 'good');
/** In words, where there are no columns for it. */
const placeOf = (of: VerdictKind): string =>
  `${of.provider === null ? t`provider not known` : operatorName(of.provider)}, ${of.validation_type}`;
export const VerdictOf = ({ of }: { of: VerdictKind }) => <VerdictLine of={{ ...of, status: statusOf(of) }} />;

/** Of the operator's: it does not say of which verification. */
type Contradiction = Omit<ListedContradiction, 'verification_id'>;

const OUTCOME_LABELS: Readonly<Record<Contradiction['outcome'], string>> = {
  delivered: t`Delivered`,
  bounced: t`Bounced`,
};
/** The codes of a bounce and its words. */
const bounceOf = ({ code, template }: Contradiction): string =>
  [code, template].filter((part) => part !== null).join(' ');

/** The rule and the codes of the reply. */
function decidedBy({ rule, reply }: Contradiction): string {
  if (rule === null) return t`No mail server was asked`;
  return reply === null ? rule : t`${rule}, reply ${reply}`;
}

/** `verdict`: how the verdict of a row is shown. */
export function ContradictionsTable<T extends Contradiction>(props: {
  rows: readonly T[];
  rowKey: (row: T) => string | number;
  verdict: (row: T) => ReactNode;
}) {
  const columns: readonly Column<T>[] = [
    {
      header: t`Verdict`,
      cell: (row) => (
        <>
          {props.verdict(row)}
          <Text size="xs" c="dimmed">
            {placeOf(row)}
          </Text>
        </>
      ),
    },
    { header: t`Decided by`, folds: true, cell: (row) => <span className="anywhere">{decidedBy(row)}</span> },
    {
      header: t`Outcome`,
      cell: (row) => (
        <>
          <Text size="sm">{OUTCOME_LABELS[row.outcome]}</Text>
          <Text size="xs" className="anywhere">
            {bounceOf(row)}
          </Text>
        </>
      ),
    },
    { header: t`At`, folds: true, cell: ({ at }) => <Timestamp at={at} /> },
  ];
  return <DataTable label={t`Contradictions`} columns={columns} rows={props.rows} rowKey={props.rowKey} />;
}
