import { Box, Button, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Empty } from '../parts/empty.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { Pages } from '../parts/pages.tsx';
import { SearchBox } from '../parts/search-box.tsx';
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
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(accountsQuery(search));
  const [opened, { open, close }] = useDisclosure();
  const go = (change: { query?: string; page?: number }) =>
    void navigate({ search: accountsSearch({ ...search, page: undefined, ...change }), replace: true });
  return (
    <Page
      title="Accounts"
      about="All accounts of this service. Limits are requests in 5 minutes."
      action={
        <Button variant="filled" onClick={open}>
          New account
        </Button>
      }
    >
      <Box role="search" aria-label="Accounts" maw={360}>
        <SearchBox
          label="Search"
          placeholder="In name and id"
          value={search.query ?? ''}
          onSearch={(text) => go({ query: text })}
        />
      </Box>
      <Loaded query={query}>
        {({ accounts, total_count, per_page }) =>
          accounts.length > 0 ? (
            <Stack aria-busy={query.isPlaceholderData}>
              <AccountsTable accounts={accounts} />
              <Pages
                label="Pages of accounts"
                page={search.page ?? 1}
                total={Math.max(1, Math.ceil(total_count / per_page))}
                onTurn={(page) => go({ page })}
              />
            </Stack>
          ) : (
            <Empty title="No account is found">
              {search.query === undefined ? 'Make the first one.' : 'Try a part of the name, or the whole id.'}
            </Empty>
          )
        }
      </Loaded>
      <CreateDialog opened={opened} onClose={close} />
    </Page>
  );
}
