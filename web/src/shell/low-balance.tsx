import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { overviewQuery } from '../api/account.ts';
import { useAccount } from '../api/session.ts';
import { counted } from '../parts/words.ts';

/** The banner below the line that the account set. */
export function LowBalance() {
  const { id } = useAccount();
  const { data } = useQuery(overviewQuery(id));
  if (!data?.is_low || data.low_balance === null) return null;
  return (
    <Alert color="yellow" variant="outline" mb="md" title="The balance is low">
      {counted(data.credits.remaining, 'credit')} left, below the line of {counted(data.low_balance, 'credit')}.
    </Alert>
  );
}
