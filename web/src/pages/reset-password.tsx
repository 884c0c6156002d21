import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import { useRefreshSession, useSession } from '../api/session.ts';
import { DeadLink, isDeadLink } from '../parts/dead-link.tsx';
import { takeFocus } from '../parts/focus.ts';
import { Form } from '../parts/form.tsx';
import { forgetToken, useLinkToken } from '../parts/link-token.ts';
import { Outcome } from '../parts/outcome.tsx';
import { Page } from '../parts/page.tsx';
import { NewPasswordField } from '../parts/password-field.tsx';
import { SignInLink } from '../parts/sign-in-link.tsx';
import { useSubmit } from '../parts/use-submit.ts';

export function ResetPasswordPage() {
  const token = useLinkToken('/reset-password');
  const [dead, setDead] = useState<string | null>(null);
  const [done, setDone] = useState(false);
  if (done)
    return (
      <Page title="The password is chosen">
        <Outcome action={<SignInLink />}>Every session that was open is ended. Sign in with the new password.</Outcome>
      </Page>
    );
  if (token === null || token === dead) return <HowToGetOne used={token !== null} />;
  return (
    <ResetForm
      key={token}
      token={token}
      onDead={() => setDead(token)}
      onDone={() => {
        setDone(true);
        forgetToken('/reset-password');
      }}
    />
  );
}

function HowToGetOne({ used }: { used: boolean }) {
  const { mail } = useSession();
  return (
    <DeadLink used={used}>
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

function ResetForm({ token, onDead, onDone }: { token: string; onDead: () => void; onDone: () => void }) {
  const refresh = useRefreshSession();
  const submit = useSubmit(async ({ password = '' }) => {
    try {
      await unwrap(api.POST('/dashboard/password/reset', { body: { token, password } }));
    } catch (error) {
      if (isDeadLink(error)) return onDead();
      throw error;
    }
    await refresh();
    onDone();
  });
  return (
    <Page title="Choose a password" about="Every session that is open now is ended.">
      <Form submit={submit} action="Choose the password" main>
        <NewPasswordField label="New password" {...submit.field('password')} ref={takeFocus} />
      </Form>
    </Page>
  );
}
