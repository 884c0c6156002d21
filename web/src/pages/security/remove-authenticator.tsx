import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import { sessionQuery, useSession } from '../../api/session.ts';
import { HiddenUsername } from '../../parts/email-field.tsx';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { PasswordField } from '../../parts/password-field.tsx';
import { useSubmit } from '../../parts/use-submit.ts';

export function RemoveAuthenticator(props: { email: string; onRemoved: () => void; onCancel: () => void }) {
  const { email, onRemoved, onCancel } = props;
  const client = useQueryClient();
  const requiring = useSession().accounts.filter(({ second_factor_required }) => second_factor_required);
  const submit = useSubmit(async ({ password = '' }) => {
    await unwrap(api.POST('/dashboard/totp/remove', { body: { password } }));
    onRemoved();
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    await notify('Authenticator app removed.');
  }, 'password');
  return (
    <Form submit={submit} action="Remove" main onCancel={onCancel}>
      <Text size="sm">You will sign in with your password only. Your recovery codes stop working.</Text>
      {requiring.length > 0 && (
        <Text size="sm" className="anywhere">
          {requiring.map(({ name }) => name).join(', ')}{' '}
          {requiring.length === 1 ? 'requires a second factor' : 'require a second factor'}: without a passkey, you are
          locked out until you set one up again.
        </Text>
      )}
      <HiddenUsername email={email} />
      <PasswordField label="Password" {...submit.field('password')} data-autofocus />
    </Form>
  );
}
