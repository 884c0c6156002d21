import { Anchor, Code, Stack, Text, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { api, unwrap } from '../api/client.ts';
import { DeadLink } from '../parts/dead-link.tsx';
import { EmailField } from '../parts/email-field.tsx';
import { takeFocus } from '../parts/focus.ts';
import { Form } from '../parts/form.tsx';
import { type OpenedLink, useLink } from '../parts/link-token.ts';
import { Page } from '../parts/page.tsx';
import { NewPasswordField } from '../parts/password-field.tsx';
import { useEnter } from '../parts/use-enter.ts';
import { useSubmit } from '../parts/use-submit.ts';

export function SetupPage() {
  const link = useLink('/setup');
  if (link.token === null) return <HowToGetOne link={link} />;
  return <SetupForm key={link.token} token={link.token} link={link} />;
}

function HowToGetOne({ link }: { link: OpenedLink }) {
  return (
    <DeadLink link={link}>
      <Stack gap="sm">
        <Text>Whoever runs this service gets a new one by starting it again:</Text>
        <Code block>npm run up</Code>
        <Text>
          It prints the link as long as nobody can sign in here yet. Somebody can already?{' '}
          <Anchor component={Link} to="/sign-in" underline="always">
            Sign in
          </Anchor>
          .
        </Text>
      </Stack>
    </DeadLink>
  );
}

function SetupForm({ token, link }: { token: string; link: OpenedLink }) {
  const enter = useEnter();
  const submit = useSubmit(async ({ name = '', email = '', password = '' }) => {
    const body = { token, name: name.trim(), email: email.trim(), password };
    try {
      await unwrap(api.POST('/dashboard/setup', { body }));
    } catch (error) {
      return link.refused(error);
    }
    await enter();
    link.used();
  });
  return (
    <Page title="Set up Mailvet" about="You become the owner of the first account, and the operator of this service.">
      <Form submit={submit} action="Set up" main>
        <TextInput label="Your name" autoComplete="name" maxLength={100} {...submit.field('name')} ref={takeFocus} />
        <EmailField {...submit.field('email')} description="You sign in with it." />
        <NewPasswordField label="Password" {...submit.field('password')} />
      </Form>
    </Page>
  );
}
