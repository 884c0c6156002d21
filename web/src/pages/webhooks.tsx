import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Badge, Button, Code, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { RECENT_DAYS, WEBHOOKS_MAX } from '../../../src/kernel/facts/limits.ts';
import type { WebhookHere } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { formatShare, shareOf } from '../parts/delta.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { formatNumber } from '../parts/format.ts';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useSearchOnce } from '../parts/use-search-once.ts';
import { CreateWebhook } from './webhooks/create-dialog.tsx';
import { webhooksQuery } from './webhooks/queries.ts';
import { WebhookStatus } from './webhooks/status.tsx';

export function WebhooksPage() {
  const { id } = useAccount();
  const isAdmin = useHasRole('admin');
  const query = useQuery(webhooksQuery(id));
  const [creating, setCreating] = useState(false);
  const { create: isAsked } = route.useSearch();
  useSearchOnce('create', isAsked, () => setCreating(isAdmin));
  const isFull = (query.data?.webhooks.length ?? 0) >= WEBHOOKS_MAX;
  const create = isAdmin && (
    <Button variant="filled" onClick={() => setCreating(true)} disabled={isFull}>{t`Create webhook`}</Button>
  );
  return (
    <Page
      title={t`Webhooks`}
      about={t`Events of this account, sent to your server as signed HTTP requests as soon as they happen.`}
      action={query.data?.webhooks.length ? create : null}
    >
      <QueryResult query={query}>
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <EmptyState title={t`No webhooks yet`} action={create}>
              {isAdmin
                ? t`Create one to be notified when a list is completed, when credits run low, or when an API key changes.`
                : ADMINS_ONLY}
            </EmptyState>
          ) : (
            <>
              {!isAdmin && <Text size="sm">{ADMINS_ONLY}</Text>}
              <DataTable label={t`Webhooks`} columns={COLUMNS} rows={webhooks} rowKey={({ id }) => id} />
              {isAdmin && isFull && (
                <Text size="sm" c="dimmed">
                  <Trans>This account has all {formatNumber(WEBHOOKS_MAX)} webhooks that it can have.</Trans>
                </Text>
              )}
            </>
          )
        }
      </QueryResult>
      <CreateWebhook opened={creating} onClose={() => setCreating(false)} />
    </Page>
  );
}

const route = getRouteApi('/inside/webhooks');

const ADMINS_ONLY = t`Only admins and owners can create and change webhooks.`;

const COLUMNS: readonly Column<WebhookHere>[] = [
  { header: t`Webhook`, cell: (webhook) => <Endpoint of={webhook} /> },
  { header: t`Status`, folds: true, cell: (webhook) => <WebhookStatus of={webhook} /> },
  {
    header: t`Delivered, ${RECENT_DAYS} days`,
    numeric: true,
    folds: true,
    cell: ({ delivered, failed }) => formatShare(shareOf(delivered, delivered + failed)),
  },
  {
    header: t`Last delivery`,
    folds: true,
    cell: ({ last_delivery_at: at }) => (at === null ? t`None in ${RECENT_DAYS} days` : <Timestamp at={at} />),
  },
  { header: t`Events`, folds: 'first', cell: ({ events }) => <Events of={events} /> },
  { header: t`Created`, folds: 'first', cell: ({ created_at }) => <Timestamp at={created_at} /> },
];

function Endpoint({ of }: { of: WebhookHere }) {
  const { id, url, description } = of;
  return (
    <>
      <Anchor
        size="sm"
        fw={600}
        className="anywhere"
        renderRoot={(props) => <Link {...props} to="/webhooks/$id" params={{ id }} />}
      >
        {url}
      </Anchor>
      {description !== null && (
        <Text size="xs" className="anywhere">
          {description}
        </Text>
      )}
    </>
  );
}

const Events = ({ of }: { of: WebhookHere['events'] }) =>
  of.includes('*') ? (
    <Badge variant="outline">{t`all events`}</Badge>
  ) : (
    <Group gap={6}>
      {of.map((event) => (
        <Code key={event}>{event}</Code>
      ))}
    </Group>
  );
