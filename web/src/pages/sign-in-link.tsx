import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import { api, unwrap } from '../api/client.ts';
import { Form } from '../parts/form.tsx';
import { InvalidLink } from '../parts/invalid-link.tsx';
import { useLink } from '../parts/link-token.ts';
import { Page } from '../parts/page.tsx';
import { useRedirectAfterAuth } from '../parts/use-redirect-after-auth.ts';
import { useSubmit } from '../parts/use-submit.ts';

/** Opened by a link of `mailvet user sign-in`. */
export function SignInLinkPage() {
  const link = useLink('/sign-in/link');
  const enter = useRedirectAfterAuth();
  const send = (token: string) => unwrap(api.POST('/dashboard/sign-in/link', { body: { token } }));
  const submit = useSubmit(() => link.use(send, enter));
  if (link.token === null)
    return (
      <InvalidLink link={link}>
        <Text>{t`Ask the operator of this service for a new one.`}</Text>
      </InvalidLink>
    );
  return (
    <Page title={t`Sign in`} about={t`The operator of this service made this link for you. It works once.`}>
      <Form submit={submit} action={t`Sign in`} main />
    </Page>
  );
}
