import { Badge } from '@mantine/core';
import type { OperatorAccount } from '../../api/schema.ts';

const LABELS: Readonly<Record<OperatorAccount['status'], string>> = { active: 'Active', suspended: 'Suspended' };
export const StatusBadge = ({ status }: { status: OperatorAccount['status'] }) =>
  status === 'active' ? (
    LABELS[status]
  ) : (
    <Badge color="red" variant="outline" tt="none" miw="max-content">
      {' '}
      {LABELS[status]}{' '}
    </Badge>
  );
