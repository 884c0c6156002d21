import { Button, Modal, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { ApiError } from '../../api/client.ts';
import { useAccount } from '../../api/session.ts';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { addFilter, filtersKey } from './queries.ts';
import { TYPE_WORDS } from './type-words.ts';

/** Adds one filter; the server says of which type it is. */
export function AddDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Add a filter">
      <AddForm onClose={onClose} />
    </Modal>
  );
}

function AddForm({ onClose }: { onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const submit = useSubmit(async ({ value = '', reason = '' }) => {
    const added = await addFilter(id, { value, reason: reason.trim() === '' ? null : reason.trim() }).catch(plainly);
    onClose();
    const { one, stops } = TYPE_WORDS[added.filter_type];
    void notify(`${one} ${added.value} was added. It stops ${stops}.`);
    await client.invalidateQueries({ queryKey: filtersKey(id) });
  });
  return (
    <Form submit={submit} action="Add" main beside={<Button onClick={onClose}>Cancel</Button>}>
      <TextInput
        {...submit.field('value')}
        label="Value"
        description="An address, a domain (with its sub-domains), an IP or a CIDR."
        placeholder="spam.example.com"
        maxLength={1024}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      <TextInput
        {...submit.field('reason')}
        required={false}
        label="Reason"
        description="A note for yourselves, if you like."
        maxLength={500}
        autoComplete="off"
      />
    </Form>
  );
}

/** The public API's own sentence for this is in the words of a form that others know. */
function plainly(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'filter_exists') throw error;
  throw new ApiError(error.status, { error: 'This is on the list already.', code: error.code, field: error.field });
}
