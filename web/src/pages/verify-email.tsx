import { Anchor, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { api, unwrap } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { DeadLink } from '../parts/dead-link.tsx';
import { Form } from '../parts/form.tsx';
import { type OpenedLink, useLink } from '../parts/link-token.ts';
import { Page } from '../parts/page.tsx';
import { useEnter } from '../parts/use-enter.ts';
import { useSubmit } from '../parts/use-submit.ts';

/** The link is used by a person's click, not by a mail filter that only opens it. */
export function VerifyEmailPage() {
  const link = useLink('/verify-email');
  const { token } = link;
  const enter = useEnter();
  const submit = useSubmit(async () => {
    if (token === null) return;
    try {
      await unwrap(api.POST('/dashboard/verify-email', { body: { token } }));
    } catch (error) {
      return link.refused(error);
    }
    await enter();
    link.used();
  });
  if (token === null) return <HowToGetOne link={link} />;
  return (
    <Page title="Confirm the address" about="Then the account that you signed up for is yours.">
      <Form submit={submit} action="Confirm" main />
    </Page>
  );
}

function HowToGetOne({ link }: { link: OpenedLink }) {
  const { signup } = useSession();
  return (
    <DeadLink link={link}>
      <Text>
        {link.refusal === null ? 'Open the link in the mail once more.' : 'Confirmed already? Then sign in.'}
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
