import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Modal, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { encode } from 'uqr';
import { api, unwrap } from '../../api/client.ts';
import type { Totp } from '../../api/schema.ts';
import { type SignedInUser, sessionQuery, useSession } from '../../api/session.ts';
import { CodeField, normalizeCode } from '../../parts/code-field.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { HiddenUsername } from '../../parts/email-field.tsx';
import { focusOnMount } from '../../parts/focus.ts';
import { DialogForm } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { proofBody } from '../../parts/passkeys.ts';
import { PasswordField } from '../../parts/password-field.tsx';
import { ProviderConfirmation, useProviderConfirmed } from '../../parts/provider-confirmation.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { Section } from './section.tsx';

/** Light cells around the code that readers need (ISO/IEC 18004 §9.1). */
const QUIET = 4;

/** Dark on light in both color schemes: many readers take no other. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET });
  const dark = data.flatMap((row, y) => row.flatMap((cell, x) => (cell ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg role="img" aria-label={label} width={208} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  );
}

function RecoveryCodes({ codes, email }: { codes: readonly string[]; email: string }) {
  return (
    <Stack gap="sm" align="flex-start">
      <Text size="sm">{t`Use a recovery code to sign in if you lose access to the app. Each code works once. The codes are not shown again: store them separately from the app.`}</Text>
      <CopyText block text={codes.join('\n')} label={t`recovery codes`} />
      <Button size="xs" onClick={() => download(codes, email)}>{t`Download as file`}</Button>
    </Stack>
  );
}

function download(codes: readonly string[], email: string): void {
  const text = t`Recovery codes for ${email} at ${location.host}. Each works once.\n\n${codes.join('\n')}\n`;
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: 'mailvet-recovery-codes.txt' });
  link.click();
  // The download has started by the next task; the codes must not stay in memory.
  setTimeout(() => URL.revokeObjectURL(url));
}

function ConfirmAuthenticator(props: { totp: Totp; email: string; onDone: () => void; onCancel: () => void }) {
  const { totp, email, onDone, onCancel } = props;
  const client = useQueryClient();
  const submit = useSubmit(async ({ code }) => {
    await unwrap(api.POST('/dashboard/totp/confirm', { body: { code: normalizeCode(code) } }));
    onDone();
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    await notify(t`Authenticator app added.`);
  }, 'code');
  return (
    <Stack>
      <Title
        order={3}
        ref={focusOnMount}
        tabIndex={-1}
        style={{ outline: 'none' }}
      >{t`1. Scan the QR code with the app`}</Title>
      <QrCode text={totp.uri} label={t`QR code for the authenticator app, with the secret below`} />
      <Text size="sm">{t`Or enter this secret in the app:`}</Text>
      <CopyText text={totp.secret} label={t`secret`} />
      <Title order={3}>{t`2. Save the recovery codes`}</Title>
      <RecoveryCodes codes={totp.recovery_codes} email={email} />
      <Title order={3}>{t`3. Enter a code from the app`}</Title>
      <DialogForm submit={submit} action={t`Confirm`} onCancel={onCancel}>
        <CodeField {...submit.field('code')} />
      </DialogForm>
    </Stack>
  );
}

/** The secret exists only in the state of this component and is dropped when the dialog closes. */
function SetUpAuthenticator(props: { email: string; onDone: () => void; onCancel: () => void }) {
  const { email, onCancel } = props;
  const [totp, setTotp] = useState<Totp | null>(null);
  if (totp !== null) return <ConfirmAuthenticator totp={totp} {...props} />;
  return <ProofStep email={email} onMade={setTotp} onCancel={onCancel} />;
}

/** Who has no password confirms with the provider; or, where there is none, with a passkey. */
function ProofStep(props: { email: string; onMade: (totp: Totp) => void; onCancel: () => void }) {
  const { onMade, onCancel } = props;
  const { user } = useSession();
  const by = useProviderConfirmed('set_up_totp');
  const submit = useSubmit(async () => {
    const body = await proofBody(by.provider === null ? 'passkey' : by.use());
    onMade(await unwrap(api.POST('/dashboard/totp', { body })));
  });
  if (user?.has_password) return <PasswordStep {...props} />;
  return (
    <DialogForm
      submit={submit}
      action={t`Continue`}
      onCancel={onCancel}
      disabled={by.provider !== null && !by.confirmed}
    >
      {by.provider === null ? (
        <Text size="sm">{t`Your browser asks for a passkey that you have.`}</Text>
      ) : (
        <ProviderConfirmation action="set_up_totp" by={by} />
      )}
    </DialogForm>
  );
}

