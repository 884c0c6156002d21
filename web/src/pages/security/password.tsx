import { Box } from '@mantine/core';
import { useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import type { SignedInUser } from '../../api/session.ts';
import { HiddenUsername } from '../../parts/email-field.tsx';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { NewPasswordField, PasswordField } from '../../parts/password-field.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { Section } from './section.tsx';

export function PasswordSection({ user }: { user: SignedInUser }) {
  const [changes, setChanges] = useState(0);
  return (
    <Section title="Password" about="Changing your password signs out all your other sessions.">
      <Box maw={360}>
        {/* Remounted after each change, to clear the fields. */}
        <PasswordForm key={changes} email={user.email} onChanged={() => setChanges(changes + 1)} />
      </Box>
    </Section>
  );
}

function PasswordForm({ email, onChanged }: { email: string; onChanged: () => void }) {
  const submit = useSubmit(async ({ current = '', password = '' }) => {
    await unwrap(api.POST('/dashboard/password', { body: { current, password } }));
    onChanged();
    await notify('Password changed. All your other sessions have been signed out.');
  }, 'current');
  return (
    <Form submit={submit} action="Change password">
      <HiddenUsername email={email} />
      <PasswordField label="Current password" {...submit.field('current')} />
      <NewPasswordField label="New password" {...submit.field('password')} />
    </Form>
  );
}
