import { Button, Group, Text } from '@mantine/core';
import { count } from './words.ts';

/** Turns the pages of a list; nothing where there is one page only. `label` says of what. */
export function Pages(props: { label: string; page: number; total: number; onTurn: (page: number) => void }) {
  const { label, page, total, onTurn } = props;
  if (total <= 1 && page <= 1) return null;
  const turn = (name: string, to: number) => {
    const there = to >= 1 && to <= total;
    // Not `disabled`: the focus stays on a button that has become useless.
    return (
      <Button {...(there ? {} : { 'data-disabled': true, 'aria-disabled': true })} onClick={() => there && onTurn(to)}>
        {name}
      </Button>
    );
  };
  return (
    <Group component="nav" aria-label={label} justify="center" gap="sm">
      {turn('Previous', page - 1)}
      <Text size="sm" role="status" className="numbers">
        Page {count(page)} of {count(total)}
      </Text>
      {turn('Next', page + 1)}
    </Group>
  );
}
