import { t } from '@lingui/core/macro';
import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { PersonNameField } from '../parts/email-field.tsx';
import { focusOnMount } from '../parts/focus.ts';
import { Form } from '../parts/form.tsx';
import { FormResult } from '../parts/form-result.tsx';
import { Page } from '../parts/page.tsx';
import { NewPasswordField } from '../parts/password-field.tsx';
import { SuggestingEmailField } from '../parts/suggesting-email-field.tsx';
import { useSubmit } from '../parts/use-submit.ts';

export function SignUpPage() {
  const { signup } = useSession();
  const [message, setMessage] = useState<string | null>(null);
  if (!signup)
    return (
      <Page title={t`Sign up`}>
        <FormResult action={toSignIn}>
          <Text>{t`This service does not allow sign-ups. Ask an account owner or admin for an invitation.`}</Text>
        </FormResult>
      </Page>
    );
  if (message !== null)
    return (
      <Page title={t`Check your email`}>
        <FormResult>{message}</FormResult>
      </Page>
    );
  return <SignUpForm onSent={setMessage} />;
}

const toSignIn = <Anchor component={Link} to="/sign-in" fz="sm">{t`Sign in instead`}</Anchor>;

function SignUpForm({ onSent }: { onSent: (message: string) => void }) {
  const submit = useSubmit(async ({ name = '', email = '', password = '' }) => {
    const body = { name: name.trim(), email: email.trim(), password };
    onSent((await unwrap(api.POST('/dashboard/sign-up', { body }))).message);
  });
  return (
    <Page title={t`Sign up`} about={t`You will get an email to confirm your address.`}>
      <Form submit={submit} action={t`Sign up`} main beside={toSignIn}>
        <PersonNameField {...submit.field('name')} ref={focusOnMount} />
        <SuggestingEmailField {...submit.field('email')} />
        <NewPasswordField label={t`Password`} {...submit.field('password')} />
      </Form>
    </Page>
  );
}
