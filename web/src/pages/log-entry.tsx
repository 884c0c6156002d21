import { Anchor, Button, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import type { LogDetail } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { formatDateTime } from '../parts/format.ts';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { escapeInvisibleJson } from '../parts/verdict/escape-invisible.ts';
import { Verdict } from '../parts/verdict/verdict.tsx';
import { Erase } from './log/erase.tsx';

const route = getRouteApi('/inside/log/$id');

export function LogEntryPage() {
  const { id: account } = useAccount();
  const isAdmin = useHasRole('admin');
  const { id } = route.useParams();
  const navigate = route.useNavigate();
  const [erasing, setErasing] = useState(false);
  const query = useQuery({
    queryKey: ['account', account, 'log', 'entry', id],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/log/{id}', { params: { path: { account, id } }, signal })),
  });
  const { data } = query;
  return (
    <Page
      title="Verification"
      about={
        <>
          <span className="anywhere">{id}</span>.{' '}
          <Anchor component={Link} to="/log" underline="always">
            Back to the log
          </Anchor>
        </>
      }
      action={isAdmin && data && <Button onClick={() => setErasing(true)}>Erase this address</Button>}
    >
      <QueryResult query={query}>{(detail) => <Detail detail={detail} />}</QueryResult>
      <Erase
        opened={erasing}
        initial={data?.entry.email ?? ''}
        onClose={() => setErasing(false)}
        onErased={() => navigate({ to: '/log' })}
      />
    </Page>
  );
}

function Detail({ detail: { entry, reply } }: { detail: LogDetail }) {
  const facts = [
    ['Time', formatDateTime(entry.created_at)],
    ['Source', entry.key === null ? 'Dashboard' : `API key “${entry.key.name}”`],
    ['IP address', entry.client_ip ?? 'Unknown'],
    ['Requested level', entry.requested],
  ];
  return (
    <>
      <dl className="descriptions">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="anywhere">{value}</dd>
          </div>
        ))}
      </dl>
      <section aria-label="Verdict">
        <Title order={2} mb="sm">
          Verdict
        </Title>
        <Verdict reply={reply} />
      </section>
      <RawReply json={escapeInvisibleJson(reply)} />
    </>
  );
}

/** The reply as the API returned it. */
function RawReply({ json }: { json: string }) {
  return (
    <details>
      <summary>JSON reply</summary>
      <CopyText label="JSON reply" text={json} block />
    </details>
  );
}
