import { Text } from '@mantine/core';
import { useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import type { Totp } from '../../api/schema.ts';
import { KnownUser } from '../../parts/email-field.tsx';
import { Form } from '../../parts/form.tsx';
import { PasswordField } from '../../parts/password-field.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { ConfirmAuthenticator } from './confirm-authenticator.tsx';

/** What the server made is in this component, and gone when the dialog is closed. */
export function SetUpAuthenticator({ email, onDone }: { email: string; onDone: () => void }) {
  const [totp, setTotp] = useState<Totp | null>(null);
  if (totp !== null) return <ConfirmAuthenticator totp={totp} email={email} onDone={onDone} />;
  return <PasswordFirst email={email} onMade={setTotp} />;
}

function PasswordFirst({ email, onMade }: { email: string; onMade: (totp: Totp) => void }) {
  const submit = useSubmit(async ({ password = '' }) => {
    onMade(await unwrap(api.POST('/dashboard/totp', { body: { password } })));
  }, 'password');
  return (
    <Form submit={submit} action="Go on" main>
      <Text size="sm">First your password, so that nobody else does this at your desk.</Text>
      <KnownUser email={email} />
      <PasswordField label="Password" {...submit.field('password')} data-autofocus />
    </Form>
  );
}
