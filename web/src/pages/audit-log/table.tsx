import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { OperatorAuditLog } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import { describeActor, describeEvent, type Entry } from './events.ts';

const COLUMNS: readonly Column<Entry>[] = [
  { header: 'Time', folds: true, cell: ({ at }) => <Timestamp at={at} /> },
  {
    header: 'Actor',
    folds: true,
    cell: (entry) => (
      <>
        <span className="anywhere">{describeActor(entry)}</span>
        <Small>{entry.ip}</Small>
      </>
    ),
  },
  {
    header: 'Event',
    cell: (entry) => {
      const { title, details } = describeEvent(entry);
      return (
        <>
          {title}
          <Small>{details}</Small>
        </>
      );
    },
  },
  { header: 'Target', cell: ({ target }) => <span className="anywhere">{target}</span>, folds: true },
];

function Small({ children }: { children: string | null }) {
  if (children === null) return null;
  return (
    <Text size="xs" c="dimmed" className="anywhere">
      {children}
    </Text>
  );
}

export const AuditLogTable = ({ entries }: { entries: readonly Entry[] }) => (
  <DataTable label="Audit log" columns={COLUMNS} rows={entries} rowKey={({ id }) => id} />
);

type OperatorEntry = OperatorAuditLog['entries'][number];
const ACCOUNT: Column<OperatorEntry> = {
  header: 'Account',
  folds: true,
  cell: ({ account, account_name: name }) =>
    account === null ? (
      <span className="dim">none</span>
    ) : (
      <Link className="anywhere" to="/operator/accounts/$id" params={{ id: account }}>
        {name ?? account}
      </Link>
    ),
};

/** Of users, in the log of each of their accounts. */
export const SignInsTable = ({ entries }: { entries: readonly OperatorEntry[] }) => (
  <DataTable
    label="Sign-ins"
    columns={[...COLUMNS.slice(0, 3), ACCOUNT, ...COLUMNS.slice(3)]}
    rows={entries}
    rowKey={({ id }) => id}
  />
);
