import { Button, TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';

/** A password that signs in already. */
export function PasswordField(props: TextInputProps) {
  const [shown, setShown] = useState(false);
  const label = String(props.label ?? 'Password');
  return (
    <TextInput
      label={label}
      autoComplete="current-password"
      maxLength={256}
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
          aria-label={`${shown ? 'Hide' : 'Show'} ${label.toLowerCase()}`}
        >
          {shown ? 'Hide' : 'Show'}
        </Button>
      }
    />
  );
}

const SHORTEST = 12;

/** A password that is being chosen: what it needs is said before it is sent. */
export function NewPasswordField(props: TextInputProps) {
  const [length, setLength] = useState(0);
  return (
    <PasswordField
      autoComplete="new-password"
      minLength={SHORTEST}
      description={hint(length)}
      {...props}
      onChange={(event) => setLength(event.currentTarget.value.length)}
    />
  );
}

function hint(length: number): string {
  const rule = `At least ${SHORTEST} characters; a few words do well.`;
  if (length === 0) return rule;
  return length < SHORTEST ? `${rule} ${SHORTEST - length} more.` : `${rule} Long enough.`;
}
