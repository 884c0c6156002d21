import { Modal, NativeSelect, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { NAME_LENGTH, OPENING_CREDITS, RATE_LIMIT } from '../../../../src/kernel/facts/limits.ts';
import { DEFAULT_PLAN } from '../../../../src/kernel/facts/plans.ts';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { parseInteger } from '../../parts/parse-integer.ts';
import { type Plan, parsePlan, RATE_WINDOW } from '../../parts/plans.ts';
import { useSubmit } from '../../parts/use-submit.ts';
import { PLAN_OPTIONS } from './plans.ts';
import { createAccount, OPERATOR_KEY } from './queries.ts';

/** Creates an account and opens its page. */
export function CreateDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Create account">
      <CreateForm onClose={onClose} />
    </Modal>
  );
}

function CreateForm({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [plan, setPlan] = useState<Plan>(DEFAULT_PLAN);
  const submit = useSubmit(async ({ name = '', credits = '', rate_limit = '' }) => {
    const created = await createAccount({
      name: name.trim(),
      plan,
      credits: parseInteger(credits, 'credits'),
      rate_limit: rate_limit.trim() === '' ? null : parseInteger(rate_limit, 'rate_limit', RATE_LIMIT.min),
    });
    onClose();
    void notify(`${created.name} created. It has no members or API keys yet.`);
    await client.invalidateQueries({ queryKey: OPERATOR_KEY });
    await navigate({ to: '/operator/accounts/$id', params: { id: created.id } });
  });
  return (
    <Form submit={submit} action="Create" main onCancel={onClose}>
      <TextInput {...submit.field('name')} label="Name" maxLength={NAME_LENGTH.max} autoComplete="off" data-autofocus />
      <NativeSelect
        label="Plan"
        data={PLAN_OPTIONS}
        value={plan}
        onChange={(event) => setPlan(parsePlan(event.currentTarget.value) ?? plan)}
      />
      <TextInput
        {...submit.field('credits')}
        label="Initial credits"
        defaultValue={OPENING_CREDITS.min}
        inputMode="numeric"
        maxLength={15}
        autoComplete="off"
      />
      <TextInput
        {...submit.field('rate_limit')}
        required={false}
        label={`Requests per ${RATE_WINDOW}`}
        description="Leave empty to use the limit of the plan."
        inputMode="numeric"
        maxLength={15}
        autoComplete="off"
      />
    </Form>
  );
}
