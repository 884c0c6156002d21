import { Trans } from '@lingui/react/macro';
import { Button, Group, Text, type TextInputProps } from '@mantine/core';
import { type FocusEvent, useRef, useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import { EmailField } from './email-field.tsx';

interface Suggestion {
  readonly of: string;
  readonly instead: string;
}

/** An email address that a mail goes to. Once it is left, a likely typo in it is pointed out; it is not an error. */
export function SuggestingEmailField(props: Omit<TextInputProps, 'ref' | 'onBlur' | 'onChange'>) {
  const input = useRef<HTMLInputElement>(null);
  const [suggestion, setSuggestion] = useState<Suggestion | null>(null);
  async function check({ currentTarget }: FocusEvent<HTMLInputElement>) {
    const email = currentTarget.value.trim();
    if (!email.includes('@') || email === suggestion?.of) return;
    const { did_you_mean } = await unwrap(api.POST('/dashboard/suggestion', { body: { email } }));
    // Something else may have been typed meanwhile.
    if (input.current?.value.trim() !== email) return;
    setSuggestion(did_you_mean === null ? null : { of: email, instead: did_you_mean });
  }
  function accept({ instead }: Suggestion) {
    if (input.current) input.current.value = instead;
    setSuggestion(null);
    input.current?.focus();
  }
  return (
    <div>
      <EmailField
        {...props}
        ref={input}
        // What the field is for does not depend on it: without an answer there is no suggestion.
        onBlur={(event) => void check(event).catch(() => setSuggestion(null))}
        onChange={() => setSuggestion(null)}
      />
      <div role="status">
        {suggestion && (
          <Group gap="xs" mt={4} className="anywhere">
            <Text size="sm">
              <Trans>Did you mean {suggestion.instead}?</Trans>
            </Text>
            <Button size="xs" onClick={() => accept(suggestion)}>
              <Trans>Use {suggestion.instead}</Trans>
            </Button>
          </Group>
        )}
      </div>
    </div>
  );
}
