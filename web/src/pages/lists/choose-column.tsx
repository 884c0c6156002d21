import { t } from '@lingui/core/macro';
import { Button, Group, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { columnLabel } from './column-label.ts';

/** For a file in which no column was found. */
export function ChooseColumn(props: { columns: readonly string[]; onChoose: (column: number) => void }) {
  const { columns, onChoose } = props;
  const [column, setColumn] = useState('1');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChoose(Number(column));
      }}
    >
      <Group align="flex-end">
        <NativeSelect
          label={t`Column with the addresses`}
          value={column}
          onChange={(event) => setColumn(event.currentTarget.value)}
          data={columns.map((name, i) => ({ value: String(i + 1), label: columnLabel(name, i) }))}
        />
        <Button type="submit" variant="filled">{t`Upload with this column`}</Button>
      </Group>
    </form>
  );
}
