import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Group, Text } from '@mantine/core';
import { formatNumber } from './format.ts';

/** Page navigation; nothing if there is only one page. */
export function Pagination(props: { label: string; page: number; total: number; onTurn: (page: number) => void }) {
  const { label, page, total, onTurn } = props;
  if (total <= 1 && page <= 1) return null;
  const turn = (name: string, to: number) => {
    const there = to >= 1 && to <= total;
    // Not `disabled`, which would lose the focus.
    return (
      <Button {...(there ? {} : { 'data-disabled': true, 'aria-disabled': true })} onClick={() => there && onTurn(to)}>
        {name}
      </Button>
    );
  };
  return (
    <Group component="nav" aria-label={label} justify="center" gap="sm">
      {turn(t`Previous`, page - 1)}
      <Text size="sm" role="status" className="numbers">
        <Trans>
          Page {formatNumber(page)} of {formatNumber(total)}
        </Trans>
      </Text>
      {turn(t`Next`, page + 1)}
    </Group>
  );
}
