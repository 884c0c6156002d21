import { Anchor, Box, Divider, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ApiError, api, unwrap } from '../api/client.ts';
import type { OperatorAccount } from '../api/schema.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { NotFound } from '../parts/not-found.tsx';
import { Older, useKeyset } from '../parts/older.tsx';
import { Page } from '../parts/page.tsx';
import { count, counted, onDay, PLAN_NAMES } from '../parts/words.ts';
import { LedgerTable } from './ledger/table.tsx';
import { OperatorOnly } from './operator/operator-only.tsx';
import { accountQuery, OPERATOR_KEY } from './operator/queries.ts';
import { GrantForm } from './operator-account/grant-form.tsx';
import { LimitsForm } from './operator-account/limits-form.tsx';
import { Suspension } from './operator-account/suspension.tsx';

const route = getRouteApi('/inside/operator/accounts/$id');

export const OperatorAccountPage = () => (
  <OperatorOnly>
    <Account id={route.useParams().id} />
  </OperatorOnly>
);

function Account({ id }: { id: string }) {
  const query = useQuery(accountQuery(id));
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
      <Loaded query={query}>
        {(account) => (
          <>
            <Text size="sm">{inWords(account)}</Text>
            {account.members === 0 && (
              <Stack gap="xs">
                <Text size="sm">Nobody is in it yet. Make its owner on the command line of this host:</Text>
                <CopyText
                  text={`npx mailvet user create --email ada@example.com --account ${id} --role owner`}
                  label="command"
                />
              </Stack>
            )}
            <LimitsForm key={`${account.name} ${account.plan} ${account.rate_limit}`} account={account} />
            <Divider />
            <GrantForm account={account} />
            <Divider />
            <Suspension account={account} />
            <Divider />
            <AccountLedger id={id} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function AccountLedger({ id }: { id: string }) {
  const query = useKeyset([...OPERATOR_KEY, 'account', id, 'ledger'], (before) =>
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
      <Older query={query}>
        {(pages) => {
          const rows = pages.flatMap((page) => page.rows);
          return rows.length > 0 ? (
            <LedgerTable rows={rows} />
          ) : (
            <Text size="sm">Nothing was granted or charged yet.</Text>
          );
        }}
      </Older>
    </Box>
  );
}

const inWords = (account: OperatorAccount): string =>
  [
    `${PLAN_NAMES[account.plan] ?? account.plan}, ${account.status}`,
    `${counted(account.balance, 'credit')}${account.locked > 0 ? ` and ${count(account.locked)} held` : ''}`,
    counted(account.members, 'member'),
    counted(account.keys, 'key'),
    `since ${onDay(account.created_at)}`,
    account.id,
  ].join(' · ');
