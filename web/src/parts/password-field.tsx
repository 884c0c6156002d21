import { t } from '@lingui/core/macro';
import { Button, TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';
import { PASSWORD_LENGTH } from '../../../src/kernel/facts/limits.ts';
import { inSentence } from './format.ts';

/** An existing password. */
export function PasswordField(props: TextInputProps) {
  const [shown, setShown] = useState(false);
  const label = String(props.label ?? t`Password`);
  return (
    <TextInput
      label={label}
      autoComplete="current-password"
      maxLength={PASSWORD_LENGTH.max}
      autoCapitalize="none"
      autoCorrect="off"
      spellCheck={false}
      {...props}
      type={shown ? 'text' : 'password'}
      rightSectionWidth={64}
      rightSection={
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => setShown(!shown)}
          aria-label={`${shown ? t`Hide` : t`Show`} ${inSentence(label)}`}
        >
          {shown ? t`Hide` : t`Show`}
        </Button>
      }
    />
  );
}

/** A new password, with its rule. */
export function NewPasswordField(props: TextInputProps) {
  const [length, setLength] = useState(0);
  return (
    <PasswordField
      autoComplete="new-password"
      minLength={PASSWORD_LENGTH.min}
      description={hint(length)}
      {...props}
      onChange={(event) => setLength(event.currentTarget.value.length)}
    />
  );
}

function hint(length: number): string {
  const rule = t`At least ${PASSWORD_LENGTH.min} characters. A passphrase of several words works well.`;
  if (length === 0) return rule;
  const missing = PASSWORD_LENGTH.min - length;
  return missing > 0 ? t`${rule} ${missing} more to go.` : t`${rule} Long enough.`;
}
