import { Anchor, Group, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { PASSKEY_NAME_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import type { SignedInUser } from '../../api/session.ts';
import { CodeField, normalizeCode } from '../../parts/code-field.tsx';
import { HiddenUsername } from '../../parts/email-field.tsx';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { addPasskey, type Proof } from '../../parts/passkeys.ts';
import { PasswordField } from '../../parts/password-field.tsx';
import { type Submission, useSubmit } from '../../parts/use-submit.ts';

const METHODS = {
  password: 'Use your password',
  code: 'Use an authenticator code',
  passkey: 'Use a passkey you have',
} as const;
type Method = keyof typeof METHODS;

const proofOf = (method: Method, { password = '', code = '' }: Readonly<Record<string, string>>): Proof =>
  method === 'passkey' ? method : method === 'code' ? { code: normalizeCode(code) } : { password };

interface Props {
  readonly user: SignedInUser;
  readonly hasPasskey: boolean;
  readonly onAdded: () => Promise<void>;
  readonly onCancel: () => void;
}

export function AddPasskey({ user, hasPasskey, onAdded, onCancel }: Props) {
  const [method, setMethod] = useState<Method>('password');
  const methods: readonly Method[] = [
    'password',
    ...(user.second_factor ? (['code'] as const) : []),
    ...(hasPasskey ? (['passkey'] as const) : []),
  ];
  const submit = useSubmit(async (values) => {
    await addPasskey((values.name ?? '').trim(), proofOf(method, values));
    await onAdded();
    await notify('Passkey added.');
  }, method);
  return (
    <Form submit={submit} action="Continue" main onCancel={onCancel}>
      <TextInput
        label="Passkey name"
        description="For example the device that stores it. Your browser asks for the rest."
        autoComplete="off"
        maxLength={PASSKEY_NAME_LENGTH.max}
        data-autofocus
        {...submit.field('name')}
      />
      <HiddenUsername email={user.email} />
      <ProofField method={method} submit={submit} />
      <Group gap="md">
        {methods
          .filter((other) => other !== method)
          .map((other) => (
            <Anchor key={other} component="button" type="button" fz="sm" onClick={() => setMethod(other)}>
              {METHODS[other]}
            </Anchor>
          ))}
      </Group>
    </Form>
  );
}

function ProofField({ method, submit }: { method: Method; submit: Submission }) {
  switch (method) {
    case 'password':
      return <PasswordField label="Password" {...submit.field('password')} />;
    case 'code':
      return <CodeField {...submit.field('code')} />;
    case 'passkey':
      return <Text size="sm">Your browser first asks for a passkey that you have, then for the new one.</Text>;
  }
}
