import { plural, t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { LIST_ACTION_STATUSES, type ListAction } from '../../../../src/kernel/facts/lists.ts';
import { api, unwrap } from '../../api/client.ts';
import type { ListHere } from '../../api/schema.ts';
import { useAccount, useHasRole } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { formatDateTime } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { notify } from '../../parts/notify.tsx';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { ListDownloads } from './download-menu.tsx';
import { listsKey } from './queries.ts';
import type { ListSearch } from './search.ts';

const hasStatusFor = (action: ListAction, { status }: ListHere): boolean =>
  LIST_ACTION_STATUSES[action].includes(status);

/** What can be done with a list in its state; the start of one that is ready stands with its price. */
export function ListActions({ of, search }: { of: ListHere; search: ListSearch }) {
  const { id: account } = useAccount();
  const mayChange = useHasRole('member');
  const allows = (action: ListAction) => mayChange && hasStatusFor(action, of);
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asking, setAsking] = useState<'cancel' | 'delete' | null>(null);
  const params = { path: { account, id: of.id } };
  const refresh = () => client.invalidateQueries({ queryKey: listsKey(account) });
  const toggle = useAsyncAction(async () => {
    await unwrap(
      of.status === 'running'
        ? api.POST('/dashboard/accounts/{account}/lists/{id}/pause', { params })
        : api.POST('/dashboard/accounts/{account}/lists/{id}/resume', { params }),
    );
    await refresh();
  });
  async function cancel() {
    await unwrap(api.POST('/dashboard/accounts/{account}/lists/{id}/cancel', { params }));
    await refresh();
    void notify(t`${of.name} was canceled.`);
  }
  async function remove() {
    await unwrap(api.DELETE('/dashboard/accounts/{account}/lists/{id}', { params }));
    // Before its queries are asked again: it does not exist anymore.
    await navigate({ to: '/lists' });
    await refresh();
    void notify(t`${of.name} was deleted.`);
  }
  return (
    <>
      {(allows('pause') || allows('resume')) && (
        <Button
          leftSection={<Icon name={of.status === 'running' ? 'player-pause' : 'player-play'} />}
          loading={toggle.busy}
          onClick={toggle.run}
        >
          {of.status === 'running' ? t`Pause` : t`Resume`}
        </Button>
      )}
      {of.status !== 'ready' && allows('cancel') && (
        <Button color="red" onClick={() => setAsking('cancel')}>{t`Cancel`}</Button>
      )}
      {allows('delete') && <Button color="red" onClick={() => setAsking('delete')}>{t`Delete`}</Button>}
      {of.status !== 'ready' && <ListDownloads of={of} search={search} />}
      {toggle.error && <ErrorAlert error={toggle.error} />}
      <ConfirmDialog
        title={t`Cancel ${of.name}?`}
        action={t`Cancel the list`}
        keep={t`Keep it`}
        opened={asking === 'cancel'}
        onClose={() => setAsking(null)}
        onConfirm={cancel}
      >
        <CancelLoss of={of} />
      </ConfirmDialog>
      <ConfirmDialog
        title={t`Delete ${of.name}?`}
        action={t`Delete`}
        opened={asking === 'delete'}
        onClose={() => setAsking(null)}
        onConfirm={remove}
      >
        <DeleteLoss of={of} />
      </ConfirmDialog>
    </>
  );
}

function CancelLoss({ of: { rows, progress, credits } }: { of: ListHere }): ReactNode {
  const left = rows.addresses - progress.done;
  return (
    <Trans>
      This is final: <Plural value={left} one="# address" other="# addresses" /> will have no verdict.{' '}
      <Plural value={credits.held} one="# held credit" other="# held credits" />{' '}
      {credits.held === 1 ? t`comes` : t`come`} back. The{' '}
      <Plural value={progress.done} one="# result" other="# results" /> so far{' '}
      {progress.done === 1 ? t`stays` : t`stay`}, and can be downloaded.
    </Trans>
  );
}

function DeleteLoss({ of: { rows, progress, credits, status, expires_at } }: { of: ListHere }): ReactNode {
  if (status === 'ready')
    return (
      <Trans>
        Its <Plural value={rows.total} one="# row" other="# rows" /> are deleted. Nothing was charged for them.
      </Trans>
    );
  return (
    <>
      <Trans>
        Its <Plural value={rows.total} one="# row" other="# rows" /> and{' '}
        <Plural value={progress.done} one="# result" other="# results" /> are deleted, also from the log. Download what
        you need first.
      </Trans>{' '}
      {credits.held > 0 &&
        plural(credits.held, { one: '# held credit comes back.', other: '# held credits come back.' })}{' '}
      {credits.used > 0 &&
        plural(credits.used, {
          one: '# credit spent on it is not refunded.',
          other: '# credits spent on it are not refunded.',
        })}{' '}
      <Trans>This cannot be undone. Without you, it is deleted on {formatDateTime(expires_at)}.</Trans>
    </>
  );
}
