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
import { entryQuery } from './log/query.ts';

export function LogEntryPage() {
  const { id: account } = useAccount();
  const isAdmin = useHasRole('admin');
  const { id } = route.useParams();
  const navigate = route.useNavigate();
  const [erasing, setErasing] = useState(false);
  const query = useQuery(entryQuery(account, id));
  const { data } = query;
  if (isNotFound(query.error))
    return <NotFound inside what={t`Verification`} back={{ to: '/log', label: t`Go to the log` }} />;
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
