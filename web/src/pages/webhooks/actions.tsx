import { Button, Group, Modal, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { WEBHOOK_SECRET_OVERLAP_HOURS } from '../../../../src/kernel/facts/lifetimes.ts';
import { api, unwrap } from '../../api/client.ts';
import type { Delivery, Webhook } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { notify } from '../../parts/notify.tsx';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { outcomeOf } from './attempts.tsx';
import { SECRET_DIALOG } from './create-dialog.tsx';
import { WebhookForm } from './form.tsx';
import { SecretPanel } from './secret-panel.tsx';

type Open = 'edit' | 'disable' | 'rotate' | 'delete';

/** What an admin can do with a webhook. */
export function WebhookActions({ of, onDeleted }: { of: Webhook; onDeleted: () => Promise<unknown> }) {
  const { id: account } = useAccount();
  const client = useQueryClient();
  const [open, setOpen] = useState<Open | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [tested, setTested] = useState<Delivery | null>(null);
  const params = { path: { account, id: of.id } };
  const refresh = () => client.invalidateQueries({ queryKey: ['account', account, 'webhooks'] });
  const close = () => setOpen(null);
  const change = async (body: Partial<Pick<Webhook, 'url' | 'events' | 'description' | 'enabled'>>) => {
    await unwrap(api.PATCH('/dashboard/accounts/{account}/webhooks/{id}', { params, body }));
    await refresh();
  };
  const test = useAsyncAction(async () => {
    setTested(null);
    setTested(await unwrap(api.POST('/dashboard/accounts/{account}/webhooks/{id}/test', { params })));
    await refresh();
  });
  const enable = useAsyncAction(() => change({ enabled: true }));
  const error = test.error ?? enable.error;
  return (
    <>
      <Group gap="xs">
        <Button variant="filled" onClick={test.run} loading={test.busy}>
          Send test
        </Button>
        <Button onClick={() => setOpen('edit')}>Edit</Button>
        {of.enabled ? (
          <Button onClick={() => setOpen('disable')}>Disable</Button>
        ) : (
          <Button onClick={enable.run} loading={enable.busy}>
            Enable
          </Button>
        )}
        <Button onClick={() => setOpen('rotate')}>Rotate secret</Button>
        <Button color="red" onClick={() => setOpen('delete')}>
          Delete
        </Button>
      </Group>
      <div role="status">
        {tested && (
          <Text size="sm">
            {tested.status === 'delivered' ? 'The test arrived: ' : 'The test failed: '}
            {tested.attempts.map(outcomeOf).join(', ')}.
          </Text>
        )}
      </div>
      {error && <ErrorAlert error={error} />}
      <Modal opened={open === 'edit'} onClose={close} title="Edit webhook" size="lg">
        <WebhookForm
          initial={of}
          action="Save"
          onCancel={close}
          onSave={async (body) => {
            await change(body);
            close();
            void notify('Webhook saved.');
          }}
        />
      </Modal>
      <ConfirmDialog
        opened={open === 'disable'}
        onClose={close}
        title="Disable webhook"
        action="Disable"
        onConfirm={() => change({ enabled: false })}
      >
        Nothing is sent to it until it is enabled again. Pending deliveries fail now, and events that happen meanwhile
        are not sent later.
      </ConfirmDialog>
      <ConfirmDialog
        opened={open === 'rotate'}
        onClose={close}
        title="Rotate secret"
        action="Rotate secret"
        onConfirm={async () => {
          const path = '/dashboard/accounts/{account}/webhooks/{id}/rotate-secret';
          setSecret((await unwrap(api.POST(path, { params }))).secret);
          await refresh();
        }}
      >
        Creates a new signing secret. For {WEBHOOK_SECRET_OVERLAP_HOURS} hours requests are signed with both secrets, so
        that you can switch without rejecting any.
      </ConfirmDialog>
      <Modal opened={secret !== null} onClose={() => setSecret(null)} title="New secret" {...SECRET_DIALOG}>
        {secret !== null && <SecretPanel secret={secret} onClose={() => setSecret(null)} />}
      </Modal>
      <ConfirmDialog
        opened={open === 'delete'}
        onClose={close}
        title="Delete webhook"
        action="Delete"
        onConfirm={async () => {
          await unwrap(api.DELETE('/dashboard/accounts/{account}/webhooks/{id}', { params }));
          await onDeleted();
          await refresh();
          void notify('Webhook deleted.');
        }}
      >
        The webhook and its deliveries are deleted. This cannot be undone. To stop it for a while, disable it instead.
      </ConfirmDialog>
    </>
  );
}
