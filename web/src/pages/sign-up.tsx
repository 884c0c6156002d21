import { Anchor, Text, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { EmailField } from '../parts/email-field.tsx';
import { takeFocus } from '../parts/focus.ts';
import { Form } from '../parts/form.tsx';
import { Outcome } from '../parts/outcome.tsx';
import { Page } from '../parts/page.tsx';
import { NewPasswordField } from '../parts/password-field.tsx';
import { useSubmit } from '../parts/use-submit.ts';

const toSignIn = (
  <Anchor component={Link} to="/sign-in" fz="sm">
    Sign in instead
  </Anchor>
);

export function SignUpPage() {
  const { signup } = useSession();
  const [answer, setAnswer] = useState<string | null>(null);
  if (!signup)
    return (
      <Page title="Sign up">
        <Outcome action={toSignIn}>
          <Text>Strangers cannot sign up here. Ask somebody who has an account for an invitation.</Text>
        </Outcome>
      </Page>
    );
  if (answer !== null)
    return (
      <Page title="Look into your mail">
        <Outcome>{answer}</Outcome>
      </Page>
    );
  return <SignUpForm onSent={setAnswer} />;
}

function SignUpForm({ onSent }: { onSent: (answer: string) => void }) {
  const submit = useSubmit(async ({ name = '', email = '', password = '' }) => {
    const body = { name: name.trim(), email: email.trim(), password };
    onSent((await unwrap(api.POST('/dashboard/sign-up', { body }))).message);
  });
  return (
    <Page title="Sign up" about="A mail asks you to confirm the address; then the account is yours.">
      <Form submit={submit} action="Sign up" main beside={toSignIn}>
        <TextInput label="Your name" autoComplete="name" maxLength={100} {...submit.field('name')} ref={takeFocus} />
        <EmailField {...submit.field('email')} />
        <NewPasswordField label="Password" {...submit.field('password')} />
      </Form>
    </Page>
  );
}
