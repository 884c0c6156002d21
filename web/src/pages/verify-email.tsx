import { Anchor, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { DeadLink, isDeadLink } from '../parts/dead-link.tsx';
import { Form } from '../parts/form.tsx';
import { forgetToken, useLinkToken } from '../parts/link-token.ts';
import { Page } from '../parts/page.tsx';
import { useEnter } from '../parts/use-enter.ts';
import { useSubmit } from '../parts/use-submit.ts';

/** The link is used by a person's click, not by a mail filter that only opens it. */
export function VerifyEmailPage() {
  const token = useLinkToken('/verify-email');
  const [dead, setDead] = useState<string | null>(null);
  const enter = useEnter();
  const submit = useSubmit(async () => {
    if (token === null) return;
    try {
      await unwrap(api.POST('/dashboard/verify-email', { body: { token } }));
    } catch (error) {
      if (isDeadLink(error)) return setDead(token);
      throw error;
    }
    await enter();
    forgetToken('/verify-email');
  });
  if (token === null || token === dead) return <HowToGetOne used={token !== null} />;
  return (
    <Page title="Confirm the address" about="Then the account that you signed up for is yours.">
      <Form submit={submit} action="Confirm" main />
    </Page>
  );
}

function HowToGetOne({ used }: { used: boolean }) {
  const { signup } = useSession();
  return (
    <DeadLink used={used}>
      <Text>
        {used ? 'Confirmed already? Then sign in.' : 'Open the link in the mail once more.'}
        {signup && ' Else sign up again: a new mail comes.'}
      </Text>
      <Group mt="sm">
        <Anchor component={Link} to="/sign-in">
          Sign in
        </Anchor>
        {signup && (
          <Anchor component={Link} to="/sign-up">
            Sign up
          </Anchor>
        )}
      </Group>
    </DeadLink>
  );
}
