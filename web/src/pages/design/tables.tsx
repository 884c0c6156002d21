import { Button } from '@mantine/core';
import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sessionQuery } from '../../api/session.ts';
import { DataTable, NarrowOnly } from '../../parts/data-table.tsx';
import { DescriptionItem, DescriptionList } from '../../parts/description-list.tsx';
import { Download } from '../../parts/download.tsx';
import { DownloadMenu } from '../../parts/download-menu.tsx';
import { Figures } from '../../parts/figures.tsx';
import { FreshBar } from '../../parts/fresh-bar.tsx';
import { Glyph } from '../../parts/glyph.tsx';
import { LoadMore, useKeysetQuery } from '../../parts/load-more.tsx';
import { NotLoaded } from '../../parts/not-loaded.tsx';
import { Pagination } from '../../parts/pagination.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { Review } from '../../parts/review.tsx';
import { BelowAddress, OpenableRow, RowGroups, RowLink, RowsTable } from '../../parts/rows.tsx';
import { viewsKey } from '../../parts/saved-views/queries.ts';
import { ViewsMenu } from '../../parts/saved-views/views-menu.tsx';
import { SelectionBar, useSelection } from '../../parts/selection.tsx';
import { sortable } from '../../parts/sorting.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import { Address, VerdictLine } from '../../parts/verdict/verdict-line.tsx';
import { Sample } from './sample.tsx';
import { AT, FIGURES, JUDGED, SESSION, VIEWS } from './samples.ts';

/** What reads from the service gets what is written here: this page needs neither a session nor an account. */
const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, retry: false } } });
client.setQueryData(sessionQuery.queryKey, SESSION);
client.setQueryData(viewsKey(SESSION.accounts[0]!.id, 'log'), { views: VIEWS });

const ROWS = JUDGED.map((judged, id) => ({ ...judged, id }));
const keyOf = ({ id }: { id: number }) => id;
const by = sortable({ time: 'desc', address: 'asc' }, {}, () => ({ to: '.' }));

/** Figures, tables with all that belongs to them, and lists of terms. */
export const Tables = () => (
  <QueryClientProvider client={client}>
    <Figures label="Figures" items={FIGURES} />
    <SelectableTable />
    <Sample title="Rows that open">
      <OpenableRows />
    </Sample>
    <Sample title="Above and below rows">
      <Around />
    </Sample>
    <Sample title="Lists of terms">
      <DescriptionList>
        <DescriptionItem term="Mail server">mx1.fabrikam.example</DescriptionItem>
        <DescriptionItem term="Verified">
          <Timestamp at={AT} />
        </DescriptionItem>
      </DescriptionList>
      <Download path="/openapi" />
    </Sample>
  </QueryClientProvider>
);

function SelectableTable() {
  const [page, setPage] = useState(2);
  const selection = useSelection(ROWS, keyOf, ({ email }) => email);
  return (
    <>
      <SelectionBar of={selection}>
        <Button size="xs" color="red">
          Remove
        </Button>
      </SelectionBar>
      <DataTable
        label="A table"
        columns={[
          selection.column,
          {
            ...by('address', 'Address'),
            cell: (row) => (
              <>
                <Address email={row.email} of={row} />
                <NarrowOnly>
                  <VerdictLine of={row} />
                </NarrowOnly>
              </>
            ),
          },
          { header: 'Verdict', cell: (row) => <VerdictLine of={row} />, wideOnly: true },
          { ...by('time', 'Time'), cell: () => <Timestamp at={AT} />, wideOnly: 'first' },
          { header: 'Credits', numeric: true, cell: ({ validation_type }) => (validation_type === 'smtp' ? 10 : 1) },
        ]}
        rows={ROWS}
        rowKey={keyOf}
      />
      <Pagination label="Pages" page={page} total={5} onTurn={setPage} />
    </>
  );
}

function OpenableRows() {
  const [open, setOpen] = useState(1);
  return (
    <RowsTable label="Rows">
      <thead>
        <tr>
          <th scope="col">Address</th>
        </tr>
      </thead>
      <RowGroups rows={ROWS}>
        {(row) => (
          <OpenableRow key={row.id} id={`row-${row.id}`} isOpen={row.id === open} onOpen={() => setOpen(row.id)}>
            <td>
              <RowLink href="#rows" label={row.email}>
                <Address email={row.email} of={row} />
              </RowLink>
              <BelowAddress>
                <VerdictLine of={row} />
              </BelowAddress>
            </td>
          </OpenableRow>
        )}
      </RowGroups>
    </RowsTable>
  );
}

function Around() {
  const [search, setSearch] = useState(VIEWS[0]!.search);
  const pages = useKeysetQuery(['pages'], (before) =>
    Promise.resolve({ first: Number(before ?? 0) + 1, next: before === '20' ? null : Number(before ?? 0) + 10 }),
  );
  const failing = useQuery({
    queryKey: ['failing'],
    queryFn: () => Promise.reject<string>(new Error('The service is busy. Try again in a minute.')),
  });
  return (
    <>
      <Review title="2 keys to review">
        <span>Staging was never used.</span>
      </Review>
      <FreshBar icon="arrow-up" onShow={() => undefined}>
        3 new
      </FreshBar>
      <DownloadMenu
        label="Download"
        formats={{ csv: 'CSV', jsonl: 'JSON Lines' }}
        parts={[{ label: 'Undeliverable', icon: <Glyph of="undeliverable" />, count: 2, href: () => '#download' }]}
      />
      <div>
        <ViewsMenu page="log" builtIn={VIEWS} search={search} onChoose={setSearch} />
      </div>
      <LoadMore query={pages}>
        {(shown) => shown.map(({ first }) => <p key={first}>{`Rows ${first} to ${first + 9}`}</p>)}
      </LoadMore>
      <NotLoaded what="Your balance" query={failing} />
      <QueryResult query={failing}>{(text) => text}</QueryResult>
    </>
  );
}
