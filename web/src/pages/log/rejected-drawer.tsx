import { Anchor, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, unwrap } from '../../api/client.ts';
import type { RejectedDetail } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { DescriptionItem, DescriptionList } from '../../parts/description-list.tsx';
import { Drawer, DrawerSteps } from '../../parts/drawer.tsx';
import { formatDateTime, pluralize } from '../../parts/format.ts';
import { Glyph } from '../../parts/glyph.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { Source } from './entry-detail.tsx';
import { rejectionName } from './rows.ts';

/** A rejected request beside the log. `onStep`: to the row above (-1) or below (1). */
export function RejectedDrawer(props: { id: number; onStep: (by: -1 | 1) => void; onClose: () => void }) {
  const { id, onStep, onClose } = props;
  const account = useAccount().id;
  const query = useQuery({
    queryKey: ['account', account, 'log', 'rejected', id],
    queryFn: ({ signal }) => {
      const path = { account, id };
      return unwrap(api.GET('/dashboard/accounts/{account}/log/rejected/{id}', { params: { path }, signal }));
    },
  });
  return (
    <Drawer
      label="Rejected request"
      title="Rejected request"
      onClose={onClose}
      actions={<DrawerSteps onStep={onStep} />}
    >
      <QueryResult query={query}>{(detail) => <Detail detail={detail} />}</QueryResult>
    </Drawer>
  );
}

function Detail({ detail: { rejected, meaning, fix } }: { detail: RejectedDetail }) {
  const { at, count, request_id, client_ip, key, route, code, answer } = rejected;
  if (request_id === null)
    return (
      <Text>
        {pluralize(count, 'more request was', 'more requests were')} rejected in the minute from {formatDateTime(at)}.
        Beyond a number in a minute or a day, rejected requests are only counted.
      </Text>
    );
  return (
    <>
      <Text fw={560}>
        <Glyph of="rejected" /> {rejectionName(rejected)}
      </Text>
      {answer !== null && (
        <Text>
          There was no verdict, for this reason, so that the hook answered <b>{answer}</b>.
        </Text>
      )}
      {meaning !== null && <Text>{meaning}</Text>}
      {fix !== null && (
        <Text>
          <b>What to do:</b> {fix}
        </Text>
      )}
      <DescriptionList>
        <DescriptionItem term="Time">{formatDateTime(at)}</DescriptionItem>
        <DescriptionItem term="Route">{route}</DescriptionItem>
        <DescriptionItem term="Source">
          <Source of={rejected} />
        </DescriptionItem>
        <DescriptionItem term="Request ID">
          <CopyText label="request ID" text={request_id} />
        </DescriptionItem>
        {code !== null && (
          <DescriptionItem term="Error code">
            <CopyText label="error code" text={code} />
          </DescriptionItem>
        )}
        {client_ip !== null && (
          <DescriptionItem term="IP address">
            <CopyText label="IP address" text={client_ip} />
          </DescriptionItem>
        )}
      </DescriptionList>
      {code === 'ip_not_allowed' && key !== null && (
        <Anchor fz="sm" renderRoot={(props) => <Link {...props} to="/settings/keys/$id" params={{ id: key.id }} />}>
          See the allowlist of “{key.name}”
        </Anchor>
      )}
    </>
  );
}
