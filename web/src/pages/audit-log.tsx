import { t } from '@lingui/core/macro';
import { SegmentedControl } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { api, unwrap } from '../api/client.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { Download } from '../parts/download.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { LoadMore, useKeysetQuery } from '../parts/load-more.tsx';
import { Page } from '../parts/page.tsx';
import { auditLogSearch } from './audit-log/search.ts';
import { AuditLogTable } from './audit-log/table.tsx';

export function AuditLogPage() {
  const isAdmin = useHasRole('admin');
  const { id } = useAccount();
  const { about } = route.useSearch();
  const path = `/dashboard/accounts/${encodeURIComponent(id)}/audit-log`;
  return (
    <Page
      title={t`Audit log`}
      about={ABOUT}
      action={isAdmin && <Download path={path} query={about === undefined ? '' : `?about=${about}`} />}
    >
      {isAdmin ? (
        <Entries />
      ) : (
        <EmptyState
          title={t`Admins and owners only`}
        >{t`Ask one of them to check for you or to change your role.`}</EmptyState>
      )}
    </Page>
  );
}

const route = getRouteApi('/inside/account/audit-log');

const ABOUT = t`Changes to API keys, filters, members and settings, and sign-ins of members, with the IP address. Newest first.`;
const SUBJECTS = [
  { value: '', label: t`All` },
  { value: 'account', label: t`Changes` },
  { value: 'user', label: t`Sign-ins and security` },
];

function Entries() {
  const { id } = useAccount();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useKeysetQuery(['account', id, 'audit-log', search], (before) =>
    unwrap(
      api.GET('/dashboard/accounts/{account}/audit-log', {
        params: {
          path: { account: id },
          query: { ...search, ...(before === undefined ? {} : { before: Number(before) }) },
        },
      }),
    ),
  );
  return (
    <>
      <SegmentedControl
        w="fit-content"
        maw="100%"
        aria-label={t`Events`}
        data={SUBJECTS}
        value={search.about ?? ''}
        onChange={(about) => void navigate({ search: auditLogSearch({ about }) })}
      />
      <LoadMore query={query}>
        {(pages) => {
          const entries = pages.flatMap((page) => page.entries);
          return entries.length > 0 ? (
            <AuditLogTable entries={entries} />
          ) : (
            <EmptyState title={t`No events yet`}>{t`Changes to this account are listed here.`}</EmptyState>
          );
        }}
      </LoadMore>
    </>
  );
}
