import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { heldPrice } from '../../../../src/kernel/facts/plans.ts';
import { overviewQuery } from '../../api/account.ts';
import { api, unwrap } from '../../api/client.ts';
import type { ListHere } from '../../api/schema.ts';
import { useAccount, useHasRole } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { notCheckedOf } from './progress-bar.tsx';
import { listsKey } from './queries.ts';

/** A new list of the rows whose address is unknown, at the level smtp where the plan has it. */
export function RetryUnknown({ of }: { of: ListHere }) {
  const { id: account, test, prices } = useAccount();
  const mayChange = useHasRole('member');
  const { data } = useQuery(overviewQuery(account));
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asking, setAsking] = useState(false);
  const count = of.deliverability.unknown;
  if (count === 0 || !mayChange) return null;
  const notChecked = notCheckedOf(of);
  const level = data?.smtp_available === false ? 'mx' : 'smtp';
  const most = count * heldPrice({ prices }, level, test);
  const price = test ? t`free in test mode` : t`up to ${plural(most, { one: '# credit', other: '# credits' })}`;
  const canHelp = level === 'smtp' || notChecked < count;
  const addresses = plural(count, { one: '# unknown address', other: '# unknown addresses' });
  const what =
    notChecked === count
      ? t`Check ${plural(count, { one: '# mailbox', other: '# mailboxes' })}`
      : t`Retry ${addresses}`;
  async function retry() {
    const call = { params: { path: { account, id: of.id } }, body: { validation_type: level } } as const;
    const { id } = await unwrap(api.POST('/dashboard/accounts/{account}/lists/{id}/retry', call));
    await client.invalidateQueries({ queryKey: listsKey(account) });
    await navigate({ to: '/lists/$id', params: { id }, search: {} });
  }
  return (
    <footer>
      {of.finished_at !== null && canHelp && (
        <Anchor component="button" type="button" fz="sm" onClick={() => setAsking(true)}>
          {what}
        </Anchor>
      )}
      <Text size="xs" c="dimmed">
        {!canHelp
          ? t`${addresses}: the mailbox was not checked. The level smtp, which is not part of your plan, checks it.`
          : of.finished_at === null
            ? t`Retry unknown: once the list has ended, ${price}.`
            : t`As a new list at the level ${level}, ${price}.`}
      </Text>
      <ConfirmDialog
        title={`${what}?`}
        action={most === 0 ? t`Retry` : t`Retry, for ${price}`}
        isLoss={false}
        opened={asking}
        onClose={() => setAsking(false)}
        onConfirm={retry}
      >
        <Trans>
          Their rows become a new list, which is started at the level {level}. This list stays as it is.
          {notChecked > 0 &&
            t` Of ${plural(notChecked, { one: '# address', other: '# addresses' })} the mailbox was not checked at the level mx; smtp asks the mail server.`}
        </Trans>
      </ConfirmDialog>
    </footer>
  );
}
