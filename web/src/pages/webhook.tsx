import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Badge, Button, Code, Group, Modal, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { DELIVERY_STATUSES } from '../../../src/kernel/facts/events.ts';
import { WEBHOOK_SECRET_OVERLAP_HOURS } from '../../../src/kernel/facts/lifetimes.ts';
import { api, isNotFound, unwrap } from '../api/client.ts';
import type { Delivery, Webhook } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { DescriptionItem, DescriptionList } from '../parts/description-list.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { FilterChip } from '../parts/filter-chip.tsx';
import { formatNumber } from '../parts/format.ts';
import { NotFound } from '../parts/not-found.tsx';
import { notify } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { Pagination } from '../parts/pagination.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useAsyncAction } from '../parts/use-async-action.ts';
import { useDialogState } from '../parts/use-dialog-state.ts';
import { useLastPage } from '../parts/use-last-page.ts';
import { escapeInvisible, escapeInvisibleJson } from '../parts/verdict/escape-invisible.ts';
import { SECRET_DIALOG } from './webhooks/create-dialog.tsx';
import { WebhookForm } from './webhooks/form.tsx';
import { deliveriesQuery, deliveryQuery, webhookQuery } from './webhooks/queries.ts';
import { type WebhookSearch, webhookSearch } from './webhooks/search.ts';
import { SecretPanel } from './webhooks/secret-panel.tsx';
import { WebhookStatus } from './webhooks/status.tsx';

