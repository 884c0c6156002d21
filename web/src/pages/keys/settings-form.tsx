import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Failure } from '../../parts/failure.tsx';
import { fieldError, otherError } from '../../parts/field-error.ts';
import { useTry } from '../../parts/use-try.ts';
import { AddressesField } from './addresses-field.tsx';
import { entriesOf } from './covers.ts';

export interface Settings {
  readonly name: string;
  readonly allow_ips: string[];
}

/** Name and allowlist of a key that is made or changed. */
export function SettingsForm(props: {
  initial: Settings;
  action: string;
  onSave: (settings: Settings) => Promise<unknown>;
  onCancel: () => void;
}) {
  const { initial, action, onSave, onCancel } = props;
  const [name, setName] = useState(initial.name);
  const [addresses, setAddresses] = useState(initial.allow_ips.join('\n'));
  const [missing, setMissing] = useState(false);
  const [sent, setSent] = useState<Readonly<Record<string, string>>>({});
  const { run, busy, error } = useTry(() => onSave({ name: name.trim(), allow_ips: entriesOf(addresses) }));
  // What is being corrected is not wrong any more.
  const wrong = (field: string, value: string) => (value === sent[field] ? fieldError(error, field) : undefined);
  const other = otherError(error, ['name', 'allow_ips']);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setMissing(name.trim() === '');
        setSent({ name, allow_ips: addresses });
        if (name.trim() !== '') run();
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          description="What uses it, such as: sign-up form, production."
          required
          withAsterisk={false}
          maxLength={200}
          autoComplete="off"
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={missing && name.trim() === '' ? 'Enter a name.' : wrong('name', name)}
        />
        <AddressesField value={addresses} onChange={setAddresses} error={wrong('allow_ips', addresses)} />
        {other && <Failure error={other} />}
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
