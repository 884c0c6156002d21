import { t } from '@lingui/core/macro';
import { Group, Modal, TextInput } from '@mantine/core';
import { useState } from 'react';
import { dayOf } from './days.ts';
import { DialogForm } from './form.tsx';
import { type TimeSearch, validateDays } from './time.ts';
import { useFields } from './use-fields.ts';

interface Days {
  readonly from: string;
  readonly to: string;
}

/** Asks for the first and the last day (UTC); begins with those of `time`, or with today. */
export function CustomRangeDialog(props: {
  opened: boolean;
  time: TimeSearch;
  onClose: () => void;
  onChange: (days: Days) => void;
}) {
  const { opened, time, onClose, onChange } = props;
  const today = dayOf(Date.now());
  return (
    <Modal opened={opened} onClose={onClose} title={t`Time`}>
      <CustomRange days={{ from: time.from ?? today, to: time.to ?? today }} onCancel={onClose} onChange={onChange} />
    </Modal>
  );
}

function CustomRange({
  days,
  onCancel,
  onChange,
}: {
  days: Days;
  onCancel: () => void;
  onChange: (days: Days) => void;
}) {
  const [from, setFrom] = useState(days.from);
  const [to, setTo] = useState(days.to);
  const wrong = validateDays(from, to);
  const fields = useFields({
    values: { from, to },
    missing: wrong === null ? {} : { [wrong.field]: wrong.error },
    send: async () => onChange({ from, to }),
  });
  return (
    <DialogForm submit={fields} action={t`Apply`} onCancel={onCancel}>
      <Group align="flex-start" gap="xs">
        <TextInput
          type="date"
          label={t`From (UTC)`}
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
          error={fields.errorOf('from')}
        />
        <TextInput
          type="date"
          label={t`To (inclusive)`}
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
          error={fields.errorOf('to')}
        />
      </Group>
    </DialogForm>
  );
}
