import { Box, NativeSelect, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { OperatorAccount } from '../../api/schema.ts';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { wholeNumber } from '../../parts/whole-number.ts';
import { PLAN_CHOICES, toPlan } from '../operator/plans.ts';
import { changeAccount, OPERATOR_KEY } from '../operator/queries.ts';

/** Name, plan and rate limit. */
export function LimitsForm({ account }: { account: OperatorAccount }) {
  const { id, rate_limit, rate_limit_set } = account;
  const client = useQueryClient();
  const [plan, setPlan] = useState(account.plan);
  const submit = useSubmit(async ({ name = '', rate_limit = '' }) => {
    await changeAccount(id, {
      name: name.trim(),
      plan,
      rate_limit: rate_limit.trim() === '' ? null : wholeNumber(rate_limit, 'rate_limit', 1),
    });
    void notify('Saved. It is in force with the next request.');
    await client.invalidateQueries({ queryKey: OPERATOR_KEY });
  });
  return (
    <Box component="section" aria-labelledby="limits" maw={480}>
      <Title order={2} id="limits" mb="xs">
        Plan and limits
      </Title>
      <Form submit={submit} action="Save">
        <TextInput
          {...submit.field('name')}
          label="Name"
          defaultValue={account.name}
          maxLength={200}
          autoComplete="off"
        />
        <NativeSelect
          label="Plan"
          description="Starter has no smtp level."
          data={PLAN_CHOICES}
          value={plan}
          onChange={(event) => setPlan(toPlan(event.currentTarget.value))}
        />
        <TextInput
          {...submit.field('rate_limit')}
          required={false}
          label="Requests in 5 minutes"
          description="Empty: the plan's own."
          placeholder={rate_limit_set ? '' : String(rate_limit)}
          defaultValue={rate_limit_set ? String(rate_limit) : ''}
          inputMode="numeric"
          maxLength={15}
          autoComplete="off"
        />
      </Form>
    </Box>
  );
}
