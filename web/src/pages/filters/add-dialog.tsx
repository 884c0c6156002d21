import { Modal, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { FILTER_REASON_LENGTH, FILTER_VALUE_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import { ApiError } from '../../api/client.ts';
import { useAccount } from '../../api/session.ts';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { addFilter, filtersKey } from './queries.ts';
import { FILTER_TYPE_LABELS } from './types.ts';

/** Adds one filter; the server detects its type. `value`: what it begins with; null: closed. */
export function AddDialog({ value, onClose }: { value: string | null; onClose: () => void }) {
  return (
    <Modal opened={value !== null} onClose={onClose} title="Add filter">
      <AddForm initial={value ?? ''} onClose={onClose} />
    </Modal>
  );
}

function AddForm({ initial, onClose }: { initial: string; onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const submit = useSubmit(async ({ value = '', reason = '' }) => {
    const added = await addFilter(id, { value, reason: reason.trim() === '' ? null : reason.trim() }).catch(
      rethrowReadable,
    );
    onClose();
    const { one, blocks } = FILTER_TYPE_LABELS[added.filter_type];
    void notify(`${one} ${added.value} added. This blocks ${blocks}.`);
    await client.invalidateQueries({ queryKey: filtersKey(id) });
  });
  return (
    <Form submit={submit} action="Add" main onCancel={onClose}>
      <TextInput
        {...submit.field('value')}
        defaultValue={initial}
        label="Value"
        description="An email address, a domain (including its subdomains), an IP address or a CIDR block."
        placeholder="spam.example.com"
        maxLength={FILTER_VALUE_LENGTH.max}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      <TextInput
        {...submit.field('reason')}
        required={false}
        label="Reason"
        description="Optional note for your team."
        maxLength={FILTER_REASON_LENGTH.max}
        autoComplete="off"
      />
    </Form>
  );
}

/** The server's message for this error is written for API clients. */
function rethrowReadable(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'filter_exists') throw error;
  throw new ApiError(error.status, { error: 'This filter already exists.', code: error.code, field: error.field });
}
