import { plural, t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Anchor, Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { heldPrice } from '../../../../src/kernel/facts/plans.ts';
import { api, unwrap } from '../../api/client.ts';
import type { ListHere } from '../../api/schema.ts';
import { useAccount, useHasRole } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { formatDateTime } from '../../parts/format.ts';
import { listsKey } from './queries.ts';

const ENDS: Readonly<Partial<Record<ListHere['status'], string>>> = { cancelled: t`Canceled`, failed: t`Failed` };

/** Of a list that ended early: when, what it cost, and a way to go on. */
export function Rest({ of }: { of: ListHere }) {
  const { id: account, test, prices } = useAccount();
  const mayChange = useHasRole('member');
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asking, setAsking] = useState(false);
  const { status, progress, rows, credits, validation_type: level, rest_list: rest } = of;
  const left = rows.addresses - progress.done;
  const ended = ENDS[status];
  if (ended === undefined) return null;
  const most = left * heldPrice({ prices }, level, test);
  const price = test ? t`free in test mode` : t`up to ${plural(most, { one: '# credit', other: '# credits' })}`;
  const addresses = plural(left, { one: '# address', other: '# addresses' });
  async function verify() {
    const params = { path: { account, id: of.id } };
    const { id } = await unwrap(api.POST('/dashboard/accounts/{account}/lists/{id}/rest', { params }));
    await client.invalidateQueries({ queryKey: listsKey(account) });
    await navigate({ to: '/lists/$id', params: { id }, search: {} });
  }
  return (
    <Group role="group" aria-label={t`The rest`} gap="sm" mt="xs">
      <Text size="sm">
        <Trans>
          {ended}
          {of.finished_at !== null && t` on ${formatDateTime(of.finished_at)}`}.{' '}
          <Plural value={progress.done} one="# address was" other="# addresses were" /> verified, for{' '}
          <Plural value={credits.used} one="# credit" other="# credits" />.
          {left > 0 &&
            t` ${plural(left, { one: '# address was', other: '# addresses were' })} not verified, and not charged.`}
        </Trans>
      </Text>
      {left > 0 && rest === null && mayChange && <Button onClick={() => setAsking(true)}>{t`Verify the rest`}</Button>}
      {rest !== null && (
        <Anchor
          fz="sm"
          renderRoot={(props) => <Link {...props} to="/lists/$id" params={{ id: rest }} search={{}} />}
        >{t`The rest is a list of its own`}</Anchor>
      )}
      <ConfirmDialog
        title={t`Verify the other ${addresses}?`}
        action={test ? t`Verify the rest` : t`Verify the rest, for ${price}`}
        isLoss={false}
        opened={asking}
        onClose={() => setAsking(false)}
        onConfirm={verify}
      >
        <Trans>
          Their rows become a new list, which is started at the level {level}. This list stays as it is, and none of its
          addresses is verified twice.
        </Trans>
      </ConfirmDialog>
    </Group>
  );
}
