import { Button, Group, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import type { Passkeys } from '../../api/schema.ts';
import { type SignedInUser, sessionQuery } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { Loading } from '../../parts/loading.tsx';
import { supportsPasskeys } from '../../parts/passkeys.ts';
import { Timestamp } from '../../parts/timestamp.tsx';
import { useDialogState } from '../../parts/use-dialog-state.ts';
import { AddPasskey } from './add-passkey.tsx';
import { Section } from './section.tsx';

type Passkey = Passkeys['passkeys'][number];

const KEY = ['passkeys'];

export function PasskeysSection({ user }: { user: SignedInUser }) {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => unwrap(api.GET('/dashboard/passkeys')),
  });
  const [adding, { open, close }] = useDisclosure();
  const { item: removing, ...removal } = useDialogState<Passkey>();
  const refresh = () => client.invalidateQueries({ queryKey: KEY });
  async function remove() {
    if (removing === null) return;
    await unwrap(api.DELETE('/dashboard/passkeys/{id}', { params: { path: { id: removing.id } } }));
    // It may have been the last second factor.
    await Promise.all([refresh(), client.invalidateQueries({ queryKey: sessionQuery.queryKey })]);
  }
  return (
    <Section
      title="Passkeys"
      about="Sign in with a device lock, a password manager or a security key instead of your password and code."
    >
      {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.passkeys.length === 0 && <Text size="sm">No passkeys yet.</Text>}
      {data && data.passkeys.length > 0 && (
        <DataTable
          label="Your passkeys"
          rows={data.passkeys}
          rowKey={(row) => row.id}
          columns={[
            { header: 'Name', cell: (row) => <span className="anywhere">{row.name}</span> },
            { header: 'Added', wideOnly: true, cell: (row) => <Timestamp at={row.created_at} /> },
            {
              header: 'Last used',
              cell: (row) => (row.last_used_at === null ? 'Not yet' : <Timestamp at={row.last_used_at} />),
            },
            {
              header: 'Actions',
              quietHeader: true,
              cell: (row) => (
                <Group justify="flex-end">
                  <Button size="compact-sm" onClick={() => removal.open(row)} aria-label={`Remove ${row.name}`}>
                    Remove
                  </Button>
                </Group>
              ),
            },
          ]}
        />
      )}
      {supportsPasskeys() ? (
        <Button onClick={open} style={{ alignSelf: 'flex-start' }}>
          Add passkey
        </Button>
      ) : (
        <Text size="sm">
          To add a passkey, open the dashboard at its host name over HTTPS, or at localhost. Browsers do not support
          passkeys elsewhere.
        </Text>
      )}
      <Modal opened={adding} onClose={close} title="Add passkey">
        <AddPasskey
          user={user}
          hasPasskey={(data?.passkeys.length ?? 0) > 0}
          onCancel={close}
          onAdded={async () => {
            await refresh();
            close();
          }}
        />
      </Modal>
      <ConfirmDialog
        title="Remove passkey?"
        action="Remove"
        opened={removal.opened}
        onClose={removal.close}
        onConfirm={remove}
      >
        <Text size="sm">
          You can no longer sign in with “{removing?.name}”. Delete it from the device or password manager that stores
          it as well.
        </Text>
      </ConfirmDialog>
    </Section>
  );
}
