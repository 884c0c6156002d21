import { Anchor, Button, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import type { LogDetail } from '../api/schema.ts';
import { useAccount, useMay } from '../api/session.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { Verdict } from '../parts/verdict/verdict.tsx';
import { visibleJson } from '../parts/verdict/visible.ts';
import { atTime } from '../parts/words.ts';
import { Erase } from './log/erase.tsx';

const route = getRouteApi('/inside/log/$id');

export function LogEntryPage() {
  const { id: account } = useAccount();
  const mayAdmin = useMay('admin');
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
      action={mayAdmin && data && <Button onClick={() => setErasing(true)}>Erase this address</Button>}
    >
      <Loaded query={query}>{(detail) => <Detail detail={detail} />}</Loaded>
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
    ['When', atTime(entry.created_at)],
    ['By', entry.key === null ? 'the dashboard' : `the key “${entry.key.name}”`],
    ['From', entry.client_ip ?? 'not known'],
    ['Level asked', entry.requested],
  ];
  return (
    <>
      <dl className="facts">
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
      <Raw json={visibleJson(reply)} />
    </>
  );
}

/** The reply as a program got it. */
function Raw({ json }: { json: string }) {
  return (
    <details>
      <summary>The reply as JSON</summary>
      <CopyText label="the reply" text={json} block />
    </details>
  );
}
