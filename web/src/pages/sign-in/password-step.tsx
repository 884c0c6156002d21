import { Anchor, Divider, Group, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { EmailField } from '../../parts/email-field.tsx';
import { focusOnMount } from '../../parts/focus.ts';
import { Form } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { supportsPasskeys } from '../../parts/passkeys.ts';
import { PasswordField } from '../../parts/password-field.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { PasskeyButton } from './passkey-button.tsx';

export function PasswordStep(props: {
  email: string;
  next: string;
  onEmail: (email: string) => void;
  onSignedIn: () => Promise<void>;
  onCodeRequired: () => void;
}) {
  const { email, next, onEmail, onSignedIn, onCodeRequired } = props;
  const { signup, needs_setup } = useSession();
  // Initial value only: the focus must not move while the address is typed.
  const [isPrefilled] = useState(email !== '');
  const submit = useSubmit(async ({ email = '', password = '' }) => {
    const body = { email: email.trim(), password };
    const { second_factor } = await unwrap(api.POST('/dashboard/sign-in', { body }));
    if (second_factor) onCodeRequired();
    else await onSignedIn();
  }, 'password');
  return (
    <Page title="Sign in">
      <Stack>
        <Form submit={submit} action="Sign in" main beside={!needs_setup && <Forgot next={next} />}>
          <EmailField
            {...submit.field('email')}
            defaultValue={email}
            onChange={(event) => onEmail(event.currentTarget.value)}
            ref={isPrefilled ? null : focusOnMount}
          />
          <PasswordField label="Password" {...submit.field('password')} ref={isPrefilled ? focusOnMount : null} />
        </Form>
        {supportsPasskeys() && (
          <>
            <Divider label="or" labelPosition="center" />
            <PasskeyButton onSignedIn={onSignedIn} />
          </>
        )}
        {signup && (
          <Group gap={6} fz="sm">
            No account yet?
            <Anchor component={Link} to="/sign-up" fz="sm" underline="always">
              Sign up
            </Anchor>
          </Group>
        )}
      </Stack>
    </Page>
  );
}

const Forgot = ({ next }: { next: string }) => (
  <Anchor fz="sm" renderRoot={(props) => <Link {...props} to="/sign-in" search={{ next }} hash="forgot" />}>
    Forgot your password?
  </Anchor>
);
