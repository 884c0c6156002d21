import { api, unwrap } from '../api/client.ts';
import { useAccount, useMay } from '../api/session.ts';
import { Empty } from '../parts/empty.tsx';
import { Older, useKeyset } from '../parts/older.tsx';
import { Page } from '../parts/page.tsx';
import { TrailTable } from './trail/table.tsx';

const ABOUT = 'Who did what to keys, filters, members and settings, and from where. Newest first.';

export function TrailPage() {
  const may = useMay('admin');
  return (
    <Page title="Audit log" about={ABOUT}>
      {may ? (
        <Entries />
      ) : (
        <Empty title="For admins and owners">Ask one of them to look, or to make you an admin.</Empty>
      )}
    </Page>
  );
}

function Entries() {
  const { id } = useAccount();
  const query = useKeyset(['account', id, 'trail'], (before) =>
    unwrap(
      api.GET('/dashboard/accounts/{account}/trail', {
        params: { path: { account: id }, query: before === undefined ? {} : { before } },
      }),
    ),
  );
  return (
    <Older query={query}>
      {(pages) => {
        const entries = pages.flatMap((page) => page.entries);
        return entries.length > 0 ? (
          <TrailTable entries={entries} />
        ) : (
          <Empty title="Nothing yet">Whatever is changed in this account from now on stands here.</Empty>
        );
      }}
    </Older>
  );
}
