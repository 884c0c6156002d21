import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { overviewQuery } from '../api/account.ts';
import { api, unwrap } from '../api/client.ts';
import { useAccount } from '../api/session.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { pluralize } from '../parts/format.ts';
import { LoadMore, useKeysetQuery } from '../parts/load-more.tsx';
import { Page } from '../parts/page.tsx';
import { LedgerTable } from './ledger/table.tsx';

export function LedgerPage() {
  const { id } = useAccount();
  const query = useKeysetQuery(['account', id, 'ledger'], (before) =>
    unwrap(
      api.GET('/dashboard/accounts/{account}/ledger', {
        params: { path: { account: id }, query: before === undefined ? {} : { before } },
      }),
    ),
  );
  return (
    <Page
      title="Credit ledger"
      about="All changes of the balance, newest first. A verification that takes longer holds its price until it completes."
    >
      <Balance account={id} />
      <LoadMore query={query}>
        {(pages) => {
          const rows = pages.flatMap((page) => page.rows);
          return rows.length > 0 ? (
            <LedgerTable rows={rows} linked />
          ) : (
            <EmptyState title="No transactions yet">
              The operator of this service grants credits. Grants and charges are listed here.
            </EmptyState>
          );
        }}
      </LoadMore>
    </Page>
  );
}

function Balance({ account }: { account: string }) {
  // The balance must match the rows below.
  const { data } = useQuery({ ...overviewQuery(account), refetchOnMount: 'always' });
  if (data === undefined) return null;
  const { remaining, locked } = data.credits;
  return (
    <Text className="numbers">
      Balance: {pluralize(remaining, 'credit')}
      {locked > 0 && `, plus ${pluralize(locked, 'credit')} held`}.
    </Text>
  );
}
