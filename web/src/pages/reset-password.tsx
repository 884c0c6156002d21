import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import { useRefreshSession, useSession } from '../api/session.ts';
import { DeadLink } from '../parts/dead-link.tsx';
import { takeFocus } from '../parts/focus.ts';
import { Form } from '../parts/form.tsx';
import { type OpenedLink, useLink } from '../parts/link-token.ts';
import { Outcome } from '../parts/outcome.tsx';
import { Page } from '../parts/page.tsx';
import { NewPasswordField } from '../parts/password-field.tsx';
import { SignInLink } from '../parts/sign-in-link.tsx';
import { useSubmit } from '../parts/use-submit.ts';

export function ResetPasswordPage() {
  const link = useLink('/reset-password');
  const [done, setDone] = useState(false);
  if (done)
    return (
      <Page title="The password is chosen">
        <Outcome action={<SignInLink />}>Every session that was open is ended. Sign in with the new password.</Outcome>
      </Page>
    );
  if (link.token === null) return <HowToGetOne link={link} />;
  return <ResetForm key={link.token} token={link.token} link={link} onDone={() => setDone(true)} />;
}

function HowToGetOne({ link }: { link: OpenedLink }) {
  const { mail } = useSession();
  return (
    <DeadLink link={link}>
      {mail ? (
        <Anchor component={Link} to="/sign-in" hash="forgot">
          Ask for a new link
        </Anchor>
      ) : (
        <Text>Ask who runs this service for a new one.</Text>
      )}
    </DeadLink>
  );
}

function ResetForm({ token, link, onDone }: { token: string; link: OpenedLink; onDone: () => void }) {
  const refresh = useRefreshSession();
  const submit = useSubmit(async ({ password = '' }) => {
    try {
      await unwrap(api.POST('/dashboard/password/reset', { body: { token, password } }));
    } catch (error) {
      return link.refused(error);
    }
    await refresh();
    onDone();
    link.used();
  });
  return (
    <Page title="Choose a password" about="Every session that is open now is ended.">
      <Form submit={submit} action="Choose the password" main>
        <NewPasswordField label="New password" {...submit.field('password')} ref={takeFocus} />
      </Form>
    </Page>
  );
}
