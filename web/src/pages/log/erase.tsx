import { plural, t } from '@lingui/core/macro';
import { List, Modal, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ADDRESS_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../../api/client.ts';
import { useAccount } from '../../api/session.ts';
import { DialogForm } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { useFields } from '../../parts/use-fields.ts';

/** Erases all records of an email address. */
export function Erase(props: Props & { opened: boolean }) {
  const { opened, onClose } = props;
  return (
    <Modal opened={opened} onClose={onClose} title={t`Erase address from the log`}>
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
  const erase = async () => {
    const call = { params: { path: { account: id } }, body: { email: email.trim() } };
    const { erased } = await unwrap(api.POST('/dashboard/accounts/{account}/log/erase', call));
    await onErased?.();
    onClose();
    void notify(
      erased === 0
        ? t`There are no records of this address.`
        : t`${plural(erased, { one: '# record', other: '# records' })} of this address erased.`,
    );
    await client.invalidateQueries({ queryKey: ['account', id, 'log'] });
  };
  const fields = useFields({
    values: { email },
    missing: { email: email.trim() === '' && t`Enter an email address.` },
    send: erase,
  });
  return (
    <DialogForm submit={fields} action={t`Erase`} isLoss onCancel={onClose}>
      <TextInput
        label={t`Email address`}
        description={t`The complete address as it was verified, in upper or lower case.`}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={ADDRESS_LENGTH.max}
        data-autofocus
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={fields.errorOf('email')}
      />
      <List size="sm" spacing="xs">
        <List.Item>{t`Permanently deleted: its log entries, and the replies stored for an Idempotency-Key.`}</List.Item>
        <List.Item>{t`Kept: charges and usage statistics, which do not contain the address; filters; and an audit log entry with part of its hash.`}</List.Item>
      </List>
      <Text size="sm">{t`This cannot be undone.`}</Text>
    </DialogForm>
  );
}
