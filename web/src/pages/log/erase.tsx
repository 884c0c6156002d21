import { Button, Group, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ADDRESS_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../../api/client.ts';
import { useAccount } from '../../api/session.ts';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { fieldError, formError } from '../../parts/field-error.ts';
import { pluralize } from '../../parts/format.ts';
import { notify } from '../../parts/notify.tsx';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { useFocusInvalid } from '../../parts/use-focus-invalid.ts';

/** Erases all records of an email address. */
export function Erase(props: Props & { opened: boolean }) {
  const { opened, onClose } = props;
  return (
    <Modal opened={opened} onClose={onClose} title="Erase address from the log">
      <EraseForm {...props} />
    </Modal>
  );
}

interface Props {
  initial: string;
  onClose: () => void;
  onErased?: () => Promise<unknown>;
}

/** Mounted with the dialog, so that its state resets. */
function EraseForm({ initial, onClose, onErased }: Props) {
  const { id } = useAccount();
  const client = useQueryClient();
  const [email, setEmail] = useState(initial);
  const [missing, setMissing] = useState(false);
  const { run, busy, error } = useAsyncAction(async () => {
    const call = { params: { path: { account: id } }, body: { email: email.trim() } };
    const { erased } = await unwrap(api.POST('/dashboard/accounts/{account}/log/erase', call));
    await onErased?.();
    onClose();
    void notify(
      erased === 0 ? 'There are no records of this address.' : `${pluralize(erased, 'record')} of this address erased.`,
    );
    await client.invalidateQueries({ queryKey: ['account', id, 'log'] });
  });
  const other = formError(error, ['email']);
  const { form, onAttempt } = useFocusInvalid(error);
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onAttempt();
        setMissing(email.trim() === '');
        if (email.trim() !== '') run();
      }}
    >
      <Stack>
        <TextInput
          label="Email address"
          description="The complete address as it was verified, in upper or lower case."
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={ADDRESS_LENGTH.max}
          data-autofocus
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={missing && email.trim() === '' ? 'Enter an email address.' : fieldError(error, 'email')}
        />
        <List size="sm" spacing="xs">
          <List.Item>Permanently deleted: its log entries, and the replies stored for an Idempotency-Key.</List.Item>
          <List.Item>
            Kept: charges and usage statistics, which do not contain the address; filters; and an audit log entry with
            part of its hash.
          </List.Item>
        </List>
        <Text size="sm">This cannot be undone.</Text>
        {other && <ErrorAlert error={other} />}
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
