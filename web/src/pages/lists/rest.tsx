import { Anchor, Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { heldPrice } from '../../../../src/kernel/facts/plans.ts';
import { api, unwrap } from '../../api/client.ts';
import type { ListHere } from '../../api/schema.ts';
import { useAccount, useHasRole } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { formatDateTime, pluralize } from '../../parts/format.ts';
import { listsKey } from './queries.ts';

const ENDS: Readonly<Partial<Record<ListHere['status'], string>>> = { cancelled: 'Canceled', failed: 'Failed' };

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
  const price = test ? 'free in test mode' : `up to ${pluralize(most, 'credit')}`;
  const addresses = pluralize(left, 'address', 'addresses');
  async function verify() {
    const params = { path: { account, id: of.id } };
    const { id } = await unwrap(api.POST('/dashboard/accounts/{account}/lists/{id}/rest', { params }));
    await client.invalidateQueries({ queryKey: listsKey(account) });
    await navigate({ to: '/lists/$id', params: { id }, search: {} });
  }
  return (
    <Group role="group" aria-label="The rest" gap="sm" mt="xs">
      <Text size="sm">
        {ended}
        {of.finished_at !== null && ` on ${formatDateTime(of.finished_at)}`}.{' '}
        {pluralize(progress.done, 'address was', 'addresses were')} verified, for {pluralize(credits.used, 'credit')}.
        {left > 0 && ` ${pluralize(left, 'address was', 'addresses were')} not verified, and not charged.`}
      </Text>
      {left > 0 && rest === null && mayChange && <Button onClick={() => setAsking(true)}>Verify the rest</Button>}
      {rest !== null && (
        <Anchor fz="sm" renderRoot={(props) => <Link {...props} to="/lists/$id" params={{ id: rest }} search={{}} />}>
          The rest is a list of its own
        </Anchor>
      )}
      <ConfirmDialog
        title={`Verify the other ${addresses}?`}
        action={test ? 'Verify the rest' : `Verify the rest, for ${price}`}
        isLoss={false}
        opened={asking}
        onClose={() => setAsking(false)}
        onConfirm={verify}
      >
        Their rows become a new list, which is started at the level {level}. This list stays as it is, and none of its
        addresses is verified twice.
      </ConfirmDialog>
    </Group>
  );
}
