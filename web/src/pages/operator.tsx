import { Box, Button, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ACCOUNT_QUERY_LENGTH } from '../../../src/kernel/facts/limits.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Page } from '../parts/page.tsx';
import { Pagination } from '../parts/pagination.tsx';
import { RATE_WINDOW } from '../parts/plans.ts';
import { QueryResult } from '../parts/query-result.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import { useLastPage } from '../parts/use-last-page.ts';
import { useSearchOnce } from '../parts/use-search-once.ts';
import { CreateDialog } from './operator/create-dialog.tsx';
import { OperatorOnly } from './operator/operator-only.tsx';
import { accountsQuery } from './operator/queries.ts';
import { accountsSearch } from './operator/search.ts';
import { AccountsTable } from './operator/table.tsx';

const route = getRouteApi('/inside/operator');

export const OperatorPage = () => (
  <OperatorOnly>
    <Accounts />
  </OperatorOnly>
);

function Accounts() {
  const { create, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(accountsQuery(search));
  const [opened, { open, close }] = useDisclosure();
  useSearchOnce('create', create, open);
  const { total_count, per_page } = (query.isPlaceholderData ? undefined : query.data) ?? {};
  const last = total_count === undefined ? undefined : pagesOf(total_count, per_page);
  const go = (change: { query?: string; page?: number }) =>
    void navigate({ search: accountsSearch({ ...search, page: undefined, ...change }), replace: true });
  useLastPage(search.page ?? 1, last, (page) => go({ page }));
  return (
    <Page
      title="Accounts"
      about={`All accounts of this service. Rate limits are in requests per ${RATE_WINDOW}.`}
      action={
        <Button variant="filled" onClick={open}>
          Create account
        </Button>
      }
    >
      <Box role="search" aria-label="Accounts" maw={360}>
        <SearchBox
          label="Search"
          placeholder="Name or ID"
          value={search.query ?? ''}
          maxLength={ACCOUNT_QUERY_LENGTH.max}
          onSearch={(text) => go({ query: text })}
        />
      </Box>
      <QueryResult query={query}>
        {({ accounts, total_count, per_page }) =>
          accounts.length > 0 ? (
            <Stack aria-busy={query.isPlaceholderData}>
              <AccountsTable accounts={accounts} />
              <Pagination
                label="Pages of accounts"
                page={search.page ?? 1}
                total={pagesOf(total_count, per_page)}
                onTurn={(page) => go({ page })}
              />
            </Stack>
          ) : (
            <EmptyState title="No accounts found">
              {search.query === undefined
                ? 'Create the first account.'
                : 'Search for part of the name or the complete ID.'}
            </EmptyState>
          )
        }
      </QueryResult>
      <CreateDialog opened={opened} onClose={close} />
    </Page>
  );
}

const pagesOf = (count: number, perPage = 1): number => Math.max(1, Math.ceil(count / perPage));
