import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Button, Checkbox, Group, Modal, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ALERT_TYPES, ALERTS, type AlertType } from '../../../src/kernel/facts/alerts.ts';
import { WEBHOOKS_MAX } from '../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../api/client.ts';
import type { Alerts, Webhook } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { factText } from '../parts/fact-text.ts';
import { notify } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { Panel } from '../parts/panel.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useAsyncAction } from '../parts/use-async-action.ts';
import { WebhookForm } from './webhooks/form.tsx';
import { webhooksQuery } from './webhooks/queries.ts';
import { WebhookStatus } from './webhooks/status.tsx';

const alertsKey = (account: string) => ['account', account, 'alerts'] as const;
const alertsQuery = (account: string) =>
  queryOptions({
    queryKey: alertsKey(account),
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/alerts', { params: { path: { account } }, signal })),
    refetchInterval: 60_000,
  });

const SLACK_BODY = '{"text": …}';

export function AlertsPage() {
  const { id } = useAccount();
  const isAdmin = useHasRole('admin');
  const query = useQuery(alertsQuery(id));
  return (
    <Page
      title={t`Alerts`}
      about={t`Notifications by mail and in chats, once for each cause. Webhooks receive the same as events.`}
    >
      {!isAdmin && <Text size="sm">{t`Only admins and owners can choose alerts.`}</Text>}
      <QueryResult query={query}>
        {(alerts) => (
          <>
            <Mail of={alerts} />
            <Chats />
          </>
        )}
      </QueryResult>
    </Page>
  );
}

/** What owners and admins are mailed. */
function Mail({ of }: { of: Alerts }) {
  const { id: account } = useAccount();
  const isAdmin = useHasRole('admin');
  const client = useQueryClient();
  const params = { path: { account } };
  const change = useMutation({
    mutationFn: (body: { mails?: AlertType[]; mails_paused?: boolean }) =>
      unwrap(api.PATCH('/dashboard/accounts/{account}/alerts', { params, body })),
    onSettled: () => client.invalidateQueries({ queryKey: alertsKey(account) }),
  });
  const test = useAsyncAction(async () => {
    const { message } = await unwrap(api.POST('/dashboard/accounts/{account}/alerts/test', { params }));
    void notify(message);
  });
  const error = change.error ?? test.error;
  // A box shows at once what was chosen.
  const mails = (change.isPending ? change.variables.mails : undefined) ?? of.mails;
  const columns: readonly Column<AlertType>[] = [
    {
      header: t`Alert`,
      cell: (type) => (
        <>
          {factText(ALERTS[type].label)}
          <Text size="xs" c="dimmed">
            {factText(ALERTS[type].condition)}
          </Text>
        </>
      ),
    },
    { header: t`Going on`, cell: (type) => <GoingOn of={of} type={type} />, folds: true },
    {
      header: t`By mail`,
      numeric: true,
      cell: (type) => (
        <Checkbox
          aria-label={t`Mail: ${factText(ALERTS[type].label)}`}
          checked={mails.includes(type)}
          disabled={!isAdmin || change.isPending}
          style={{ display: 'inline-block' }}
          onChange={({ currentTarget: { checked } }) =>
            change.mutate({ mails: ALERT_TYPES.filter((one) => (one === type ? checked : of.mails.includes(one))) })
          }
        />
      ),
    },
  ];
  return (
    <Panel
      title={t`Alerts by mail`}
      flush="table"
      actions={
        isAdmin &&
        of.mail && (
          <Group gap="xs">
            <Button size="xs" onClick={() => test.run()} loading={test.busy}>{t`Send a test to me`}</Button>
            <Button
              size="xs"
              onClick={() => change.mutate({ mails_paused: !of.mails_paused })}
              loading={change.isPending}
              aria-label={of.mails_paused ? t`Resume mails` : t`Pause mails`}
            >
              {of.mails_paused ? t`Resume` : t`Pause`}
            </Button>
          </Group>
        )
      }
      footer={
        <Text size="sm" role="status">
          {!of.mail
            ? t`This service is not set up to send mail.`
            : of.mails_paused
              ? t`Paused: no alerts are mailed.`
              : t`Mailed to all owners and admins.`}
        </Text>
      }
    >
      <DataTable label={t`Alerts by mail`} columns={columns} rows={ALERT_TYPES} rowKey={(type) => type} />
      {error && <ErrorAlert error={error} />}
    </Panel>
  );
}

