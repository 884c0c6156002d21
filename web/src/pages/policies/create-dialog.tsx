import { t } from '@lingui/core/macro';
import { Modal, NativeSelect, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { POLICY_NAME_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import { POLICY_NAME } from '../../../../src/kernel/facts/policies.ts';
import { ApiError } from '../../api/client.ts';
import type { Policy } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { DialogForm } from '../../parts/form.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { policiesKey, savePolicy } from './queries.ts';
import { rulesOf } from './sentences.ts';

/** Makes a policy from the rules of another one, and opens it. `from`: which is chosen at first; null: closed. */
export const CreatePolicy = (props: { policies: readonly Policy[]; from: string | null; onClose: () => void }) => (
  <Modal opened={props.from !== null} onClose={props.onClose} title={t`Create policy`}>
    <Create {...props} />
  </Modal>
);

/** Mounted with the dialog, so that its state resets. */
function Create({ policies, from, onClose }: Parameters<typeof CreatePolicy>[0]) {
  const { id } = useAccount();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [base, setBase] = useState(from ?? '');
  const submit = useSubmit(async ({ name = '' }) => {
    const source = policies.find((policy) => policy.name === base);
    const wanted = name.trim();
    if (source === undefined) return;
    if (!POLICY_NAME.test(wanted)) throw wrongName(t`Use small letters, digits, “_”, “.” and “-”, without spaces.`);
    // The service would replace the other one.
    if (policies.some((policy) => policy.name === wanted)) throw wrongName(t`There is a policy of this name already.`);
    await savePolicy(id, wanted, rulesOf(source));
    onClose();
    await client.invalidateQueries({ queryKey: policiesKey(id) });
    await navigate({ to: '/policies/$name', params: { name: wanted } });
  });
  return (
    <DialogForm submit={submit} action={t`Create`} onCancel={onClose}>
      <TextInput
        {...submit.field('name')}
        label={t`Name`}
        description={t`Requests use it: small letters, digits, “_”, “.” and “-”.`}
        placeholder="b2b-signup"
        maxLength={POLICY_NAME_LENGTH.max}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      <NativeSelect
        label={t`With the rules of`}
        data={policies.map(({ name }) => name)}
        value={base}
        onChange={(event) => setBase(event.currentTarget.value)}
      />
    </DialogForm>
  );
}

const wrongName = (error: string) => new ApiError(422, { error, code: 'invalid_parameter', field: 'name' });
