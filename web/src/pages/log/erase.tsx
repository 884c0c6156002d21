import { Button, Group, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import { useAccount } from '../../api/session.ts';
import { Failure } from '../../parts/failure.tsx';
import { fieldError, otherError } from '../../parts/field-error.ts';
import { notify } from '../../parts/notify.tsx';
import { useTry } from '../../parts/use-try.ts';
import { counted } from '../../parts/words.ts';

/** Erases all that is recorded of an address. It is typed or stands there already: either way it is seen. */
export function Erase(props: Props & { opened: boolean }) {
  const { opened, onClose } = props;
  return (
    <Modal opened={opened} onClose={onClose} title="Erase an address from the log">
      <EraseForm {...props} />
    </Modal>
  );
}

interface Props {
  initial: string;
  onClose: () => void;
  onErased?: () => Promise<unknown>;
}

/** Mounted with the dialog, so that each begins anew. */
function EraseForm({ initial, onClose, onErased }: Props) {
  const { id } = useAccount();
  const client = useQueryClient();
  const [email, setEmail] = useState(initial);
  const [missing, setMissing] = useState(false);
  const { run, busy, error } = useTry(async () => {
    const call = { params: { path: { account: id } }, body: { email: email.trim() } };
    const { erased } = await unwrap(api.POST('/dashboard/accounts/{account}/log/erase', call));
    await onErased?.();
    onClose();
    void notify(
      erased === 0 ? 'Nothing was recorded of this address.' : `Erased: ${counted(erased, 'record')} of this address.`,
    );
    await client.invalidateQueries({ queryKey: ['account', id, 'log'] });
  });
  const other = otherError(error, ['email']);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setMissing(email.trim() === '');
        if (email.trim() !== '') run();
      }}
    >
      <Stack>
        <TextInput
          label="Address"
          description="The whole address, as it was verified; capital letters make no difference."
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={1024}
          data-autofocus
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={missing && email.trim() === '' ? 'Enter an address.' : fieldError(error, 'email')}
        />
        <List size="sm" spacing="xs">
          <List.Item>Lost for good: its entries here, and the replies kept for an Idempotency-Key.</List.Item>
          <List.Item>
            What stays: charges and counters, without the address; filters; and a line in the audit log that names a
            part of its hash.
          </List.Item>
        </List>
        <Text size="sm">It cannot be undone.</Text>
        {other && <Failure error={other} />}
        <Group justify="flex-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" color="red" variant="filled" loading={busy}>
            Erase
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
