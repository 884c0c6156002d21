import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { overviewQuery } from '../api/account.ts';
import { api, unwrap } from '../api/client.ts';
import { useAccount } from '../api/session.ts';
import { Empty } from '../parts/empty.tsx';
import { Older, useKeyset } from '../parts/older.tsx';
import { Page } from '../parts/page.tsx';
import { counted } from '../parts/words.ts';
import { LedgerTable } from './ledger/table.tsx';

export function LedgerPage() {
  const { id } = useAccount();
  const query = useKeyset(['account', id, 'ledger'], (before) =>
    unwrap(
      api.GET('/dashboard/accounts/{account}/ledger', {
        params: { path: { account: id }, query: before === undefined ? {} : { before } },
      }),
    ),
  );
  return (
    <Page
      title="Credit ledger"
      about="Every change of the balance, newest first. A check that has to wait holds its price until it is answered."
    >
      <Balance account={id} />
      <Older query={query}>
        {(pages) => {
          const rows = pages.flatMap((page) => page.rows);
          return rows.length > 0 ? (
            <LedgerTable rows={rows} linked />
          ) : (
            <Empty title="No credits yet">
              Who runs this service can grant some; each grant and charge stands here.
            </Empty>
          );
        }}
      </Older>
    </Page>
  );
}

function Balance({ account }: { account: string }) {
  // As fresh as the rows below it, whose sum it is.
  const { data } = useQuery({ ...overviewQuery(account), refetchOnMount: 'always' });
  if (data === undefined) return null;
  const { remaining, locked } = data.credits;
  return (
    <Text className="numbers">
      Balance: {counted(remaining, 'credit')}
      {locked > 0 && `, and ${counted(locked, 'credit')} held`}.
    </Text>
  );
}
