import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import { sessionQuery } from '../../api/session.ts';
import { KnownUser } from '../../parts/email-field.tsx';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { PasswordField } from '../../parts/password-field.tsx';
import { useSubmit } from '../../parts/use-submit.ts';

export function RemoveAuthenticator({ email, onRemoved }: { email: string; onRemoved: () => void }) {
  const client = useQueryClient();
  const submit = useSubmit(async ({ password = '' }) => {
    await unwrap(api.POST('/dashboard/totp/remove', { body: { password } }));
    onRemoved();
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    await notify('No code is asked any more.');
  }, 'password');
  return (
    <Form submit={submit} action="Remove" main>
      <Text size="sm">Then the password alone signs you in, and the recovery codes are void.</Text>
      <KnownUser email={email} />
      <PasswordField label="Password" {...submit.field('password')} data-autofocus />
    </Form>
  );
}
