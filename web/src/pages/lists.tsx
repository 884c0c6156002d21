import { Alert, Button, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../api/client.ts';
import { Elapsed } from '../parts/elapsed.tsx';
import { Failure } from '../parts/failure.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { ListsFacts } from './lists/facts.tsx';
import { OperatorOnly } from './operator/operator-only.tsx';
import { OPERATOR_KEY } from './operator/queries.ts';

const listsQuery = queryOptions({
  queryKey: [...OPERATOR_KEY, 'lists'],
  queryFn: () => unwrap(api.GET('/dashboard/operator/lists')),
});

export const ListsPage = () => (
  <OperatorOnly>
    <Lists />
  </OperatorOnly>
);

function Lists() {
  const query = useQuery(listsQuery);
  const client = useQueryClient();
  const update = useMutation({
    mutationFn: () => unwrap(api.POST('/dashboard/operator/lists/update')),
    onSuccess: ({ lists }) => client.setQueryData(listsQuery.queryKey, lists),
  });
  return (
    <Page
      title="Lists"
      about="Domains of throw-away addresses. The list grows every day; an old one lets new ones through."
      action={
        <Button variant="filled" onClick={() => update.mutate()} loading={update.isPending}>
          Update now
        </Button>
      }
    >
      {update.isPending && <Elapsed label="Fetching the newest list, and checking it …" seconds={20} />}
      {update.error && <Failure error={update.error} />}
      {update.data && !update.isPending && (
        <Alert color="green" variant="outline" role="status" title="Updated">
          <Text size="sm" className="anywhere">
            {update.data.message}
          </Text>
        </Alert>
      )}
      <Loaded query={query}>{(lists) => <ListsFacts lists={lists} />}</Loaded>
      <Text size="sm" c="dimmed" maw={640}>
        To have it done daily, let a timer run “mailvet lists update” with the options of the service. A new list is
        taken without a restart.
      </Text>
    </Page>
  );
}