function GoingOn({ of, type }: { of: Alerts; type: AlertType }) {
  const [latest, ...others] = of.open.filter((one) => one.type === type);
  if (latest === undefined) return '–';
  return (
    <Trans>
      since <Timestamp at={latest.since} />
      {others.length > 0 && t`, and ${others.length} more`}
    </Trans>
  );
}

/** Chats that take texts. */
function Chats() {
  const { id: account } = useAccount();
  const isAdmin = useHasRole('admin');
  const client = useQueryClient();
  const query = useQuery(webhooksQuery(account));
  const [adding, setAdding] = useState(false);
  const isFull = (query.data?.webhooks.length ?? 0) >= WEBHOOKS_MAX;
  const add = isAdmin && <Button size="xs" onClick={() => setAdding(true)} disabled={isFull}>{t`Add chat`}</Button>;
  const columns: readonly Column<Webhook>[] = [
    { header: t`Chat`, cell: (chat) => <Chat of={chat} /> },
    {
      header: t`Alerts`,
      folds: true,
      cell: ({ events }) =>
        events.includes('*')
          ? t`All`
          : ALERT_TYPES.filter((type) => events.includes(type))
              .map((type) => factText(ALERTS[type].label))
              .join(', '),
    },
    { header: t`Status`, cell: (chat) => <WebhookStatus of={chat} />, folds: true },
    { header: t`Actions`, quietHeader: true, numeric: true, cell: (chat) => isAdmin && <ChatActions of={chat} /> },
  ];
  return (
    <Panel title={t`Alerts in chats`} flush="table" actions={add}>
      <QueryResult query={query}>
        {({ webhooks }) => {
          const chats = webhooks.filter(({ format }) => format === 'slack');
          return chats.length === 0 ? (
            <EmptyState title={t`No chats yet`}>
              <Trans>
                Add the URL of an incoming webhook of Slack, Mattermost or another chat that takes{' '}
                <code>{SLACK_BODY}</code>.
              </Trans>
            </EmptyState>
          ) : (
            <DataTable label={t`Alerts in chats`} columns={columns} rows={chats} rowKey={({ id }) => id} />
          );
        }}
      </QueryResult>
      <Modal opened={adding} onClose={() => setAdding(false)} title={t`Add chat`} size="lg">
        <WebhookForm
          format="slack"
          initial={{ url: '', events: ['*'], description: null }}
          action={t`Add chat`}
          onCancel={() => setAdding(false)}
          onSave={async (body) => {
            const call = { params: { path: { account } }, body: { ...body, format: 'slack' } } as const;
            await unwrap(api.POST('/dashboard/accounts/{account}/webhooks', call));
            setAdding(false);
            void notify(t`Chat added. Send a test to see whether it arrives.`);
            await client.invalidateQueries({ queryKey: ['account', account, 'webhooks'] });
          }}
        />
      </Modal>
    </Panel>
  );
}

const Chat = ({ of: { id, url, description } }: { of: Webhook }) => (
  <>
    <Anchor
      size="sm"
      fw={600}
      className="anywhere"
      renderRoot={(props) => <Link {...props} to="/webhooks/$id" params={{ id }} />}
    >
      {description ?? url}
    </Anchor>
    {description !== null && (
      <Text size="xs" className="anywhere">
        {url}
      </Text>
    )}
  </>
);

function ChatActions({ of }: { of: Webhook }) {
  const { id: account } = useAccount();
  const client = useQueryClient();
  const params = { path: { account, id: of.id } };
  const refresh = () => client.invalidateQueries({ queryKey: ['account', account, 'webhooks'] });
  const name = of.description ?? of.url;
  const test = useAsyncAction(async () => {
    const { status } = await unwrap(api.POST('/dashboard/accounts/{account}/webhooks/{id}/test', { params }));
    void notify(status === 'delivered' ? t`The test arrived at ${name}.` : t`The test failed: see ${name} for why.`);
    await refresh();
  });
  const pause = useAsyncAction(async () => {
    const body = { enabled: !of.enabled };
    await unwrap(api.PATCH('/dashboard/accounts/{account}/webhooks/{id}', { params, body }));
    await refresh();
  });
  const error = test.error ?? pause.error;
  return (
    <>
      <Group gap="xs" justify="flex-end">
        <Button size="xs" onClick={() => test.run()} loading={test.busy} aria-label={t`Test ${name}`}>{t`Test`}</Button>
        <Button
          size="xs"
          onClick={() => pause.run()}
          loading={pause.busy}
          aria-label={`${of.enabled ? t`Pause` : t`Resume`} ${name}`}
        >
          {of.enabled ? t`Pause` : t`Resume`}
        </Button>
      </Group>
      {error && <ErrorAlert error={error} />}
    </>
  );
}
