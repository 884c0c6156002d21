import { Anchor, Code, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { EmailField } from '../../parts/email-field.tsx';
import { focusOnMount } from '../../parts/focus.ts';
import { Form } from '../../parts/form.tsx';
import { FormResult } from '../../parts/form-result.tsx';
import { Page } from '../../parts/page.tsx';
import { useSubmit } from '../../parts/use-submit.ts';

/** Needs no quoting in a shell. */
const PLAIN = /^[\w.+-]+@[\w.-]+$/;

export function ForgotStep({ email, next }: { email: string; next: string }) {
  const { mail } = useSession();
  const [message, setMessage] = useState<string | null>(null);
  const submit = useSubmit(async ({ email = '' }) => {
    const reply = await unwrap(api.POST('/dashboard/password/forgot', { body: { email: email.trim() } }));
    setMessage(reply.message);
  });
  const back = (
    <Anchor fz="sm" renderRoot={(props) => <Link {...props} to="/sign-in" search={{ next }} />}>
      Back to sign-in
    </Anchor>
  );
  if (!mail)
    return (
      <Page title="Reset your password">
        <FormResult action={back}>
          <Text>
            This service does not send email. Ask its operator for a link to choose a new password. The operator runs
            this command on the host:
          </Text>
          <Code block mt="sm" className="anywhere" style={{ whiteSpace: 'pre-wrap' }}>
            npx mailvet user reset-password {PLAIN.test(email) ? email : '<your email address>'}
          </Code>
        </FormResult>
      </Page>
    );
  if (message !== null)
    return (
      <Page title="Check your email">
        <FormResult action={back}>{message}</FormResult>
      </Page>
    );
  return (
    <Page title="Reset your password" about="You will get an email with a link to choose a new password.">
      <Form submit={submit} action="Send email" main beside={back}>
        <EmailField {...submit.field('email')} defaultValue={email} ref={focusOnMount} />
      </Form>
    </Page>
  );
}
