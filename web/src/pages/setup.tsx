import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { api, unwrap } from '../api/client.ts';
import { PersonNameField } from '../parts/email-field.tsx';
import { focusOnMount } from '../parts/focus.ts';
import { Form } from '../parts/form.tsx';
import { InvalidLink } from '../parts/invalid-link.tsx';
import { type OpenedLink, useLink } from '../parts/link-token.ts';
import { Page } from '../parts/page.tsx';
import { NewPasswordField } from '../parts/password-field.tsx';
import { SetupHint } from '../parts/setup-hint.tsx';
import { SuggestingEmailField } from '../parts/suggesting-email-field.tsx';
import { useRedirectAfterAuth } from '../parts/use-redirect-after-auth.ts';
import { useSubmit } from '../parts/use-submit.ts';

export function SetupPage() {
  const link = useLink('/setup');
  if (link.token === null) return <NoLink link={link} />;
  return <SetupForm key={link.token} link={link} />;
}

function NoLink({ link }: { link: OpenedLink }) {
  return (
    <InvalidLink link={link}>
      <SetupHint>
        <Text>
          <Trans>
            A setup link works only while no user exists. If you already have a user,{' '}
            <Anchor component={Link} to="/sign-in" underline="always">
              sign in
            </Anchor>
            .
          </Trans>
        </Text>
      </SetupHint>
    </InvalidLink>
  );
}

function SetupForm({ link }: { link: OpenedLink }) {
  const enter = useRedirectAfterAuth();
  const submit = useSubmit(({ name = '', email = '', password = '' }) => {
    const person = { name: name.trim(), email: email.trim(), password };
    return link.use((token) => unwrap(api.POST('/dashboard/setup', { body: { token, ...person } })), enter);
  });
  return (
    <Page
      title={t`Set up Mailvet`}
      about={t`You become the owner of the first account and an operator of this service.`}
    >
      <Form submit={submit} action={t`Set up`} main>
        <PersonNameField {...submit.field('name')} ref={focusOnMount} />
        <SuggestingEmailField {...submit.field('email')} description={t`You will sign in with this address.`} />
        <NewPasswordField label={t`Password`} {...submit.field('password')} />
      </Form>
    </Page>
  );
}
