import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { isNotFound } from '../api/client.ts';
import type { ListHere } from '../api/schema.ts';
import { useAccount } from '../api/session.ts';
import { formatDateTime, formatNumber } from '../parts/format.ts';
import { NotFound } from '../parts/not-found.tsx';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { escapeInvisible } from '../parts/verdict/escape-invisible.ts';
import { ListActions } from './lists/actions.tsx';
import { listQuery } from './lists/queries.ts';
import { ReadyList } from './lists/ready.tsx';
import { ListResults } from './lists/results.tsx';
import type { ListSearch } from './lists/search.ts';
import { ListStatusTag } from './lists/status.tsx';

export function ListPage() {
  const { id: account } = useAccount();
  const { id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(listQuery(account, id));
  const list = query.data;
  const show = (next: ListSearch) => void navigate({ search: next, resetScroll: false });
  if (isNotFound(query.error)) return <NotFound inside what={t`List`} back={{ to: '/lists', label: t`All lists` }} />;
  return (
    <Page
      title={list ? escapeInvisible(list.name) : t`List`}
      tag={list && <ListStatusTag of={list} />}
      about={list && <Facts of={list} />}
      action={list && <ListActions of={list} search={search} />}
    >
      <QueryResult query={query}>
        {(list) =>
          list.status === 'ready' ? (
            <ReadyList of={list} search={search} onSearch={show} />
          ) : (
            <ListResults of={list} search={search} onSearch={show} />
          )
        }
      </QueryResult>
    </Page>
  );
}

const route = getRouteApi('/inside/lists/$id');

function Facts({ of }: { of: ListHere }) {
  const { status, validation_type, policy, read, key, created_at, started_at, finished_at } = of;
  const [first = read.column, ...others] = read.columns;
  const column = <b className="anywhere">{escapeInvisible(first)}</b>;
  const more = formatNumber(others.length);
  const facts = [
    started_at === null ? t`Uploaded ${formatDateTime(created_at)}` : t`Started ${formatDateTime(started_at)}`,
    finished_at !== null && t`ended ${formatDateTime(finished_at)}`,
    key === null ? t`by the dashboard` : t`by API key “${key.name}”`,
    status !== 'ready' && t`level ${validation_type}`,
    others.length === 0 ? (
      <Trans>column {column}</Trans>
    ) : (
      <Trans>
        columns {column} and {more} more
      </Trans>
    ),
    policy !== null && t`policy ${policy}`,
  ].filter((fact) => fact !== false);
  return facts.map((fact, i) => (
    <span key={i} className="anywhere">
      {i > 0 && ' · '}
      {fact}
    </span>
  ));
}
