import { Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { type Column, DataTable } from '../../../parts/data-table.tsx';
import { Pages } from '../../../parts/pages.tsx';
import { TYPE_WORDS } from '../type-words.ts';
import { backToText } from './lines.ts';
import type { LineResult, Outcome } from './run.ts';

const PER_PAGE = 50;

const CHOICES: readonly { value: Outcome | 'all'; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'added', label: 'Added' },
  { value: 'exists', label: 'Already there' },
  { value: 'invalid', label: 'Wrong' },
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
        {inWords(result)}
      </Text>
    ),
  },
];

/** What came of each line. */
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
          aria-label="Results shown"
          size="xs"
          data={[...CHOICES]}
          value={chosen}
          onChange={(value) => {
            setChosen(value);
            setPage(1);
          }}
        />
      </Group>
      {shown.length === 0 ? (
        <Text size="sm" c="dimmed">
          None.
        </Text>
      ) : (
        <DataTable
          label="What came of each line"
          columns={COLUMNS}
          rows={shown.slice((at - 1) * PER_PAGE, at * PER_PAGE)}
          rowKey={({ line }) => line.number}
        />
      )}
      <Pages label="Pages of results" page={at} total={pages} onTurn={setPage} />
    </Stack>
  );
}

function inWords({ outcome, filter, error }: LineResult): string {
  if (outcome === 'invalid') return `Wrong: ${error ?? 'it cannot be used.'}`;
  const what = filter === null ? '' : ` (${TYPE_WORDS[filter.filter_type].one.toLowerCase()} ${filter.value})`;
  return `${outcome === 'added' ? 'Added' : 'Already there'}${what}`;
}
