import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { overviewQuery } from '../api/account.ts';
import { useAccount } from '../api/session.ts';
import { pluralize } from '../parts/format.ts';

/** Shown while the balance is below the account's threshold. */
export function LowBalanceBanner() {
  const { id } = useAccount();
  const { data } = useQuery(overviewQuery(id));
  if (!data?.is_low || data.low_balance === null) return null;
  return (
    <Alert color="yellow" variant="outline" mb="md" title="Low balance">
      {pluralize(data.credits.remaining, 'credit')} left, below the threshold of {pluralize(data.low_balance, 'credit')}
      .
    </Alert>
  );
}
