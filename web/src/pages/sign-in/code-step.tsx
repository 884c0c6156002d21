import { Anchor, Stack } from '@mantine/core';
import { useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import { CodeField, codeOf } from '../../parts/code-field.tsx';
import { takeFocus } from '../../parts/focus.ts';
import { Form } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { useSubmit } from '../../parts/use-submit.ts';

export function CodeStep({ onSignedIn, onBack }: { onSignedIn: () => Promise<void>; onBack: () => void }) {
  const [recovery, setRecovery] = useState(false);
  const submit = useSubmit(async ({ code }) => {
    await unwrap(api.POST('/dashboard/sign-in/code', { body: { code: codeOf(code) } }));
    await onSignedIn();
  }, 'code');
  return (
    <Page
      title="Second step"
      about={recovery ? 'Each recovery code works once.' : 'Your authenticator app shows six digits for Mailvet.'}
    >
      <Stack>
        <Form
          submit={submit}
          action="Sign in"
          main
          beside={
            <Anchor component="button" type="button" fz="sm" onClick={() => setRecovery(!recovery)}>
              {recovery ? 'Use the authenticator app' : 'Use a recovery code'}
            </Anchor>
          }
        >
          <CodeField key={String(recovery)} recovery={recovery} {...submit.field('code')} ref={takeFocus} />
        </Form>
        <Anchor component="button" type="button" fz="sm" ta="left" onClick={onBack}>
          Sign in as somebody else
        </Anchor>
      </Stack>
    </Page>
  );
}
