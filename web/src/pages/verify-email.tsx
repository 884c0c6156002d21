import { t } from '@lingui/core/macro';
import { Anchor, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { api, unwrap } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { Form } from '../parts/form.tsx';
import { InvalidLink } from '../parts/invalid-link.tsx';
import { type OpenedLink, useLink } from '../parts/link-token.ts';
import { Page } from '../parts/page.tsx';
import { useRedirectAfterAuth } from '../parts/use-redirect-after-auth.ts';
import { useSubmit } from '../parts/use-submit.ts';

/** Asks for a click, so that a mail filter that opens the link does not use it up. */
export function VerifyEmailPage() {
  const link = useLink('/verify-email');
  const enter = useRedirectAfterAuth();
  const send = (token: string) => unwrap(api.POST('/dashboard/verify-email', { body: { token } }));
  const submit = useSubmit(() => link.use(send, enter));
  if (link.token === null) return <NoLink link={link} />;
  return (
    <Page title={t`Confirm your email address`} about={t`This activates the account that you signed up for.`}>
      <Form submit={submit} action={t`Confirm`} main />
    </Page>
  );
}

function NoLink({ link }: { link: OpenedLink }) {
  const { signup } = useSession();
  return (
    <InvalidLink link={link}>
      <Text>
        {link.rejection === null
          ? t`Open the link in the email again.`
          : t`If you have already confirmed your address, sign in.`}
        {signup && t` Otherwise sign up again to get a new link.`}
      </Text>
      <Group mt="sm">
        <Anchor component={Link} to="/sign-in">{t`Sign in`}</Anchor>
        {signup && <Anchor component={Link} to="/sign-up">{t`Sign up`}</Anchor>}
      </Group>
    </InvalidLink>
  );
}
