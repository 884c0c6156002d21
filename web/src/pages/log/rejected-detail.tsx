import { plural, t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Anchor, Button, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import type { RejectedDetail as Detail } from '../../api/schema.ts';
import { useAccount, useHasRole } from '../../api/session.ts';
import { usageQuery } from '../../api/usage.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { dayOf } from '../../parts/days.ts';
import { DescriptionItem, DescriptionList } from '../../parts/description-list.tsx';
import { formatDateTime } from '../../parts/format.ts';
import { Glyph } from '../../parts/glyph.tsx';
import { notify } from '../../parts/notify.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { rangeOf } from '../../parts/time.ts';
import { keyQuery } from '../keys/query.ts';
import { Source } from './entry-detail.tsx';
import { rejectionName } from './rejections.ts';

/** A rejected request: why, what to do, its facts, and what else its key says. */
export function RejectedDetail({ detail: { rejected, meaning, fix } }: { detail: Detail }) {
  const { at, count, request_id, client_ip, key, route, code, answer } = rejected;
  if (request_id === null)
    return (
      <Text>
        <Trans>
          <Plural value={count} one="# more request was" other="# more requests were" /> rejected in the minute from{' '}
          {formatDateTime(at)}. Beyond a number in a minute or a day, rejected requests are only counted.
        </Trans>
      </Text>
    );
  return (
    <>
      <Text fw={560}>
        <Glyph of="rejected" /> {rejectionName(rejected)}
      </Text>
      {answer !== null && (
        <Text>
          <Trans>
            There was no verdict, for this reason, so that the hook answered <b>{answer}</b>.
          </Trans>
        </Text>
      )}
      {meaning !== null && <Text>{meaning}</Text>}
      {fix !== null && (
        <Text>
          <b>{t`What to do:`}</b> {fix}
        </Text>
      )}
      <DescriptionList>
        <DescriptionItem term={t`Time`}>{formatDateTime(at)}</DescriptionItem>
        <DescriptionItem term={t`Route`}>{route}</DescriptionItem>
        <DescriptionItem term={t`Source`}>
          <Source of={rejected} />
        </DescriptionItem>
        <DescriptionItem term={t`Request ID`}>
          <CopyText label={t`request ID`} text={request_id} />
        </DescriptionItem>
        {code !== null && (
          <DescriptionItem term={t`Error code`}>
            <CopyText label={t`error code`} text={code} />
          </DescriptionItem>
        )}
        {client_ip !== null && (
          <DescriptionItem term={t`IP address`}>
            <CopyText label={t`IP address`} text={client_ip} />
          </DescriptionItem>
        )}
      </DescriptionList>
      {key !== null && <Today of={key} />}
      {code === 'ip_not_allowed' && key !== null && client_ip !== null && <Allowlist of={key} ip={client_ip} />}
    </>
  );
}

type Key = NonNullable<Detail['rejected']['key']>;

/** How many requests with the key were rejected today. */
function Today({ of: { id, name } }: { of: Key }) {
  const account = useAccount().id;
  const range = rangeOf(today(), Date.now());
  const { data } = useQuery(usageQuery(account, range, { key: id }));
  const count = data?.by_key.find(({ key_id }) => key_id === id)?.rejected;
  if (count === undefined || count === 0) return null;
  return (
    <Anchor
      fz="sm"
      renderRoot={(props) => <Link {...props} to="/log" search={{ ...today(), key: id, status: 'rejected' }} />}
    >
      {plural(count, {
        one: `# request with “${name}” was rejected today (UTC)`,
        other: `# requests with “${name}” were rejected today (UTC)`,
      })}
    </Anchor>
  );
}

const today = () => {
  const day = dayOf(Date.now());
  return { from: day, to: day };
};

/** What the key allows, and a way to add the address. */
function Allowlist({ of, ip }: { of: Key; ip: string }) {
  const account = useAccount().id;
  const isAdmin = useHasRole('admin');
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const query = useQuery(keyQuery(account, of.id));
  const allowed = query.data?.key.allow_ips;
  const isAllowed = allowed?.includes(ip) === true;
  async function allow() {
    const params = { path: { account, id: of.id } };
    const body = { allow_ips: [...(allowed ?? []), ip] };
    await unwrap(api.PATCH('/dashboard/accounts/{account}/keys/{id}', { params, body }));
    await client.invalidateQueries({ queryKey: ['account', account, 'keys'] });
    void notify(t`“${of.name}” allows ${ip}.`);
  }
  return (
    <QueryResult query={query}>
      {({ key: { allow_ips } }) => (
        <>
          <Text size="sm" className="anywhere">
            {isAllowed ? t`“${of.name}” allows ${ip} by now.` : t`“${of.name}” allows ${allow_ips.join(', ')}.`}{' '}
            <Anchor
              fz="sm"
              underline="always"
              renderRoot={(props) => <Link {...props} to="/settings/keys/$id" params={{ id: of.id }} />}
            >{t`See its allowlist`}</Anchor>
          </Text>
          {isAdmin && !isAllowed && (
            <Button onClick={() => setAsking(true)} style={{ alignSelf: 'start' }}>
              <Trans>Allow {ip}</Trans>
            </Button>
          )}
          <ConfirmDialog
            opened={asking}
            onClose={() => setAsking(false)}
            title={t`Allow ${ip}`}
            action={t`Allow`}
            isLoss={false}
            onConfirm={allow}
          >
            <Trans>
              Whoever has the key “{of.name}” can use it from {ip} as well, at once.
            </Trans>
          </ConfirmDialog>
        </>
      )}
    </QueryResult>
  );
}
