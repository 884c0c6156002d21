import { Stack, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import type { Totp } from '../../api/schema.ts';
import { sessionQuery } from '../../api/session.ts';
import { CodeField, normalizeCode } from '../../parts/code-field.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { focusOnMount } from '../../parts/focus.ts';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { QrCode } from './qr-code.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

export function ConfirmAuthenticator(props: { totp: Totp; email: string; onDone: () => void; onCancel: () => void }) {
  const { totp, email, onDone, onCancel } = props;
  const client = useQueryClient();
  const submit = useSubmit(async ({ code }) => {
    await unwrap(api.POST('/dashboard/totp/confirm', { body: { code: normalizeCode(code) } }));
    onDone();
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    await notify('Authenticator app added.');
  }, 'code');
  return (
    <Stack>
      <Title order={3} ref={focusOnMount} tabIndex={-1} style={{ outline: 'none' }}>
        1. Scan the QR code with the app
      </Title>
      <QrCode text={totp.uri} label="QR code for the authenticator app, with the secret below" />
      <Text size="sm">Or enter this secret in the app:</Text>
      <CopyText text={totp.secret} label="secret" />
      <Title order={3}>2. Save the recovery codes</Title>
      <RecoveryCodes codes={totp.recovery_codes} email={email} />
      <Title order={3}>3. Enter a code from the app</Title>
      <Form submit={submit} action="Confirm" main onCancel={onCancel}>
        <CodeField {...submit.field('code')} />
      </Form>
    </Stack>
  );
}
