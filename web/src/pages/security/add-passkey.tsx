import { TextInput } from '@mantine/core';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { addPasskey } from '../../parts/passkeys.ts';
import { useSubmit } from '../../parts/use-submit.ts';

export function AddPasskey({ onAdded }: { onAdded: () => Promise<void> }) {
  const submit = useSubmit(async ({ name = '' }) => {
    await addPasskey(name.trim());
    await onAdded();
    await notify('The passkey is added.');
  });
  return (
    <Form submit={submit} action="Go on" main>
      <TextInput
        label="Name of the passkey"
        description="What you will know it by, such as the device that keeps it. Your browser asks the rest."
        autoComplete="off"
        maxLength={100}
        data-autofocus
        {...submit.field('name')}
      />
    </Form>
  );
}
