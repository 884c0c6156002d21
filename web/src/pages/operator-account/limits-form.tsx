import { Box, NativeSelect, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { NAME_LENGTH, RATE_LIMIT } from '../../../../src/kernel/facts/limits.ts';
import { PLANS } from '../../../../src/kernel/facts/plans.ts';
import type { OperatorAccount } from '../../api/schema.ts';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { parseInteger } from '../../parts/parse-integer.ts';
import { PLANS_WITH_SMTP, parsePlan, RATE_WINDOW } from '../../parts/plans.ts';
import { useSubmit } from '../../parts/use-submit.ts';
import { PLAN_OPTIONS } from '../operator/plans.ts';
import { changeAccount, OPERATOR_KEY } from '../operator/queries.ts';

export function LimitsForm({ account }: { account: OperatorAccount }) {
  const { id, rate_limit, rate_limit_set } = account;
  const client = useQueryClient();
  const [plan, setPlan] = useState(account.plan);
  const submit = useSubmit(async ({ name = '', rate_limit = '' }) => {
    await changeAccount(id, {
      name: name.trim(),
      plan,
      rate_limit: rate_limit.trim() === '' ? null : parseInteger(rate_limit, 'rate_limit', RATE_LIMIT.min),
    });
    void notify('Saved. Takes effect with the next request.');
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
          maxLength={NAME_LENGTH.max}
          autoComplete="off"
        />
        <NativeSelect
          label="Plan"
          description={PLANS[plan].smtp ? undefined : `Without the smtp level, which ${PLANS_WITH_SMTP} include.`}
          data={PLAN_OPTIONS}
          value={plan}
          onChange={(event) => setPlan(parsePlan(event.currentTarget.value) ?? plan)}
        />
        <TextInput
          {...submit.field('rate_limit')}
          required={false}
          label={`Requests per ${RATE_WINDOW}`}
          description="Leave empty to use the limit of the plan."
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
