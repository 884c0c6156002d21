import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import { useRefreshSession, useSession } from '../api/session.ts';
import { focusOnMount } from '../parts/focus.ts';
import { Form } from '../parts/form.tsx';
import { FormResult } from '../parts/form-result.tsx';
import { InvalidLink } from '../parts/invalid-link.tsx';
import { type OpenedLink, useLink } from '../parts/link-token.ts';
import { Page } from '../parts/page.tsx';
import { NewPasswordField } from '../parts/password-field.tsx';
import { SignInLink } from '../parts/sign-in-link.tsx';
import { useSubmit } from '../parts/use-submit.ts';

export function ResetPasswordPage() {
  const link = useLink('/reset-password');
  const [done, setDone] = useState(false);
  if (done)
    return (
      <Page title="Password set">
        <FormResult action={<SignInLink />}>
          All your sessions have ended, and your passkeys are removed. Sign in with the new password.
        </FormResult>
      </Page>
    );
  if (link.token === null) return <NoLink link={link} />;
  return <ResetForm key={link.token} token={link.token} link={link} onDone={() => setDone(true)} />;
}

function NoLink({ link }: { link: OpenedLink }) {
  const { mail } = useSession();
  return (
    <InvalidLink link={link}>
      {mail ? (
        <Anchor component={Link} to="/sign-in" hash="forgot">
          Request a new link
        </Anchor>
      ) : (
        <Text>Ask the operator of this service for a new link.</Text>
      )}
    </InvalidLink>
  );
}

function ResetForm({ token, link, onDone }: { token: string; link: OpenedLink; onDone: () => void }) {
  const refresh = useRefreshSession();
  const submit = useSubmit(async ({ password = '' }) => {
    try {
      await unwrap(api.POST('/dashboard/password/reset', { body: { token, password } }));
    } catch (error) {
      return link.onError(error);
    }
    await refresh();
    onDone();
    link.discard();
  });
  return (
    <Page title="Choose a password" about="This ends all your sessions and removes all your passkeys.">
      <Form submit={submit} action="Set password" main>
        <NewPasswordField label="New password" {...submit.field('password')} ref={focusOnMount} />
      </Form>
    </Page>
  );
}
