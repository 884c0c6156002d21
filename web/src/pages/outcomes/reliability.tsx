import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CALIBRATION_LEAST } from '../../../../src/kernel/facts/calibration.ts';
import { LOG_CONFIDENCES } from '../../../../src/kernel/facts/log-filters.ts';
import type { Reliability } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatShare } from '../../parts/delta.ts';
import { formatNumber } from '../../parts/format.ts';
import { Pair, Panel } from '../../parts/panel.tsx';
import type { LogSearch } from '../log/search.ts';
import css from './outcomes.module.css';

/** From a number to the verifications that it counts. */
export const RowsLink = ({ search, children }: { search: LogSearch; children: ReactNode }) => (
  <Anchor inherit renderRoot={(props) => <Link {...props} to="/log" search={search} />}>
    {children}
  </Anchor>
);

/** A share of `n`, or that there are too few; nothing is a number without its count. */
export function ShareOf({ share, low, high, n }: Interval & { share: number | null; n: number }) {
  if (share === null || low === null || high === null)
    return (
      <Text size="xs" c="dimmed">
        <Trans>
          Too few: {formatNumber(n)} of {CALIBRATION_LEAST}
        </Trans>
      </Text>
    );
  return (
    <>
      {formatShare(share)}
      <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {intervalOf({ low, high })}
      </Text>
    </>
  );
}

interface Interval {
  readonly low: number | null;
  readonly high: number | null;
}

/** `0.2 to 0.7 %`. */
export const intervalOf = ({ low, high }: Interval): string =>
  t`${formatShare(low).replace(' %', '')} to ${formatShare(high)}`;

const confidenceAt = (from: number) => LOG_CONFIDENCES[Math.round(from * 10)] ?? '90-100';

const COLUMNS: readonly Column<Reliability>[] = [
  { header: t`Confidence`, cell: ({ from, to }) => t`${formatShare(from).replace(' %', '')} to ${formatShare(to)}` },
  {
    header: t`Verdicts`,
    numeric: true,
    cell: ({ from, sent }) => <RowsLink search={{ confidence: confidenceAt(from) }}>{formatNumber(sent)}</RowsLink>,
  },
  { header: t`On average`, numeric: true, cell: ({ predicted }) => formatShare(predicted) },
  {
    header: t`Arrived`,
    numeric: true,
    cell: ({ delivered, low, high, sent }) => <ShareOf share={delivered} low={low} high={high} n={sent} />,
  },
];

/** What replies predicted beside what came of it, as a diagram and in numbers. */
export const ReliabilityPanels = ({ rows }: { rows: readonly Reliability[] }) => (
  <Pair alike>
    <Panel title={t`Reliability`}>
      <Diagram rows={rows} />
      <Text size="xs" c="dimmed" mt="xs">
        <Trans>
          On the dashed line, as much mail arrived as the confidence of replies had said. Lines are 95 % intervals;
          fewer than {CALIBRATION_LEAST} verdicts are not drawn.
        </Trans>
      </Text>
    </Panel>
    <Panel title={t`Reliability in numbers`} flush="table">
      <DataTable label={t`Reliability in numbers`} columns={COLUMNS} rows={rows} rowKey={({ from }) => from} />
    </Panel>
  </Pair>
);

/** Of the drawing, in its own units. */
const SIZE = 240;
const EDGE = { left: 44, top: 16, right: 16, bottom: 40 };
/** From where on the label of a point has no room at its right. */
const LABELS_LEFT = 0.8;
const TICKS = [0, 0.25, 0.5, 0.75, 1];
const x = (share: number): number => EDGE.left + share * SIZE;
const y = (share: number): number => EDGE.top + (1 - share) * SIZE;

function Diagram({ rows }: { rows: readonly Reliability[] }) {
  const drawn = rows.flatMap(({ from, sent, predicted, delivered, low, high }) =>
    delivered === null || low === null || high === null ? [] : [{ from, sent, predicted, delivered, low, high }],
  );
  const [width, height] = [EDGE.left + SIZE + EDGE.right, EDGE.top + SIZE + EDGE.bottom];
  return (
    <svg
      className={css.diagram}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={t`Predicted and arrived mail`}
    >
      {TICKS.map((tick) => (
        <g key={tick}>
          <path className={css.grid} d={`M${x(0)} ${y(tick)}H${x(1)}M${x(tick)} ${y(0)}V${y(1)}`} />
          <text x={x(0) - 6} y={y(tick) + 4} textAnchor="end">
            {formatShare(tick)}
          </text>
          <text x={x(tick)} y={y(0) + 16} textAnchor="middle">
            {formatShare(tick)}
          </text>
        </g>
      ))}
      <text x={x(0.5)} y={height - 6} textAnchor="middle">{t`Confidence of replies`}</text>
      <text x={x(0) + 6} y={y(1) + 14}>{t`Mail that arrived`}</text>
      <path className={css.ideal} d={`M${x(0)} ${y(0)}L${x(1)} ${y(1)}`} />
      {drawn.map(({ from, sent, predicted, delivered, low, high }) => (
        <g key={from}>
          <path className={css.interval} d={`M${x(predicted)} ${y(low)}V${y(high)}`} />
          <circle className={css.point} cx={x(predicted)} cy={y(delivered)} r={4} />
          <text
            x={x(predicted) + (predicted > LABELS_LEFT ? -8 : 8)}
            y={y(delivered) + (predicted > LABELS_LEFT ? 4 : 14)}
            textAnchor={predicted > LABELS_LEFT ? 'end' : 'start'}
          >
            <Trans>n = {formatNumber(sent)}</Trans>
          </text>
        </g>
      ))}
    </svg>
  );
}
