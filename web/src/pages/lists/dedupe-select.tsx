import { t } from '@lingui/core/macro';
import { NativeSelect } from '@mantine/core';
import { DEDUPES, type Dedupe } from '../../../../src/kernel/facts/lists.ts';

const LABELS: Readonly<Record<Dedupe, string>> = {
  address: t`Same address`,
  mailbox: t`Same mailbox, other spelling`,
};
const isDedupe = (text: string): text is Dedupe => DEDUPES.some((one) => one === text);

/** Which rows are verified and charged once. */
export const DedupeSelect = (props: { value: Dedupe; onChange: (dedupe: Dedupe) => void }) => (
  <NativeSelect
    label={t`Duplicates`}
    value={props.value}
    onChange={({ currentTarget: { value } }) => isDedupe(value) && props.onChange(value)}
    data={DEDUPES.map((value) => ({ value, label: LABELS[value] }))}
  />
);
