import { t } from '@lingui/core/macro';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { LEDGER_DAYS, PAGE_SIZE } from '../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../api/client.ts';
import type { Ledger } from '../api/schema.ts';
import { useAccount } from '../api/session.ts';
import { countNew } from '../parts/count-new.ts';
import { Download } from '../parts/download.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { FreshBar } from '../parts/fresh-bar.tsx';
import { LoadMore, useKeysetQuery } from '../parts/load-more.tsx';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { LedgerByDay } from './ledger/by-day.tsx';
import { LedgerTable } from './ledger/table.tsx';

export function LedgerPage() {
  const { id } = useAccount();
  const [days, setDays] = useState<number>(LEDGER_DAYS.default);
  const query = useQuery({
    queryKey: ['account', id, 'ledger', 'days', days],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/dashboard/accounts/{account}/ledger/days', {
          params: { path: { account: id }, query: { days } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    // The balance must match the rows.
    refetchOnMount: 'always',
    refetchInterval: RENEW_EVERY_MS,
  });
  return (
    <Page
      title={t`Credit ledger`}
      about={t`Grants, and what each day (UTC) was charged. Held credits count until they are charged or released.`}
      action={<Download path={`/dashboard/accounts/${encodeURIComponent(id)}/ledger`} />}
    >
      <QueryResult query={query}>
        {(found) =>
          found.days.length === 0 && !found.more ? (
            <EmptyState
              title={t`No transactions yet`}
            >{t`The operator of this service grants credits. Grants and charges are listed here.`}</EmptyState>
          ) : (
            <LedgerByDay found={found} days={days} onDays={setDays} linked />
          )
        }
      </QueryResult>
      <Entries account={id} />
    </Page>
  );
}

const RENEW_EVERY_MS = 30_000;
const NEWEST_EVERY_MS = 10_000;

/** Every single row; loaded when asked for. */
function Entries({ account }: { account: string }) {
  const [opened, setOpened] = useState(false);
  return (
    <details onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>{t`All transactions`}</summary>
      {opened && <AllEntries account={account} />}
    </details>
  );
}

function AllEntries({ account }: { account: string }) {
  const client = useQueryClient();
  const load = (before?: string) =>
    unwrap(
      api.GET('/dashboard/accounts/{account}/ledger', {
        params: { path: { account }, query: before === undefined ? {} : { before } },
      }),
    );
  const queryKey = ['account', account, 'ledger', 'entries'];
  const query = useKeysetQuery(queryKey, load);
  const newest = useQuery({
    queryKey: ['account', account, 'ledger', 'newest'],
    queryFn: () => load(),
    refetchInterval: NEWEST_EVERY_MS,
    enabled: query.data !== undefined,
  });
  const [first] = query.data?.[0]?.rows ?? [];
  const rowOf = ({ id, created_at }: Ledger['rows'][number]) => ({ id, at: created_at });
  const fresh = first && countNew((newest.data?.rows ?? []).map(rowOf), rowOf(first), PAGE_SIZE.default);
  return (
    <>
      {fresh && (
        <FreshBar icon="arrow-up" onShow={() => void client.resetQueries({ queryKey })}>
          {t`${fresh} new`}
        </FreshBar>
      )}
      <LoadMore query={query}>{(pages) => <LedgerTable rows={pages.flatMap((page) => page.rows)} linked />}</LoadMore>
    </>
  );
}
