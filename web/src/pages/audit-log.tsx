import { api, unwrap } from '../api/client.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { LoadMore, useKeysetQuery } from '../parts/load-more.tsx';
import { Page } from '../parts/page.tsx';
import { AuditLogTable } from './audit-log/table.tsx';

const ABOUT =
  'Changes to API keys, filters, members and settings, and sign-ins of members, with the IP address. Newest first.';

export function AuditLogPage() {
  const isAdmin = useHasRole('admin');
  return (
    <Page title="Audit log" about={ABOUT}>
      {isAdmin ? (
        <Entries />
      ) : (
        <EmptyState title="Admins and owners only">Ask one of them to check for you or to change your role.</EmptyState>
      )}
    </Page>
  );
}

function Entries() {
  const { id } = useAccount();
  const query = useKeysetQuery(['account', id, 'trail'], (before) =>
    unwrap(
      api.GET('/dashboard/accounts/{account}/trail', {
        params: { path: { account: id }, query: before === undefined ? {} : { before } },
      }),
    ),
  );
  return (
    <LoadMore query={query}>
      {(pages) => {
        const entries = pages.flatMap((page) => page.entries);
        return entries.length > 0 ? (
          <AuditLogTable entries={entries} />
        ) : (
          <EmptyState title="No events yet">Changes to this account are listed here.</EmptyState>
        );
      }}
    </LoadMore>
  );
}
