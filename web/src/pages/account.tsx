import { Divider } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useAccount, useMay } from '../api/session.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { Danger } from './account/danger.tsx';
import { PlanFacts } from './account/facts.tsx';
import { accountQuery } from './account/queries.ts';
import { Settings } from './account/settings.tsx';

export function AccountPage() {
  const { id } = useAccount();
  const isOwner = useMay('owner');
  const query = useQuery(accountQuery(id));
  return (
    <Page title="Account" about="What it may do, what that costs, and how long its log is kept.">
      <Loaded query={query}>
        {(account) => (
          <>
            <PlanFacts account={account} />
            <Divider />
            <Settings account={account} />
            {isOwner && (
              <>
                <Divider />
                <Danger account={account} />
              </>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}
