import { Alert, Button, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../api/client.ts';
import { Elapsed } from '../parts/elapsed.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { ListDetails } from './disposable-lists/list-details.tsx';
import { OperatorOnly } from './operator/operator-only.tsx';
import { OPERATOR_KEY } from './operator/queries.ts';

const listsQuery = queryOptions({
  queryKey: [...OPERATOR_KEY, 'lists'],
  queryFn: () => unwrap(api.GET('/dashboard/operator/lists')),
});

export const DisposableListsPage = () => (
  <OperatorOnly>
    <DisposableLists />
  </OperatorOnly>
);

function DisposableLists() {
  const query = useQuery(listsQuery);
  const client = useQueryClient();
  const update = useMutation({
    mutationFn: () => unwrap(api.POST('/dashboard/operator/lists/update')),
    onSuccess: ({ lists }) => client.setQueryData(listsQuery.queryKey, lists),
  });
  return (
    <Page
      title="Disposable lists"
      about="The list of disposable email domains. It grows every day: an outdated list misses new domains."
      action={
        <Button variant="filled" onClick={() => update.mutate()} loading={update.isPending}>
          Update now
        </Button>
      }
    >
      {update.isPending && <Elapsed label="Downloading and checking the latest list…" seconds={20} />}
      {update.error && <ErrorAlert error={update.error} />}
      {update.data && !update.isPending && (
        <Alert color="green" variant="outline" role="status" title="List updated">
          <Text size="sm" className="anywhere">
            {update.data.message}
          </Text>
        </Alert>
      )}
      <QueryResult query={query}>{(lists) => <ListDetails lists={lists} />}</QueryResult>
      <Text size="sm" c="dimmed" maw={640}>
        A background job updates it every day, unless MAILVET_LISTS_UPDATE is off. All nodes use a new list without a
        restart.
      </Text>
    </Page>
  );
}
