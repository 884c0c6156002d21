import { Anchor, Code, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Webhook } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { DescriptionItem, DescriptionList } from '../parts/description-list.tsx';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { WebhookActions } from './webhooks/actions.tsx';
import { Deliveries } from './webhooks/deliveries.tsx';
import { webhookQuery } from './webhooks/queries.ts';
import { WebhookStatus } from './webhooks/status.tsx';

const route = getRouteApi('/inside/webhooks/$id');

export function WebhookPage() {
  const { id: account } = useAccount();
  const isAdmin = useHasRole('admin');
  const { id } = route.useParams();
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(webhookQuery(account, id));
  return (
    <Page
      title="Webhook"
      about={
        <>
          <span className="anywhere">{id}</span>.{' '}
          <Anchor component={Link} to="/webhooks" underline="always">
            Back to the webhooks
          </Anchor>
        </>
      }
    >
      <QueryResult query={query}>
        {(webhook) => (
          <>
            <Facts of={webhook} />
            {isAdmin && <WebhookActions of={webhook} onDeleted={() => navigate({ to: '/webhooks' })} />}
            <Deliveries
              of={webhook}
              page={page}
              onTurn={(to) => void navigate({ search: to > 1 ? { page: to } : {}, replace: true })}
            />
          </>
        )}
      </QueryResult>
    </Page>
  );
}

const Facts = ({ of }: { of: Webhook }) => (
  <DescriptionList>
    <DescriptionItem term="URL">
      <span className="anywhere">{of.url}</span>
    </DescriptionItem>
    {of.description !== null && (
      <DescriptionItem term="Description">
        <span className="anywhere">{of.description}</span>
      </DescriptionItem>
    )}
    <DescriptionItem term="Events">
      {of.events.includes('*') ? (
        'All events'
      ) : (
        <Group gap={6}>
          {of.events.map((event) => (
            <Code key={event}>{event}</Code>
          ))}
        </Group>
      )}
    </DescriptionItem>
    <DescriptionItem term="Status">
      <WebhookStatus of={of} />
    </DescriptionItem>
    {of.previous_secret_until !== null && (
      <DescriptionItem term="Previous secret">
        Signs alongside until <Timestamp at={of.previous_secret_until} />
      </DescriptionItem>
    )}
    <DescriptionItem term="Created">
      <Timestamp at={of.created_at} />
    </DescriptionItem>
  </DescriptionList>
);
