import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { OperatorAccount } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { count, onDay, PLAN_NAMES } from '../../parts/words.ts';
import { StatusBadge } from './status-badge.tsx';

const COLUMNS: readonly Column<OperatorAccount>[] = [
  {
    header: 'Name',
    cell: ({ id, name }) => (
      <>
        <Anchor
          size="sm"
          className="anywhere"
          renderRoot={(props) => <Link {...props} to="/operator/accounts/$id" params={{ id }} />}
        >
          {name}
        </Anchor>
        <Text size="xs" c="dimmed" className="anywhere" visibleFrom="sm">
          {id}
        </Text>
      </>
    ),
  },
  { header: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
  { header: 'Plan', cell: ({ plan }) => PLAN_NAMES[plan] ?? plan, wideOnly: true },
  { header: 'Limit', numeric: true, cell: ({ rate_limit }) => count(rate_limit), wideOnly: true },
  { header: 'Balance', numeric: true, cell: ({ balance }) => count(balance) },
  { header: 'Members', numeric: true, cell: ({ members }) => count(members), wideOnly: true },
  { header: 'Keys', numeric: true, cell: ({ keys }) => count(keys), wideOnly: true },
  { header: 'Since', cell: ({ created_at }) => onDay(created_at), wideOnly: true },
];

export const AccountsTable = ({ accounts }: { accounts: readonly OperatorAccount[] }) => (
  <DataTable label="Accounts" columns={COLUMNS} rows={accounts} rowKey={({ id }) => id} />
);
