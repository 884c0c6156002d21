import { Button, Radio, Stack, Text, TextInput } from '@mantine/core';
import { type RefObject, useEffect, useState } from 'react';
import { ADDRESS_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import type { Level } from '../../../../src/kernel/facts/plans.ts';
import { DEFAULT_LEVEL, LEVELS, PRICE } from '../../../../src/kernel/facts/plans.ts';
import type { Overview } from '../../api/schema.ts';
import { fieldError } from '../../parts/field-error.ts';
import { pluralize } from '../../parts/format.ts';
import { PLAN_LABELS, PLANS_WITH_SMTP } from '../../parts/plans.ts';
import type { VerificationController } from './use-verification.ts';

export function VerifyForm(props: {
  verification: VerificationController;
  overview: Overview | undefined;
  input: RefObject<HTMLInputElement | null>;
}) {
  const { verification, overview, input } = props;
  const { state, email, setEmail, verify: ask } = verification;
  const [level, setLevel] = useState<Level>(DEFAULT_LEVEL);
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
          label="Email address"
          // Not `type="email"`: browsers normalize the value and reject addresses that we accept.
          inputMode="email"
          placeholder="someone@example.com"
          autoComplete="off"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          maxLength={ADDRESS_LENGTH.max}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={(missing && email.trim() === '' && 'Enter an email address.') || fieldError(error, 'email')}
        />
        <Radio.Group
          label="Level"
          value={level}
          onChange={(value) => setLevel(LEVELS.find((one) => one === value) ?? level)}
          error={fieldError(error, 'validation_type')}
        >
          <Stack gap="xs" mt={4}>
            <Radio
              value="mx"
              label={`mx: ${pluralize(PRICE.mx, 'credit')}`}
              description="Checks syntax, your filters, disposable lists, domain and mail servers."
            />
            <Radio
              value="smtp"
              label={`smtp: ${pluralize(PRICE.smtp, 'credit')}`}
              disabled={overview?.smtp_available === false}
              description={
                overview?.smtp_available === false
                  ? `Not included in the ${PLAN_LABELS[overview.account.plan]} plan. Available with ${PLANS_WITH_SMTP}.`
                  : `Everything in mx, then asks the mail server whether the mailbox exists. Costs ${pluralize(PRICE.mx, 'credit')} if it does not answer.`
              }
            />
          </Stack>
        </Radio.Group>
        <Text size="sm">
          Costs at most {pluralize(PRICE[level], 'credit')}.
          {overview && ` ${pluralize(overview.credits.remaining, 'credit')} left.`}
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
