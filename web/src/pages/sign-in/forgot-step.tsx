import { Anchor, Code, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { EmailField } from '../../parts/email-field.tsx';
import { takeFocus } from '../../parts/focus.ts';
import { Form } from '../../parts/form.tsx';
import { Outcome } from '../../parts/outcome.tsx';
import { Page } from '../../parts/page.tsx';
import { useSubmit } from '../../parts/use-submit.ts';

/** What a shell takes as it stands. */
const PLAIN = /^[\w.+-]+@[\w.-]+$/;

export function ForgotStep({ email, next }: { email: string; next: string }) {
  const { mail } = useSession();
  const [answer, setAnswer] = useState<string | null>(null);
  const submit = useSubmit(async ({ email = '' }) => {
    const { message } = await unwrap(api.POST('/dashboard/password/forgot', { body: { email: email.trim() } }));
    setAnswer(message);
  });
  const back = (
    <Anchor fz="sm" renderRoot={(props) => <Link {...props} to="/sign-in" search={{ next }} />}>
      Back to the sign-in
    </Anchor>
  );
  if (!mail)
    return (
      <Page title="Forgot the password">
        <Outcome action={back}>
          <Text>This service sends no mail. Ask who runs it for a link to choose a new password; on its host:</Text>
          <Code block mt="sm" className="anywhere" style={{ whiteSpace: 'pre-wrap' }}>
            npx mailvet user reset-password {PLAIN.test(email) ? email : '<your email address>'}
          </Code>
        </Outcome>
      </Page>
    );
  if (answer !== null)
    return (
      <Page title="Look into your mail">
        <Outcome action={back}>{answer}</Outcome>
      </Page>
    );
  return (
    <Page title="Forgot the password" about="A mail brings a link to choose a new one.">
      <Form submit={submit} action="Send the mail" main beside={back}>
        <EmailField {...submit.field('email')} defaultValue={email} ref={takeFocus} />
      </Form>
    </Page>
  );
}
