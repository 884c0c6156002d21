import { Button } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { LEDGER_DAYS, PAGE_SIZE } from '../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../api/client.ts';
import type { Ledger, LedgerDays } from '../api/schema.ts';
import { useAccount } from '../api/session.ts';
import { countNew } from '../parts/count-new.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Download } from '../parts/download.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { formatDate, formatNumber, pluralize } from '../parts/format.ts';
import { FreshBar } from '../parts/fresh-bar.tsx';
import { LoadMore, useKeysetQuery } from '../parts/load-more.tsx';
import { Page } from '../parts/page.tsx';
import { Panel } from '../parts/panel.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { formatChange, LedgerTable } from './ledger/table.tsx';
import css from './overview/overview.module.css';

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
      title="Credit ledger"
      about="Grants, and what each day (UTC) was charged. Held credits count until they are charged or released."
      action={<Download path={`/dashboard/accounts/${encodeURIComponent(id)}/ledger`} />}
    >
      <QueryResult query={query}>
        {(found) =>
          found.days.length === 0 && !found.more ? (
            <EmptyState title="No transactions yet">
              The operator of this service grants credits. Grants and charges are listed here.
            </EmptyState>
          ) : (
            <>
              <p>
                Available: <b>{availableText(found)}</b>.
              </p>
              {found.grants.length > 0 && (
                <Panel title="Grants" flush="table">
                  <GrantsTable grants={found.grants} />
                </Panel>
              )}
              <Panel
                title="Days"
                flush="table"
                note={`the last ${pluralize(days, 'day')}`}
                footer={
                  found.more &&
                  days < LEDGER_DAYS.max && (
                    <Button size="xs" onClick={() => setDays(Math.min(days * 3, LEDGER_DAYS.max))}>
                      Show earlier days
                    </Button>
                  )
                }
              >
                <DaysTable days={found.days} />
              </Panel>
            </>
          )
        }
      </QueryResult>
      <Entries account={id} />
    </Page>
  );
}

type Grant = LedgerDays['grants'][number];
type Day = LedgerDays['days'][number];

const GRANTS: readonly Column<Grant>[] = [
  { header: 'Time (UTC)', cell: ({ at }) => <Timestamp at={at} /> },
  { header: 'Note', cell: ({ note }) => <span className="anywhere">{note}</span> },
  { header: 'Credits', numeric: true, cell: ({ credits }) => formatChange(credits) },
];

const GrantsTable = ({ grants }: { grants: readonly Grant[] }) => (
  <DataTable
    label="Grants"
    columns={GRANTS}
    rows={grants}
    rowKey={(grant) => `${grant.at} ${grant.credits} ${grant.note}`}
  />
);

const DAYS: readonly Column<Day>[] = [
  {
    header: 'Day (UTC)',
    cell: ({ at, verifications }) =>
      verifications === 0 ? (
        formatDate(at)
      ) : (
        <Link className={css.go} to="/log" search={{ from: at.slice(0, 10), to: at.slice(0, 10) }}>
          {formatDate(at)}
        </Link>
      ),
  },
  { header: 'Verifications', numeric: true, cell: ({ verifications }) => formatNumber(verifications) },
  { header: 'Charged', numeric: true, cell: ({ charged }) => formatChange(-charged) },
  {
    header: 'Granted',
    numeric: true,
    folds: true,
    cell: ({ granted }) => (granted === 0 ? '–' : formatChange(granted)),
  },
  { header: 'With held ones', numeric: true, cell: ({ balance }) => formatNumber(balance) },
];

/** Each day is one row; it opens the log of that day. */
const DaysTable = ({ days }: { days: readonly Day[] }) => (
  <DataTable label="Charges by day" columns={DAYS} rows={days} rowKey={({ at }) => at} />
);

/** `28,150 credits, 40 more are held`. */
const availableText = ({ total, held }: LedgerDays): string =>
  `${pluralize(total - held, 'credit')}${held === 0 ? '' : `, ${formatNumber(held)} more are held`}`;

const RENEW_EVERY_MS = 30_000;
const NEWEST_EVERY_MS = 10_000;

/** Every single row; loaded when asked for. */
function Entries({ account }: { account: string }) {
  const [opened, setOpened] = useState(false);
  return (
    <details onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>All transactions</summary>
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
          {`${fresh} new`}
        </FreshBar>
      )}
      <LoadMore query={query}>{(pages) => <LedgerTable rows={pages.flatMap((page) => page.rows)} linked />}</LoadMore>
    </>
  );
}
