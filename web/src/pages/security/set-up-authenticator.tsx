import { Text } from '@mantine/core';
import { useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import type { Totp } from '../../api/schema.ts';
import { HiddenUsername } from '../../parts/email-field.tsx';
import { Form } from '../../parts/form.tsx';
import { PasswordField } from '../../parts/password-field.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { ConfirmAuthenticator } from './confirm-authenticator.tsx';

/** The secret exists only in the state of this component and is gone when the dialog closes. */
export function SetUpAuthenticator(props: { email: string; onDone: () => void; onCancel: () => void }) {
  const { email, onCancel } = props;
  const [totp, setTotp] = useState<Totp | null>(null);
  if (totp !== null) return <ConfirmAuthenticator totp={totp} {...props} />;
  return <PasswordStep email={email} onMade={setTotp} onCancel={onCancel} />;
}

function PasswordStep(props: { email: string; onMade: (totp: Totp) => void; onCancel: () => void }) {
  const { email, onMade, onCancel } = props;
  const submit = useSubmit(async ({ password = '' }) => {
    onMade(await unwrap(api.POST('/dashboard/totp', { body: { password } })));
  }, 'password');
  return (
    <Form submit={submit} action="Continue" main onCancel={onCancel}>
      <Text size="sm">Enter your password to continue.</Text>
      <HiddenUsername email={email} />
      <PasswordField label="Password" {...submit.field('password')} data-autofocus />
    </Form>
  );
}
