import { t } from '@lingui/core/macro';
import { api, unwrap } from '../api/client.ts';
import { Download } from '../parts/download.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { LoadMore, useKeysetQuery } from '../parts/load-more.tsx';
import { Page } from '../parts/page.tsx';
import { SignInsTable } from './audit-log/table.tsx';
import { OperatorOnly } from './operator/operator-only.tsx';

export const OperatorSignInsPage = () => (
  <OperatorOnly>
    <SignIns />
  </OperatorOnly>
);

const ABOUT = t`Sign-ins of all users, and changes to their passwords and second factors, with the accounts of the user; operator keys, and accounts that were deleted. Newest first.`;

function SignIns() {
  const query = useKeysetQuery(['operator', 'audit-log'], (before) =>
    unwrap(
      api.GET('/dashboard/operator/audit-log', {
        params: { query: before === undefined ? {} : { before: Number(before) } },
      }),
    ),
  );
  return (
    <Page title={t`Sign-ins`} about={ABOUT} action={<Download path="/dashboard/operator/audit-log" />}>
      <LoadMore query={query}>
        {(pages) => {
          const entries = pages.flatMap((page) => page.entries);
          return entries.length > 0 ? (
            <SignInsTable entries={entries} />
          ) : (
            <EmptyState title={t`No sign-ins yet`}>{t`They are listed here.`}</EmptyState>
          );
        }}
      </LoadMore>
    </Page>
  );
}
