import { Button, Radio, Stack, Text, TextInput } from '@mantine/core';
import { type RefObject, useEffect, useState } from 'react';
import type { Overview } from '../../api/schema.ts';
import { fieldError } from '../../parts/field-error.ts';
import { counted, PLAN_NAMES } from '../../parts/words.ts';
import type { Verifying } from './use-verification.ts';

const PRICE = { mx: 1, smtp: 10 } as const;

/** The address, the level, and what it will cost. */
export function Ask(props: {
  verification: Verifying;
  overview: Overview | undefined;
  input: RefObject<HTMLInputElement | null>;
}) {
  const { verification, overview, input } = props;
  const { state, email, setEmail, ask } = verification;
  const [level, setLevel] = useState<keyof typeof PRICE>('mx');
  const [missing, setMissing] = useState(false);
  const error = state.is === 'failed' ? state.error : null;
  useEffect(() => {
    if (state.is === 'cancelled' || state.is === 'failed') input.current?.focus();
  }, [state, input]);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setMissing(email.trim() === '');
        if (email.trim() === '') input.current?.focus();
        else ask(level);
      }}
    >
      <Stack maw={640}>
        <TextInput
          ref={input}
          label="Address"
          // Not `email`: the browser would change it, and judge it more narrowly than we do.
          inputMode="email"
          placeholder="someone@example.com"
          autoComplete="off"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          maxLength={1024}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={(missing && email.trim() === '' && 'Enter an address.') || fieldError(error, 'email')}
        />
        <Radio.Group
          label="Level"
          value={level}
          onChange={(value) => setLevel(value === 'smtp' ? 'smtp' : 'mx')}
          error={fieldError(error, 'validation_type')}
        >
          <Stack gap="xs" mt={4}>
            <Radio
              value="mx"
              label="mx: 1 credit"
              description="Syntax, domain, mail servers, disposable lists, your filters."
            />
            <Radio
              value="smtp"
              label="smtp: 10 credits"
              disabled={overview?.smtp_available === false}
              description={
                overview?.smtp_available === false
                  ? `Not in the plan ${PLAN_NAMES[overview.account.plan] ?? overview.account.plan}: it comes with Premium and Enterprise.`
                  : 'All of mx, then asks the mail server whether the mailbox exists. Where that gets no answer, 1 credit.'
              }
            />
          </Stack>
        </Radio.Group>
        <Text size="sm">
          This costs {level === 'smtp' ? 'up to ' : 'at most '}
          {counted(PRICE[level], 'credit')}
          {overview && `; ${counted(overview.credits.remaining, 'credit')} left`}.
        </Text>
        <div>
          <Button type="submit" variant="filled" loading={state.is === 'running'}>
            Verify
          </Button>
        </div>
      </Stack>
    </form>
  );
}
