import { t } from '@lingui/core/macro';
import { Modal } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import { useAccount } from '../../api/session.ts';
import { WebhookForm } from './form.tsx';
import { SecretPanel } from './secret-panel.tsx';

/**
 * An accidental click outside must not close a dialog that shows a secret; it closes without fading, so that it is
 * gone.
 */
export const SECRET_DIALOG = { closeOnClickOutside: false, transitionProps: { duration: 0 }, size: 'lg' } as const;

export const CreateWebhook = ({ opened, onClose }: { opened: boolean; onClose: () => void }) => (
  <Modal opened={opened} onClose={onClose} title={t`Create webhook`} {...SECRET_DIALOG}>
    <Create onClose={onClose} />
  </Modal>
);

/** Mounted with the dialog, so that its state resets. */
function Create({ onClose }: { onClose: () => void }) {
  const { id: account } = useAccount();
  const client = useQueryClient();
  const [secret, setSecret] = useState<string | null>(null);
  if (secret !== null) return <SecretPanel secret={secret} onClose={onClose} />;
  return (
    <WebhookForm
      format="events"
      initial={{ url: '', events: ['*'], description: null }}
      action={t`Create webhook`}
      onCancel={onClose}
      onSave={async (body) => {
        const call = { params: { path: { account } }, body };
        const created = await unwrap(api.POST('/dashboard/accounts/{account}/webhooks', call));
        setSecret(created.secret);
        await client.invalidateQueries({ queryKey: ['account', account, 'webhooks'] });
      }}
    />
  );
}
