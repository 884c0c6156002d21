import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Notice } from '../../../src/kernel/facts/notices.ts';
import { api, unwrap } from '../api/client.ts';
import { useAccount } from '../api/session.ts';
import { ErrorAlert } from './error-alert.tsx';
import { useAsyncAction } from './use-async-action.ts';

/** Hides notices from the user, until there are other causes for them. */
export function Dismiss({ of }: { of: readonly Notice[] }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const { run, busy, error } = useAsyncAction(async () => {
    const params = { path: { account: id } };
    for (const notice of of)
      await unwrap(api.POST('/dashboard/accounts/{account}/dismissals', { params, body: { notice } }));
    await client.invalidateQueries({ queryKey: ['account', id] });
  });
  return (
    <>
      {error && <ErrorAlert error={error} />}
      <Button size="compact-sm" onClick={run} loading={busy}>{t`Dismiss`}</Button>
    </>
  );
}
