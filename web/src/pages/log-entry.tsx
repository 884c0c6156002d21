import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { isNotFound } from '../api/client.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { NotFound } from '../parts/not-found.tsx';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { EntryDetail } from './log/entry-detail.tsx';
import { Erase } from './log/erase.tsx';
import { entryQuery, rejectedQuery } from './log/query.ts';
import { RejectedDetail } from './log/rejected-detail.tsx';
import { rejectedId } from './log/rows.ts';

/** A row of the log, by its id: a verification, or a rejected request. */
export function LogEntryPage() {
  const { id } = route.useParams();
  const rejected = rejectedId(id);
  return rejected === null ? <VerificationPage id={id} /> : <RejectedPage id={rejected} />;
}

const BACK = { to: '/log', label: t`Go to the log` } as const;

function RejectedPage({ id }: { id: number }) {
  const query = useQuery(rejectedQuery(useAccount().id, id));
  if (isNotFound(query.error)) return <NotFound inside what={t`Rejected request`} back={BACK} />;
  return (
    <Page title={t`Rejected request`}>
      <QueryResult query={query}>{(detail) => <RejectedDetail detail={detail} />}</QueryResult>
    </Page>
  );
}

function VerificationPage({ id }: { id: string }) {
  const { id: account } = useAccount();
  const isAdmin = useHasRole('admin');
  const navigate = route.useNavigate();
  const [erasing, setErasing] = useState(false);
  const query = useQuery(entryQuery(account, id));
  const { data } = query;
  if (isNotFound(query.error)) return <NotFound inside what={t`Verification`} back={BACK} />;
  return (
    <Page
      title={t`Verification`}
      about={<span className="mono">{id}</span>}
      action={isAdmin && data && <Button onClick={() => setErasing(true)}>{t`Erase this address`}</Button>}
    >
      <QueryResult query={query}>{(detail) => <EntryDetail detail={detail} />}</QueryResult>
      <Erase
        opened={erasing}
        initial={data?.entry.email ?? ''}
        onClose={() => setErasing(false)}
        onErased={() => navigate({ to: '/log' })}
      />
    </Page>
  );
}

const route = getRouteApi('/inside/log/$id');
