import { Badge, Button, Code, Group, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import type { Delivery, Webhook } from '../../api/schema.ts';
import { useAccount, useHasRole } from '../../api/session.ts';
import { type Column, DataTable, NarrowOnly } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { pluralize } from '../../parts/format.ts';
import { notify } from '../../parts/notify.tsx';
import { Pagination } from '../../parts/pagination.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { useDialogState } from '../../parts/use-dialog-state.ts';
import { useLastPage } from '../../parts/use-last-page.ts';
import { Attempts, outcomeOf } from './attempts.tsx';
import { deliveriesQuery } from './queries.ts';

/** What was sent to a webhook, newest first. */
export function Deliveries({ of, page, onTurn }: { of: Webhook; page: number; onTurn: (page: number) => void }) {
  const { id: account } = useAccount();
  const isAdmin = useHasRole('admin');
  const query = useQuery(deliveriesQuery(account, of.id, page));
  useLastPage(page, query.data?.pagination.total_pages, onTurn);
  const { item, opened, open, close } = useDialogState<Delivery>();
  const columns: Column<Delivery>[] = [
    { header: 'Event', cell: (delivery) => <EventName of={delivery} /> },
    { header: 'Status', wideOnly: true, cell: (delivery) => <DeliveryStatus of={delivery} /> },
    { header: 'Time', wideOnly: true, cell: ({ created_at }) => <Timestamp at={created_at} /> },
    {
      header: 'Actions',
      quietHeader: true,
      cell: (delivery) => (
        <Group gap="xs" wrap="nowrap" justify="flex-end">
          <Button
            size="xs"
            onClick={() => open(delivery)}
            aria-label={`${pluralize(delivery.attempts.length, 'attempt')} at ${delivery.event} ${delivery.id}`}
          >
            {pluralize(delivery.attempts.length, 'attempt')}
          </Button>
          {isAdmin && of.enabled && <Replay of={delivery} />}
        </Group>
      ),
    },
  ];
  return (
    <div>
      <Title order={2} mb="sm">
        Deliveries
      </Title>
      <QueryResult query={query}>
        {({ deliveries, pagination }) =>
          deliveries.length === 0 && page === 1 ? (
            <EmptyState title="Nothing sent yet">Send a test to see whether your server receives it.</EmptyState>
          ) : (
            <>
              <DataTable label="Deliveries" columns={columns} rows={deliveries} rowKey={({ id }) => id} />
              <Pagination label="Pages of deliveries" page={page} total={pagination.total_pages} onTurn={onTurn} />
            </>
          )
        }
      </QueryResult>
      <Attempts of={item} opened={opened} onClose={close} />
    </div>
  );
}

const EventName = ({ of }: { of: Delivery }) => (
  <>
    <Code>{of.event}</Code>
    <NarrowOnly>
      <Text size="xs" component="div">
        <DeliveryStatus of={of} /> <Timestamp at={of.created_at} />
      </Text>
    </NarrowOnly>
  </>
);

const COLORS: Readonly<Record<Delivery['status'], string>> = { pending: 'yellow', delivered: 'green', failed: 'red' };

function DeliveryStatus({ of: { status, attempts, next_attempt_at } }: { of: Delivery }) {
  const last = attempts.at(-1);
  return (
    <>
      <Badge variant="outline" color={COLORS[status]} miw="max-content">
        {status}
      </Badge>
      {last && (
        <Text size="xs" component="span">
          {' '}
          {outcomeOf(last)}
        </Text>
      )}
      {last && next_attempt_at !== null && (
        <Text size="xs">
          next attempt <Timestamp at={next_attempt_at} />
        </Text>
      )}
    </>
  );
}

function Replay({ of }: { of: Delivery }) {
  const { id: account } = useAccount();
  const client = useQueryClient();
  const { run, busy, error } = useAsyncAction(async () => {
    const params = { path: { account, id: of.id } };
    await unwrap(api.POST('/dashboard/accounts/{account}/deliveries/{id}/replay', { params }));
    await client.invalidateQueries({ queryKey: ['account', account, 'webhooks'] });
    void notify(`${of.event} is sent again.`);
  });
  return (
    <>
      <Button size="xs" onClick={run} loading={busy} aria-label={`Replay ${of.event} ${of.id}`}>
        Replay
      </Button>
      {error && <ErrorAlert error={error} />}
    </>
  );
}
