import { Anchor, Box, Divider, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ApiError, api, unwrap } from '../api/client.ts';
import type { OperatorAccount } from '../api/schema.ts';
import { formatDate, formatNumber, pluralize } from '../parts/format.ts';
import { LoadMore, useKeysetQuery } from '../parts/load-more.tsx';
import { NotFound } from '../parts/not-found.tsx';
import { Page } from '../parts/page.tsx';
import { PLAN_LABELS } from '../parts/plans.ts';
import { QueryResult } from '../parts/query-result.tsx';
import { LedgerTable } from './ledger/table.tsx';
import { OperatorOnly } from './operator/operator-only.tsx';
import { accountQuery, OPERATOR_KEY } from './operator/queries.ts';
import { GrantForm } from './operator-account/grant-form.tsx';
import { LimitsForm } from './operator-account/limits-form.tsx';
import { OwnerForm } from './operator-account/owner-form.tsx';
import { Suspension } from './operator-account/suspension.tsx';

const route = getRouteApi('/inside/operator/accounts/$id');

export const OperatorAccountPage = () => (
  <OperatorOnly>
    <Account id={route.useParams().id} />
  </OperatorOnly>
);

function Account({ id }: { id: string }) {
  const query = useQuery(accountQuery(id));
  const isEmpty = query.data?.members === 0;
  if (query.error instanceof ApiError && query.error.status === 404) return <NotFound inside />;
  return (
    <Page
      title={query.data?.name ?? 'Account'}
      about={
        <Anchor component={Link} to="/operator" inherit>
          All accounts
        </Anchor>
      }
    >
      <QueryResult query={query}>
        {(account) => (
          <>
            <Text size="sm">{describeAccount(account)}</Text>
            {isEmpty && <OwnerForm account={id} />}
            <LimitsForm key={`${account.name} ${account.plan} ${account.rate_limit}`} account={account} />
            <Divider />
            <GrantForm account={account} />
            <Divider />
            <Suspension account={account} />
            <Divider />
            <AccountLedger id={id} />
          </>
        )}
      </QueryResult>
    </Page>
  );
}

function AccountLedger({ id }: { id: string }) {
  const query = useKeysetQuery([...OPERATOR_KEY, 'account', id, 'ledger'], (before) =>
    unwrap(
      api.GET('/dashboard/operator/accounts/{id}/ledger', {
        params: { path: { id }, query: before === undefined ? {} : { before } },
      }),
    ),
  );
  return (
    <Box component="section" aria-labelledby="ledger">
      <Title order={2} id="ledger" mb="xs">
        Ledger
      </Title>
      <LoadMore query={query}>
        {(pages) => {
          const rows = pages.flatMap((page) => page.rows);
          return rows.length > 0 ? <LedgerTable rows={rows} /> : <Text size="sm">No transactions yet.</Text>;
        }}
      </LoadMore>
    </Box>
  );
}

const describeAccount = (account: OperatorAccount): string =>
  [
    `${PLAN_LABELS[account.plan]}, ${account.status}`,
    `${pluralize(account.balance, 'credit')}${account.locked > 0 ? `, plus ${formatNumber(account.locked)} held` : ''}`,
    pluralize(account.members, 'member'),
    pluralize(account.keys, 'API key'),
    `created ${formatDate(account.created_at)}`,
    account.id,
  ].join(' · ');
