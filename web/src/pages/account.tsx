import { Divider } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useAccount, useHasRole } from '../api/session.ts';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { DeleteAccount } from './account/delete-account.tsx';
import { PlanDetails } from './account/plan-details.tsx';
import { accountQuery } from './account/queries.ts';
import { SecondFactor } from './account/second-factor.tsx';
import { Settings } from './account/settings.tsx';

export function AccountPage() {
  const { id } = useAccount();
  const isOwner = useHasRole('owner');
  const query = useQuery(accountQuery(id));
  return (
    <Page title="Account" about="Plan, prices, balance and settings.">
      <QueryResult query={query}>
        {(account) => (
          <>
            <PlanDetails account={account} />
            <Divider />
            <Settings account={account} />
            <Divider />
            <SecondFactor account={account} />
            {isOwner && (
              <>
                <Divider />
                <DeleteAccount account={account} />
              </>
            )}
          </>
        )}
      </QueryResult>
    </Page>
  );
}
