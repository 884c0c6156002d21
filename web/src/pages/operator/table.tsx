import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { OperatorAccount } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatDate, formatNumber } from '../../parts/format.ts';
import { PLAN_LABELS } from '../../parts/plans.ts';
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
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { header: 'Plan', cell: ({ plan }) => PLAN_LABELS[plan], wideOnly: true },
  { header: 'Rate limit', numeric: true, cell: ({ rate_limit }) => formatNumber(rate_limit), wideOnly: true },
  { header: 'Balance', numeric: true, cell: ({ balance }) => formatNumber(balance) },
  { header: 'Members', numeric: true, cell: ({ members }) => formatNumber(members), wideOnly: true },
  { header: 'API keys', numeric: true, cell: ({ keys }) => formatNumber(keys), wideOnly: true },
  { header: 'Created', cell: ({ created_at }) => formatDate(created_at), wideOnly: true },
];

export const AccountsTable = ({ accounts }: { accounts: readonly OperatorAccount[] }) => (
  <DataTable label="Accounts" columns={COLUMNS} rows={accounts} rowKey={({ id }) => id} />
);
