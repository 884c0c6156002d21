import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { OperatorAuditLog } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import { describeActor, describeEvent, type Entry } from './events.ts';

const COLUMNS: readonly Column<Entry>[] = [
  { header: t`Time`, folds: true, cell: ({ at }) => <Timestamp at={at} /> },
  {
    header: t`Actor`,
    folds: true,
    cell: (entry) => (
      <>
        <span className="anywhere">{describeActor(entry)}</span>
        <Small>{entry.ip}</Small>
      </>
    ),
  },
  {
    header: t`Event`,
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
  { header: t`Target`, cell: ({ target }) => <span className="anywhere">{target}</span>, folds: true },
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
  <DataTable label={t`Audit log`} columns={COLUMNS} rows={entries} rowKey={({ id }) => id} />
);

type OperatorEntry = OperatorAuditLog['entries'][number];
type SignIn = OperatorEntry & { readonly accounts: readonly Pick<OperatorEntry, 'account' | 'account_name'>[] };

/** What happens to a user is in the log of each of the user's accounts: here it is one row, with the accounts. */
function onceEach(entries: readonly OperatorEntry[]): readonly SignIn[] {
  const found = new Map<string, SignIn>();
  for (const { account, account_name, ...event } of entries) {
    const { id: _id, ...alike } = event;
    const key = JSON.stringify(alike);
    const before = found.get(key);
    const accounts = [...(before?.accounts ?? []), { account, account_name }];
    found.set(key, { ...event, account, account_name, ...before, accounts });
  }
  return [...found.values()];
}

const ACCOUNTS: Column<SignIn> = {
  header: t`Accounts`,
  folds: true,
  cell: ({ accounts }) =>
    accounts.map(({ account, account_name: name }) =>
      account === null ? (
        <span key="none" className="dim">
          {t`none`}
        </span>
      ) : (
        <div key={account}>
          <Link className="anywhere" to="/operator/accounts/$id" params={{ id: account }}>
            {name ?? account}
          </Link>
        </div>
      ),
    ),
};

export const SignInsTable = ({ entries }: { entries: readonly OperatorEntry[] }) => (
  <DataTable
    label={t`Sign-ins`}
    columns={[...COLUMNS.slice(0, 3), ACCOUNTS, ...COLUMNS.slice(3)]}
    rows={onceEach(entries)}
    rowKey={({ id }) => id}
  />
);
