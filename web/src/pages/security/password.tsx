import { Box } from '@mantine/core';
import { useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import type { SignedInUser } from '../../api/session.ts';
import { KnownUser } from '../../parts/email-field.tsx';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { NewPasswordField, PasswordField } from '../../parts/password-field.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { Section } from './section.tsx';

export function PasswordSection({ user }: { user: SignedInUser }) {
  const [changes, setChanges] = useState(0);
  return (
    <Section title="Password" about="Changing it ends every other session of yours. This one stays.">
      <Box maw={360}>
        {/* A new form each time: what was typed into the last one is gone with it. */}
        <PasswordForm key={changes} email={user.email} onChanged={() => setChanges(changes + 1)} />
      </Box>
    </Section>
  );
}

function PasswordForm({ email, onChanged }: { email: string; onChanged: () => void }) {
  const submit = useSubmit(async ({ current = '', password = '' }) => {
    await unwrap(api.POST('/dashboard/password', { body: { current, password } }));
    onChanged();
    await notify('The password is changed. Every other session is ended.');
  }, 'current');
  return (
    <Form submit={submit} action="Change the password">
      <KnownUser email={email} />
      <PasswordField label="Current password" {...submit.field('current')} />
      <NewPasswordField label="New password" {...submit.field('password')} />
    </Form>
  );
}
