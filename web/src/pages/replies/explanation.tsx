import { Stack, Text } from '@mantine/core';
import type { ReplyExplanation } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { DescriptionItem, DescriptionList } from '../../parts/description-list.tsx';
import { pluralize } from '../../parts/format.ts';

type Clause = ReplyExplanation['clauses'][number];
type Alternative = ReplyExplanation['alternatives'][number];

const CLAUSES: readonly Column<Clause>[] = [
  { header: 'Words', cell: ({ words }) => <span className="anywhere">{words}</span> },
  { header: 'Subject', cell: ({ subject }) => subject },
  { header: 'Predicate', cell: ({ predicate }) => predicate },
  { header: 'Rule', cell: ({ rule }) => rule ?? '–' },
];
const ALTERNATIVES: readonly Column<Alternative>[] = [
  { header: 'Rule', cell: ({ rule }) => rule },
  { header: 'Finding', cell: ({ finding }) => finding },
];

export function Explanation({ of }: { of: ReplyExplanation }) {
  const { finding, rule, confidence, meaning, operator, enhanced_code, retry_after, read_as, decided_by, probability } =
    of;
  const clauses = of.clauses.map((clause, index) => ({ ...clause, index }));
  return (
    <Stack>
      <Text role="status" fw={600}>
        {`Read as ${finding}, with ${confidence} confidence.`}
      </Text>
      <DescriptionList>
        <DescriptionItem term="Rule">{rule}</DescriptionItem>
        <DescriptionItem term="Decided by">
          {probability === null
            ? decided_by
            : `${decided_by} (model: ${probability} that the mailbox cannot be reached)`}
        </DescriptionItem>
        <DescriptionItem term="About">{meaning}</DescriptionItem>
        <DescriptionItem term="Operator">{operator ?? 'Unknown'}</DescriptionItem>
        <DescriptionItem term="Enhanced code">{enhanced_code ?? 'None'}</DescriptionItem>
        {retry_after !== null && (
          <DescriptionItem term="Retry after">{pluralize(retry_after, 'second')}</DescriptionItem>
        )}
        <DescriptionItem term="Text as read">
          <span className="anywhere">{read_as === '' ? 'Not read: the code decides.' : read_as}</span>
        </DescriptionItem>
      </DescriptionList>
      {clauses.length > 0 && (
        <DataTable label="Clauses" columns={CLAUSES} rows={clauses} rowKey={({ index }) => index} />
      )}
      {of.alternatives.length > 0 && (
        <>
          <Text size="sm">Other readings, the likeliest first:</Text>
          <DataTable label="Other readings" columns={ALTERNATIVES} rows={of.alternatives} rowKey={(row) => row.rule} />
        </>
      )}
    </Stack>
  );
}