function PasswordStep(props: { email: string; onMade: (totp: Totp) => void; onCancel: () => void }) {
  const { email, onMade, onCancel } = props;
  const submit = useSubmit(async ({ password = '' }) => {
    onMade(await unwrap(api.POST('/dashboard/totp', { body: { password } })));
  }, 'password');
  return (
    <DialogForm submit={submit} action={t`Continue`} onCancel={onCancel}>
      <Text size="sm">{t`Enter your password to continue.`}</Text>
      <HiddenUsername email={email} />
      <PasswordField label={t`Password`} {...submit.field('password')} data-autofocus />
    </DialogForm>
  );
}

function RemoveAuthenticator(props: { email: string; onRemoved: () => void; onCancel: () => void }) {
  const { email, onRemoved, onCancel } = props;
  const client = useQueryClient();
  const { accounts, oidc, user } = useSession();
  const requiring = accounts.filter(({ second_factor_required }) => second_factor_required);
  const provider = oidc !== null && !user?.has_password ? oidc.name : null;
  const by = useProviderConfirmed('remove_totp');
  const proof = by.confirmed ? 'oidc' : user?.has_password ? 'password' : 'code';
  const submit = useSubmit(async ({ password = '', code = '' }) => {
    const body = proof === 'oidc' ? by.use() : proof === 'code' ? { code: normalizeCode(code) } : { password };
    await unwrap(api.POST('/dashboard/totp/remove', { body }));
    onRemoved();
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    await notify(t`Authenticator app removed.`);
  }, proof);
  return (
    <DialogForm submit={submit} action={t`Remove`} onCancel={onCancel}>
      <Text size="sm">
        <Trans>You will sign in with {provider ?? t`your password`} only. Your recovery codes stop working.</Trans>
      </Text>
      {requiring.length > 0 && (
        <Text size="sm" className="anywhere">
          <Trans>
            {requiring.map(({ name }) => name).join(', ')}{' '}
            {requiring.length === 1 ? t`requires a second factor` : t`require a second factor`}: without a passkey, you
            are locked out until you set one up again.
          </Trans>
        </Text>
      )}
      <HiddenUsername email={email} />
      {proof === 'code' && <CodeField {...submit.field('code')} />}
      {proof === 'password' && <PasswordField label={t`Password`} {...submit.field('password')} data-autofocus />}
      {proof === 'code' && by.provider !== null && (
        <Text size="sm">{t`If you have neither the app nor a recovery code:`}</Text>
      )}
      {proof !== 'password' && by.provider !== null && <ProviderConfirmation action="remove_totp" by={by} />}
    </DialogForm>
  );
}

export function AuthenticatorSection({ user }: { user: SignedInUser }) {
  const on = user.second_factor;
  const { confirmed, provider } = useProviderConfirmed(on ? 'remove_totp' : 'set_up_totp');
  const [opened, { open, close }] = useDisclosure(confirmed);
  return (
    <Section
      title={t`Authenticator app`}
      about={t`Two-factor authentication: signing in with ${provider ?? t`your password`} also requires a six-digit code from an app.`}
    >
      <Text size="sm">{on ? t`Two-factor authentication is on.` : t`Two-factor authentication is off.`}</Text>
      <Button onClick={open} style={{ alignSelf: 'flex-start' }}>
        {on ? t`Remove authenticator app` : t`Set up authenticator app`}
      </Button>
      {/* An accidental click outside must not close it: the recovery codes are shown only once. */}
      <Modal
        opened={opened}
        onClose={close}
        closeOnClickOutside={false}
        size="lg"
        title={on ? t`Remove authenticator app?` : t`Set up authenticator app`}
      >
        {on ? (
          <RemoveAuthenticator email={user.email} onRemoved={close} onCancel={close} />
        ) : (
          <SetUpAuthenticator email={user.email} onDone={close} onCancel={close} />
        )}
      </Modal>
    </Section>
  );
}
