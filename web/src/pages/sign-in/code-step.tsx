import { Anchor, Stack } from '@mantine/core';
import { useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import { CodeField, normalizeCode } from '../../parts/code-field.tsx';
import { focusOnMount } from '../../parts/focus.ts';
import { Form } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { useSubmit } from '../../parts/use-submit.ts';

export function CodeStep({ onSignedIn, onBack }: { onSignedIn: () => Promise<void>; onBack: () => void }) {
  const [recovery, setRecovery] = useState(false);
  const submit = useSubmit(async ({ code }) => {
    await unwrap(api.POST('/dashboard/sign-in/code', { body: { code: normalizeCode(code) } }));
    await onSignedIn();
  }, 'code');
  return (
    <Page
      title="Two-factor authentication"
      about={recovery ? 'Each recovery code works once.' : 'Enter the six-digit code from your authenticator app.'}
    >
      <Stack>
        <Form
          submit={submit}
          action="Sign in"
          main
          beside={
            <Anchor component="button" type="button" fz="sm" onClick={() => setRecovery(!recovery)}>
              {recovery ? 'Use an authenticator code' : 'Use a recovery code'}
            </Anchor>
          }
        >
          <CodeField key={String(recovery)} recovery={recovery} {...submit.field('code')} ref={focusOnMount} />
        </Form>
        <Anchor component="button" type="button" fz="sm" ta="left" onClick={onBack}>
          Sign in as a different user
        </Anchor>
      </Stack>
    </Page>
  );
}
