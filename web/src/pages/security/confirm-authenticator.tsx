import { Stack, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import type { Totp } from '../../api/schema.ts';
import { sessionQuery } from '../../api/session.ts';
import { CodeField, codeOf } from '../../parts/code-field.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { takeFocus } from '../../parts/focus.ts';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { QrCode } from './qr-code.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

export function ConfirmAuthenticator({ totp, email, onDone }: { totp: Totp; email: string; onDone: () => void }) {
  const client = useQueryClient();
  const submit = useSubmit(async ({ code }) => {
    await unwrap(api.POST('/dashboard/totp/confirm', { body: { code: codeOf(code) } }));
    onDone();
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    await notify('A code is asked at every sign-in from now on.');
  }, 'code');
  return (
    <Stack>
      <Title order={3} ref={takeFocus} tabIndex={-1} style={{ outline: 'none' }}>
        1. Scan with the app
      </Title>
      <QrCode text={totp.uri} label="QR code for the authenticator app; the secret below is the same" />
      <Text size="sm">Or type this secret into it:</Text>
      <CopyText text={totp.secret} label="the secret" />
      <Title order={3}>2. Keep the recovery codes</Title>
      <RecoveryCodes codes={totp.recovery_codes} email={email} />
      <Title order={3}>3. Confirm with a first code</Title>
      <Form submit={submit} action="Confirm" main>
        <CodeField {...submit.field('code')} />
      </Form>
    </Stack>
  );
}
