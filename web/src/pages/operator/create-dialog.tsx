import { Button, Modal, NativeSelect, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { wholeNumber } from '../../parts/whole-number.ts';
import { PLAN_CHOICES, type Plan, toPlan } from './plans.ts';
import { createAccount, OPERATOR_KEY } from './queries.ts';

/** Makes an account, and goes to it. */
export function CreateDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="New account">
      <CreateForm onClose={onClose} />
    </Modal>
  );
}

function CreateForm({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [plan, setPlan] = useState<Plan>('starter');
  const submit = useSubmit(async ({ name = '', credits = '', rate_limit = '' }) => {
    const made = await createAccount({
      name: name.trim(),
      plan,
      credits: wholeNumber(credits, 'credits'),
      rate_limit: rate_limit.trim() === '' ? null : wholeNumber(rate_limit, 'rate_limit', 1),
    });
    onClose();
    void notify(`${made.name} was made. It has no members and no keys yet.`);
    await client.invalidateQueries({ queryKey: OPERATOR_KEY });
    await navigate({ to: '/operator/accounts/$id', params: { id: made.id } });
  });
  return (
    <Form submit={submit} action="Make the account" main beside={<Button onClick={onClose}>Cancel</Button>}>
      <TextInput {...submit.field('name')} label="Name" maxLength={200} autoComplete="off" data-autofocus />
      <NativeSelect
        label="Plan"
        data={PLAN_CHOICES}
        value={plan}
        onChange={(event) => setPlan(toPlan(event.currentTarget.value))}
      />
      <TextInput
        {...submit.field('credits')}
        label="Credits to begin with"
        defaultValue="0"
        inputMode="numeric"
        maxLength={15}
        autoComplete="off"
      />
      <TextInput
        {...submit.field('rate_limit')}
        required={false}
        label="Requests in 5 minutes"
        description="Empty: the plan's own."
        inputMode="numeric"
        maxLength={15}
        autoComplete="off"
      />
    </Form>
  );
}
