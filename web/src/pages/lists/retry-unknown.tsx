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
import { pluralize } from '../../parts/format.ts';
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
  const price = test ? 'free in test mode' : `up to ${pluralize(most, 'credit')}`;
  const canHelp = level === 'smtp' || notChecked < count;
  const addresses = pluralize(count, 'unknown address', 'unknown addresses');
  const what = notChecked === count ? `Check ${pluralize(count, 'mailbox', 'mailboxes')}` : `Retry ${addresses}`;
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
          ? `${addresses}: the mailbox was not checked. The level smtp, which is not part of your plan, checks it.`
          : of.finished_at === null
            ? `Retry unknown: once the list has ended, ${price}.`
            : `As a new list at the level ${level}, ${price}.`}
      </Text>
      <ConfirmDialog
        title={`${what}?`}
        action={most === 0 ? 'Retry' : `Retry, for ${price}`}
        isLoss={false}
        opened={asking}
        onClose={() => setAsking(false)}
        onConfirm={retry}
      >
        Their rows become a new list, which is started at the level {level}. This list stays as it is.
        {notChecked > 0 &&
          ` Of ${pluralize(notChecked, 'address', 'addresses')} the mailbox was not checked at the level mx; smtp asks the mail server.`}
      </ConfirmDialog>
    </footer>
  );
}
