import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { NAME_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import type { DashboardKey } from '../../api/schema.ts';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { fieldError, formError } from '../../parts/field-error.ts';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { useFocusInvalid } from '../../parts/use-focus-invalid.ts';
import { AddressesField } from './addresses-field.tsx';
import { parseEntries } from './entries.ts';
import { draftOf, LimitFields, limitsOf } from './limit-fields.tsx';

type KeySettings = Pick<DashboardKey, 'name' | 'allow_ips' | 'expires_at' | 'scopes' | 'budget'>;
type KeyRequest = Pick<KeySettings, 'name' | 'allow_ips'> & ReturnType<typeof limitsOf>;

/** Settings of a new or existing key. */
export function SettingsForm(props: {
  initial: KeySettings;
  action: string;
  onSave: (settings: KeyRequest) => Promise<unknown>;
  onCancel: () => void;
}) {
  const { initial, action, onSave, onCancel } = props;
  const [name, setName] = useState(initial.name);
  const [addresses, setAddresses] = useState(initial.allow_ips.join('\n'));
  const [limits, setLimits] = useState(draftOf(initial));
  const [missing, setMissing] = useState(false);
  const [sent, setSent] = useState<Readonly<Record<string, string>>>({});
  const { run, busy, error } = useAsyncAction(async () =>
    onSave({ name: name.trim(), allow_ips: parseEntries(addresses), ...limitsOf(limits, initial) }),
  );
  const values = {
    name,
    allow_ips: addresses,
    expires_at: limits.expires,
    scopes: limits.scopes.join(' '),
    monthly_credits: limits.credits,
  };
  // Editing a field clears its error.
  const wrong = (field: keyof typeof values) => (values[field] === sent[field] ? fieldError(error, field) : undefined);
  const other = formError(error, Object.keys(values));
  const { form, onAttempt } = useFocusInvalid(error);
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onAttempt();
        setMissing(name.trim() === '');
        setSent(values);
        if (name.trim() !== '') run();
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          description="The application that uses the key, such as “Sign-up form, production”."
          required
          withAsterisk={false}
          maxLength={NAME_LENGTH.max}
          autoComplete="off"
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={missing && name.trim() === '' ? 'Enter a name.' : wrong('name')}
        />
        <AddressesField value={addresses} onChange={setAddresses} error={wrong('allow_ips')} />
        <LimitFields draft={limits} onChange={setLimits} errorOf={wrong} />
        {other && <ErrorAlert error={other} />}
        <Group justify="flex-end">
          <Button onClick={onCancel}>Cancel</Button>
          <Button type="submit" variant="filled" loading={busy}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
