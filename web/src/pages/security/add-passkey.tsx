import { TextInput } from '@mantine/core';
import { PASSKEY_NAME_LENGTH } from '../../api/limits.ts';
import { HiddenUsername } from '../../parts/email-field.tsx';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { addPasskey } from '../../parts/passkeys.ts';
import { PasswordField } from '../../parts/password-field.tsx';
import { useSubmit } from '../../parts/use-submit.ts';

export function AddPasskey({ email, onAdded }: { email: string; onAdded: () => Promise<void> }) {
  const submit = useSubmit(async ({ name = '', password = '' }) => {
    await addPasskey(name.trim(), password);
    await onAdded();
    await notify('Passkey added.');
  }, 'password');
  return (
    <Form submit={submit} action="Continue" main>
      <TextInput
        label="Passkey name"
        description="For example the device that stores it. Your browser asks for the rest."
        autoComplete="off"
        maxLength={PASSKEY_NAME_LENGTH.max}
        data-autofocus
        {...submit.field('name')}
      />
      <HiddenUsername email={email} />
      <PasswordField label="Password" {...submit.field('password')} />
    </Form>
  );
}
