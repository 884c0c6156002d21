import { Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { type Column, DataTable } from '../../../parts/data-table.tsx';
import { keysOf } from '../../../parts/keys-of.ts';
import { Pagination } from '../../../parts/pagination.tsx';
import { FILTER_TYPE_LABELS } from '../types.ts';
import { backToText } from './lines.ts';
import type { LineResult, Outcome } from './run.ts';

const PER_PAGE = 50;

const OUTCOME_LABELS: Readonly<Record<Outcome, string>> = {
  added: 'Added',
  exists: 'Already exists',
  invalid: 'Invalid',
};
const CHOICES = [
  { value: 'all' as const, label: 'All' },
  ...keysOf(OUTCOME_LABELS).map((outcome) => ({ value: outcome, label: OUTCOME_LABELS[outcome] })),
];

const COLUMNS: readonly Column<LineResult>[] = [
  { header: 'Line', numeric: true, cell: ({ line }) => line.number },
  {
    header: 'Text',
    cell: ({ line }) => (
      <Text size="sm" className="anywhere" lineClamp={3}>
        {backToText(line)}
      </Text>
    ),
  },
  {
    header: 'Result',
    cell: (result) => (
      <Text size="sm" className="anywhere" {...(result.outcome === 'invalid' ? { fw: 600 } : {})}>
        {describeResult(result)}
      </Text>
    ),
  },
];

/** The result of each line. */
export function Results({ results }: { results: readonly LineResult[] }) {
  const [chosen, setChosen] = useState<Outcome | 'all'>('all');
  const [page, setPage] = useState(1);
  const shown = chosen === 'all' ? results : results.filter(({ outcome }) => outcome === chosen);
  const pages = Math.max(1, Math.ceil(shown.length / PER_PAGE));
  const at = Math.min(page, pages);
  return (
    <Stack gap="sm">
      <Group>
        <SegmentedControl
          aria-label="Show results"
          size="xs"
          data={CHOICES}
          value={chosen}
          onChange={(value) => {
            setChosen(value);
            setPage(1);
          }}
        />
      </Group>
      {shown.length === 0 ? (
        <Text size="sm" c="dimmed">
          No lines.
        </Text>
      ) : (
        <DataTable
          label="Import results"
          columns={COLUMNS}
          rows={shown.slice((at - 1) * PER_PAGE, at * PER_PAGE)}
          rowKey={({ line }) => line.number}
        />
      )}
      <Pagination label="Result pages" page={at} total={pages} onTurn={setPage} />
    </Stack>
  );
}

function describeResult({ outcome, filter, error }: LineResult): string {
  if (outcome === 'invalid') return `${OUTCOME_LABELS[outcome]}: ${error ?? 'this entry cannot be used.'}`;
  const what = filter === null ? '' : ` (${FILTER_TYPE_LABELS[filter.filter_type].one.toLowerCase()} ${filter.value})`;
  return `${OUTCOME_LABELS[outcome]}${what}`;
}
