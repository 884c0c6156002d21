import { Modal, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import type { DashboardKey } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { notify } from '../../parts/notify.tsx';
import { Made } from './made.tsx';
import { RollForm } from './roll-form.tsx';
import { SettingsForm } from './settings-form.tsx';

/** What is open: a key's own dialog, or that of a new one. */
export type Open =
  | { readonly what: 'create' }
  | { readonly what: 'edit' | 'roll' | 'revoke'; readonly of: DashboardKey };

/** Closed at once, so that nothing of it is left to see: a key's value least of all. */
const AT_ONCE = { duration: 0 } as const;

export function Dialogs({ open, onClose }: { open: Open | null; onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: ['account', id] });
  // A dialog that holds a key does not close by a click that missed.
  const frame = { opened: true, onClose, transitionProps: AT_ONCE, closeOnClickOutside: false, size: 'lg' } as const;
  if (open === null) return null;
  if (open.what === 'create')
    return (
      <Modal {...frame} title="New API key">
        <Create account={id} refresh={refresh} onClose={onClose} />
      </Modal>
    );
  const { name } = open.of;
  if (open.what === 'roll')
    return (
      <Modal {...frame} title={`Roll “${name}”`}>
        <Roll account={id} of={open.of} refresh={refresh} onClose={onClose} />
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
            void notify(`“${body.name}” is changed, from the next request on.`);
          }}
        />
      </Modal>
    );
  return (
    <Confirm
      opened
      onClose={onClose}
      title={`Revoke “${name}”`}
      action="Revoke"
      typed={name}
      onConfirm={async () => {
        await unwrap(api.POST('/dashboard/accounts/{account}/keys/{id}/revoke', { params: { path }, body: { name } }));
        await refresh();
        void notify(`“${name}” is revoked.`);
      }}
    >
      Every request with this key is refused from this moment on, and that is final: it cannot be taken back. The key
      stays on the list, marked as revoked. To change to a new key without a gap, roll it instead.
    </Confirm>
  );
}

interface Making {
  account: string;
  refresh: () => Promise<void>;
  onClose: () => void;
}

function Create({ account, refresh, onClose }: Making) {
  const [value, setValue] = useState<string | null>(null);
  if (value !== null) return <Made value={value} onTried={() => void refresh()} onClose={onClose} />;
  return (
    <SettingsForm
      initial={{ name: '', allow_ips: [] }}
      action="Create the key"
      onCancel={onClose}
      onSave={async (body) => {
        const call = { params: { path: { account } }, body };
        setValue((await unwrap(api.POST('/dashboard/accounts/{account}/keys', call))).value);
        await refresh();
      }}
    />
  );
}

function Roll({ account, of, refresh, onClose }: Making & { of: DashboardKey }) {
  const [rolled, setRolled] = useState<{ value: string; grace: string | null } | null>(null);
  if (rolled !== null)
    return (
      <Made value={rolled.value} onTried={() => void refresh()} onClose={onClose}>
        <Text size="sm">
          The old key, {of.key}, {rolled.grace === null ? 'is refused already.' : `works for ${rolled.grace} yet.`}
        </Text>
      </Made>
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