export function WebhookPage() {
  const { id: account } = useAccount();
  const isAdmin = useHasRole('admin');
  const { id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(webhookQuery(account, id));
  if (isNotFound(query.error))
    return <NotFound inside what={t`Webhook`} back={{ to: '/webhooks', label: t`All webhooks` }} />;
  return (
    <Page title={query.data?.url ?? t`Webhook`} about={query.data?.description}>
      <QueryResult query={query}>
        {(webhook) => (
          <>
            <Facts of={webhook} />
            {isAdmin && <WebhookActions of={webhook} onDeleted={() => navigate({ to: '/webhooks' })} />}
            <Deliveries
              of={webhook}
              search={search}
              onSearch={(next) => void navigate({ search: next, replace: true, resetScroll: false })}
            />
          </>
        )}
      </QueryResult>
    </Page>
  );
}

type Attempt = Delivery['attempts'][number];
const ERRORS: Readonly<Record<NonNullable<Attempt['error']>, string>> = {
  timeout: t`no reply in time`,
  unknown_host: t`the host name has no public address`,
  dns_failure: t`the DNS servers of the host name did not answer`,
  address_not_allowed: t`the address is not publicly routable`,
  not_https: t`the URL is not https`,
  connection_failed: t`the connection failed`,
  certificate_expired: t`the TLS certificate has expired or is not valid yet`,
  certificate_name_mismatch: t`the TLS certificate is for another host name`,
  certificate_untrusted: t`the TLS certificate is self-signed, or its chain is incomplete or not trusted`,
  tls_failed: t`the TLS handshake failed`,
  invalid_reply: t`the reply was not valid HTTP`,
};

/** In words, to be continued. */
const outcomeOf = ({ status, error }: Attempt): string =>
  status === null ? (error === null ? t`no reply` : ERRORS[error]) : t`status ${status}`;

/** The attempts of a delivery, the last one first. */
const Attempts = ({ of, opened, onClose }: { of: Delivery | null; opened: boolean; onClose: () => void }) => (
  <Modal opened={opened} onClose={onClose} title={of ? t`Delivery of ${of.event}` : ''} size="lg">
    {of && (
      <Stack>
        <Sent of={of} />
        {of.attempts.length === 0 && <Text size="sm">{t`No attempt yet.`}</Text>}
        {of.attempts.map((attempt, i) => <AttemptEntry key={attempt.at} of={attempt} number={i + 1} />).reverse()}
      </Stack>
    )}
  </Modal>
);

/** What is sent: headers, and the payload with lines and indents. */
function Sent({ of }: { of: Delivery }) {
  const query = useQuery(deliveryQuery(useAccount().id, of.id));
  return (
    <QueryResult query={query}>
      {({ payload, headers }) => (
        <>
          <Code block className="anywhere" tabIndex={0} aria-label={t`Request headers`}>
            {Object.entries(headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n')}
          </Code>
          <Text size="xs" c="dimmed">{t`The header webhook-signature is computed for each attempt and not kept.`}</Text>
          <CopyText label={t`payload`} text={escapeInvisibleJson(JSON.parse(payload))} block />
        </>
      )}
    </QueryResult>
  );
}

const AttemptEntry = ({ of, number }: { of: Attempt; number: number }) => (
  <section aria-label={t`Attempt ${number}`}>
    <Text component="h3" fw={600} size="sm">
      <Trans>
        Attempt {formatNumber(number)}: {outcomeOf(of)}
      </Trans>
    </Text>
    <Text size="sm">
      <Trans>
        <Timestamp at={of.at} />, {formatNumber(of.duration_ms)} ms
      </Trans>
    </Text>
    {of.response !== null && of.response !== '' && (
      <Code block className="anywhere" mt={4} tabIndex={0} aria-label={t`Start of the reply to attempt ${number}`}>
        {escapeInvisible(of.response)}
      </Code>
    )}
  </section>
);

const STATUS: Readonly<Record<Delivery['status'], { readonly label: string; readonly color: string }>> = {
  pending: { label: t`pending`, color: 'yellow' },
  delivered: { label: t`delivered`, color: 'green' },
  failed: { label: t`failed`, color: 'red' },
};
const STATUS_OPTIONS = DELIVERY_STATUSES.map((value) => ({ value, label: STATUS[value].label }));

/** What was sent to a webhook, newest first. */
function Deliveries(props: { of: Webhook; search: WebhookSearch; onSearch: (search: WebhookSearch) => void }) {
  const { of, search, onSearch } = props;
  const { page = 1, status } = search;
  const onTurn = (page: number) => onSearch(webhookSearch({ status, page }));
  const { id: account } = useAccount();
  const isAdmin = useHasRole('admin');
  const query = useQuery(deliveriesQuery(account, of.id, search));
  useLastPage(page, query.data?.pagination.total_pages, onTurn);
  const { item, opened, open, close } = useDialogState<Delivery>();
  const [replayed, setReplayed] = useState<string | null>(null);
  const columns: Column<Delivery>[] = [
    { header: t`Event`, cell: ({ event }) => <Code>{event}</Code> },
    { header: t`Status`, folds: true, cell: (delivery) => <DeliveryStatus of={delivery} /> },
    { header: t`Time`, folds: true, cell: ({ created_at }) => <Timestamp at={created_at} /> },
    {
      header: t`Actions`,
      quietHeader: true,
      cell: (delivery) => (
        <Group gap="xs" wrap="nowrap" justify="flex-end">
          <Button
            size="xs"
            onClick={() => open(delivery)}
            aria-label={t`${plural(delivery.attempts.length, { one: '# attempt', other: '# attempts' })} at ${delivery.event} ${delivery.id}`}
          >
            {plural(delivery.attempts.length, { one: '# attempt', other: '# attempts' })}
          </Button>
          {isAdmin && of.enabled && <Replay of={delivery} onEnd={setReplayed} />}
        </Group>
      ),
    },
  ];
  return (
    <div>
      <Group mb="sm">
        <Title order={2}>{t`Deliveries`}</Title>
        <FilterChip
          name={t`Status`}
          options={STATUS_OPTIONS}
          value={status ?? null}
          onChange={(chosen) => onSearch(webhookSearch({ status: chosen }))}
        />
      </Group>
      <Text size="sm" role="status" mb={replayed === null ? 0 : 'xs'}>
        {replayed}
      </Text>
      <QueryResult query={query}>
        {({ deliveries, pagination }) =>
          deliveries.length === 0 && page === 1 && status !== undefined ? (
            <EmptyState title={t`No matches`}>{t`No delivery that is kept has this status.`}</EmptyState>
          ) : deliveries.length === 0 && page === 1 ? (
            <EmptyState
              title={t`Nothing sent yet`}
            >{t`Send a test to see whether your server receives it.`}</EmptyState>
          ) : (
            <>
              <DataTable label={t`Deliveries`} columns={columns} rows={deliveries} rowKey={({ id }) => id} />
              <Pagination label={t`Pages of deliveries`} page={page} total={pagination.total_pages} onTurn={onTurn} />
            </>
          )
        }
      </QueryResult>
      <Attempts of={item} opened={opened} onClose={close} />
    </div>
  );
}

function DeliveryStatus({ of: { status, attempts, next_attempt_at } }: { of: Delivery }) {
  const last = attempts.at(-1);
  return (
    <>
      <Badge variant="outline" color={STATUS[status].color} miw="max-content">
        {STATUS[status].label}
      </Badge>
      {last && (
        <Text size="xs" component="span">
          {' '}
          {outcomeOf(last)}
        </Text>
      )}
      {last && next_attempt_at !== null && (
        <Text size="xs">
          <Trans>
            next attempt <Timestamp at={next_attempt_at} />
          </Trans>
        </Text>
      )}
    </>
  );
}

/** How long the result of a replay is waited for, and how often it is looked for, ms. */
const REPLAY_MS = 30_000;
const LOOK_MS = 400;

/** `Replay of list.completed: attempt 3, status 500 after 5 ms.` */
function resultOf({ event, attempts }: Delivery, before: number): string {
  const last = attempts.at(-1);
  if (last === undefined || attempts.length === before)
    return t`Replay of ${event}: not attempted yet; see its row later.`;
  const after = t`after ${formatNumber(last.duration_ms)} ms`;
  return t`Replay of ${event}: attempt ${formatNumber(attempts.length)}, ${outcomeOf(last)} ${after}.`;
}

function Replay({ of, onEnd }: { of: Delivery; onEnd: (result: string) => void }) {
  const { id: account } = useAccount();
  const client = useQueryClient();
  const { run, busy, error } = useAsyncAction(async () => {
    const params = { path: { account, id: of.id } };
    const sent = await unwrap(api.POST('/dashboard/accounts/{account}/deliveries/{id}/replay', { params }));
    const before = sent.attempts.length;
    const untilMs = Date.now() + REPLAY_MS;
    let now = sent;
    while (now.attempts.length === before && Date.now() < untilMs) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      now = (await client.fetchQuery({ ...deliveryQuery(account, sent.id), staleTime: 0 })).delivery;
    }
    await client.invalidateQueries({ queryKey: ['account', account, 'webhooks'] });
    onEnd(resultOf(now, before));
  });
  return (
    <>
      <Button size="xs" onClick={run} loading={busy} aria-label={t`Replay ${of.event} ${of.id}`}>{t`Replay`}</Button>
      {error && <ErrorAlert error={error} />}
    </>
  );
}

type Open = 'edit' | 'disable' | 'rotate' | 'delete';

/** Requests about a webhook. */
function useWebhook({ id }: Webhook) {
  const { id: account } = useAccount();
  const client = useQueryClient();
  const params = { path: { account, id } };
  const refresh = () => client.invalidateQueries({ queryKey: ['account', account, 'webhooks'] });
  const change = async (body: Partial<Pick<Webhook, 'url' | 'events' | 'description' | 'enabled'>>) => {
    await unwrap(api.PATCH('/dashboard/accounts/{account}/webhooks/{id}', { params, body }));
    await refresh();
  };
  return { params, refresh, change };
}

/** What an admin can do with a webhook. */
function WebhookActions({ of, onDeleted }: { of: Webhook; onDeleted: () => Promise<unknown> }) {
  const { params, refresh, change } = useWebhook(of);
  const [open, setOpen] = useState<Open | null>(null);
  const [tested, setTested] = useState<Delivery | null>(null);
  const test = useAsyncAction(async () => {
    setTested(null);
    setTested(await unwrap(api.POST('/dashboard/accounts/{account}/webhooks/{id}/test', { params })));
    await refresh();
  });
  const enable = useAsyncAction(() => change({ enabled: true }));
  const error = test.error ?? enable.error;
  return (
    <>
      <Group gap="xs">
        <Button variant="filled" onClick={test.run} loading={test.busy}>{t`Send test`}</Button>
        <Button onClick={() => setOpen('edit')}>{t`Edit`}</Button>
        {of.enabled ? (
          <Button onClick={() => setOpen('disable')}>{t`Disable`}</Button>
        ) : (
          <Button onClick={enable.run} loading={enable.busy}>{t`Enable`}</Button>
        )}
        <Button onClick={() => setOpen('rotate')}>{t`Rotate secret`}</Button>
        <Button color="red" onClick={() => setOpen('delete')}>{t`Delete`}</Button>
      </Group>
      <div role="status">
        {tested && (
          <Text size="sm">
            {tested.status === 'delivered'
              ? t`The test arrived: ${tested.attempts.map(outcomeOf).join(', ')}.`
              : t`The test failed: ${tested.attempts.map(outcomeOf).join(', ')}.`}
          </Text>
        )}
      </div>
      {error && <ErrorAlert error={error} />}
      <WebhookDialogs of={of} open={open} onClose={() => setOpen(null)} onDeleted={onDeleted} />
    </>
  );
}

/** One at a time. */
function WebhookDialogs(props: {
  of: Webhook;
  open: Open | null;
  onClose: () => void;
  onDeleted: () => Promise<unknown>;
}) {
  const { of, open, onClose: close, onDeleted } = props;
  const { params, refresh, change } = useWebhook(of);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <Modal opened={open === 'edit'} onClose={close} title={t`Edit webhook`} size="lg">
        <WebhookForm
          initial={of}
          format={of.format}
          action={t`Save`}
          onCancel={close}
          onSave={async (body) => {
            await change(body);
            close();
            void notify(t`Webhook saved.`);
          }}
        />
      </Modal>
      <ConfirmDialog
        opened={open === 'disable'}
        onClose={close}
        title={t`Disable webhook`}
        action={t`Disable`}
        onConfirm={() => change({ enabled: false })}
      >{t`Nothing is sent to it until it is enabled again. Pending deliveries fail now, and events that happen meanwhile are not sent later.`}</ConfirmDialog>
      <ConfirmDialog
        opened={open === 'rotate'}
        onClose={close}
        title={t`Rotate secret`}
        action={t`Rotate secret`}
        onConfirm={async () => {
          const path = '/dashboard/accounts/{account}/webhooks/{id}/rotate-secret';
          setSecret((await unwrap(api.POST(path, { params }))).secret);
          await refresh();
        }}
      >
        <Trans>
          Creates a new signing secret. For {WEBHOOK_SECRET_OVERLAP_HOURS} hours requests are signed with both secrets,
          so that you can switch without rejecting any.
        </Trans>
      </ConfirmDialog>
      <Modal opened={secret !== null} onClose={() => setSecret(null)} title={t`New secret`} {...SECRET_DIALOG}>
        {secret !== null && <SecretPanel secret={secret} onClose={() => setSecret(null)} />}
      </Modal>
      <ConfirmDialog
        opened={open === 'delete'}
        onClose={close}
        title={t`Delete webhook`}
        action={t`Delete`}
        onConfirm={async () => {
          await unwrap(api.DELETE('/dashboard/accounts/{account}/webhooks/{id}', { params }));
          await onDeleted();
          await refresh();
          void notify(t`Webhook deleted.`);
        }}
      >{t`The webhook and its deliveries are deleted. This cannot be undone. To stop it for a while, disable it instead.`}</ConfirmDialog>
    </>
  );
}

const route = getRouteApi('/inside/webhooks/$id');

const Facts = ({ of }: { of: Webhook }) => (
  <DescriptionList>
    <DescriptionItem term="ID">
      <span className="mono anywhere">{of.id}</span>
    </DescriptionItem>
    <DescriptionItem term={t`Events`}>
      {of.events.includes('*') ? (
        t`All events`
      ) : (
        <Group gap={6}>
          {of.events.map((event) => (
            <Code key={event}>{event}</Code>
          ))}
        </Group>
      )}
    </DescriptionItem>
    <DescriptionItem term={t`Status`}>
      <WebhookStatus of={of} />
    </DescriptionItem>
    {of.previous_secret_until !== null && (
      <DescriptionItem term={t`Previous secret`}>
        <Trans>
          Signs alongside until <Timestamp at={of.previous_secret_until} />
        </Trans>
      </DescriptionItem>
    )}
    <DescriptionItem term={t`Created`}>
      <Timestamp at={of.created_at} />
    </DescriptionItem>
  </DescriptionList>
);
