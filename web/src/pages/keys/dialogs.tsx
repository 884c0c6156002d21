import { Modal, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { KEY_SCOPES } from '../../../../src/kernel/facts/scopes.ts';
import { api, unwrap } from '../../api/client.ts';
import type { DashboardKey } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { notify } from '../../parts/notify.tsx';
import { KeyCreatedPanel, type Once } from './key-created-panel.tsx';
import { RollForm } from './roll-form.tsx';
import { SettingsForm } from './settings-form.tsx';

/** The open dialog and its key. */
export type DialogState =
  | { readonly what: 'create' }
  | { readonly what: 'edit' | 'roll' | 'revoke'; readonly of: DashboardKey };

/** Closes without fading, so that a key's value is gone immediately. */
const NO_TRANSITION = { duration: 0 } as const;

export function Dialogs({ open, onClose }: { open: DialogState | null; onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: ['account', id] });
  // A key is shown once: Escape and the cross ask before they close it.
  const [key, setKey] = useState<'hidden' | 'shown' | 'leaving'>('hidden');
  const close = () => {
    setKey('hidden');
    onClose();
  };
  const once = { leaving: key === 'leaving', onShown: () => setKey('shown') };
  // An accidental click outside must not close a dialog that shows a key.
  const frame = {
    opened: true,
    onClose: () => (key === 'shown' ? setKey('leaving') : key === 'leaving' ? setKey('shown') : close()),
    transitionProps: NO_TRANSITION,
    closeOnClickOutside: false,
    size: 'lg',
  } as const;
  if (open === null) return null;
  if (open.what === 'create')
    return (
      <Modal {...frame} title="Create API key">
        <Create account={id} refresh={refresh} once={once} onClose={close} />
      </Modal>
    );
  const { name } = open.of;
  if (open.what === 'roll')
    return (
      <Modal {...frame} title={`Roll “${name}”`}>
        <Roll account={id} of={open.of} refresh={refresh} once={once} onClose={close} />
      </Modal>
    );
  const path = { account: id, id: open.of.id };
  if (open.what === 'edit')
    return (
      <Modal {...frame} title={`Edit “${name}”`}>
        <SettingsForm
          initial={open.of}
          action="Save"
          onCancel={onClose}
          onSave={async (body) => {
            await unwrap(api.PATCH('/dashboard/accounts/{account}/keys/{id}', { params: { path }, body }));
            await refresh();
            onClose();
            void notify(`“${body.name}” saved.`);
          }}
        />
      </Modal>
    );
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={`Revoke “${name}”`}
      action="Revoke"
      typed={name}
      onConfirm={async () => {
        await unwrap(api.POST('/dashboard/accounts/{account}/keys/{id}/revoke', { params: { path }, body: { name } }));
        await refresh();
        void notify(`“${name}” revoked.`);
      }}
    >
      Requests with this key are rejected immediately. This cannot be undone. The key stays on the list, marked as
      revoked. To switch to a new key without downtime, roll it instead.
    </ConfirmDialog>
  );
}

interface NewKeyProps {
  account: string;
  refresh: () => Promise<void>;
  once: Once;
  onClose: () => void;
}

function Create({ account, refresh, once, onClose }: NewKeyProps) {
  const [value, setValue] = useState<string | null>(null);
  if (value !== null)
    return <KeyCreatedPanel value={value} once={once} onTried={() => void refresh()} onClose={onClose} />;
  return (
    <SettingsForm
      initial={{ name: '', allow_ips: [], expires_at: null, scopes: [...KEY_SCOPES], budget: null }}
      action="Create key"
      onCancel={onClose}
      onSave={async (body) => {
        const call = { params: { path: { account } }, body };
        setValue((await unwrap(api.POST('/dashboard/accounts/{account}/keys', call))).value);
        await refresh();
      }}
    />
  );
}

function Roll({ account, of, refresh, once, onClose }: NewKeyProps & { of: DashboardKey }) {
  const [rolled, setRolled] = useState<{ value: string; grace: string | null } | null>(null);
  if (rolled !== null)
    return (
      <KeyCreatedPanel value={rolled.value} once={once} onTried={() => void refresh()} onClose={onClose}>
        <Text size="sm">
          The old key, {of.key}, {rolled.grace === null ? 'is revoked.' : `remains valid for ${rolled.grace}.`}
        </Text>
      </KeyCreatedPanel>
    );
  return (
    <RollForm
      name={of.name}
      onCancel={onClose}
      onRoll={async (grace_seconds, grace) => {
        const call = { params: { path: { account, id: of.id } }, body: { grace_seconds } };
        const { value } = await unwrap(api.POST('/dashboard/accounts/{account}/keys/{id}/roll', call));
        setRolled({ value, grace });
        await refresh();
      }}
    />
  );
}
