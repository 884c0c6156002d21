import { Button, Group, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import type { Passkeys } from '../../api/schema.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { passkeysWork } from '../../parts/passkeys.ts';
import { When } from '../../parts/when.tsx';
import { AddPasskey } from './add-passkey.tsx';
import { Section } from './section.tsx';

type Passkey = Passkeys['passkeys'][number];

const KEY = ['passkeys'];

export function PasskeysSection() {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => unwrap(api.GET('/dashboard/passkeys')),
  });
  const [adding, { open, close }] = useDisclosure();
  const [removing, setRemoving] = useState<Passkey | null>(null);
  const refresh = () => client.invalidateQueries({ queryKey: KEY });
  async function remove() {
    if (removing === null) return;
    await unwrap(api.DELETE('/dashboard/passkeys/{id}', { params: { path: { id: removing.id } } }));
    await refresh();
  }
  return (
    <Section
      title="Passkeys"
      about="Sign in with the lock of a phone or a computer, or a security key, in the place of password and code."
    >
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.passkeys.length === 0 && <Text size="sm">You have none yet.</Text>}
      {data && data.passkeys.length > 0 && (
        <DataTable
          label="Your passkeys"
          rows={data.passkeys}
          rowKey={(row) => row.id}
          columns={[
            { header: 'Name', cell: (row) => <span className="anywhere">{row.name}</span> },
            { header: 'Added', cell: (row) => <When at={row.created_at} /> },
            {
              header: 'Actions',
              quietHeader: true,
              cell: (row) => (
                <Group justify="flex-end">
                  <Button size="compact-sm" onClick={() => setRemoving(row)} aria-label={`Remove ${row.name}`}>
                    Remove
                  </Button>
                </Group>
              ),
            },
          ]}
        />
      )}
      {passkeysWork() ? (
        <Button onClick={open} style={{ alignSelf: 'flex-start' }}>
          Add a passkey
        </Button>
      ) : (
        <Text size="sm">
          To add one, open the dashboard by its host name over HTTPS, or at localhost: browsers offer passkeys nowhere
          else.
        </Text>
      )}
      <Modal opened={adding} onClose={close} title="Add a passkey">
        <AddPasskey
          onAdded={async () => {
            await refresh();
            close();
          }}
        />
      </Modal>
      <Confirm
        title="Remove the passkey?"
        action="Remove"
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        onConfirm={remove}
      >
        <Text size="sm">
          “{removing?.name}” does not sign you in any more. The device or password manager that keeps it still lists it;
          delete it there too.
        </Text>
      </Confirm>
    </Section>
  );
}
