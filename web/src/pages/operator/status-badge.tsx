import { Badge } from '@mantine/core';
import type { OperatorAccount } from '../../api/schema.ts';

export const StatusBadge = ({ status }: { status: OperatorAccount['status'] }) =>
  status === 'suspended' ? (
    <Badge color="red" variant="outline" tt="none" miw="max-content">
      Suspended
    </Badge>
  ) : (
    <>Active</>
  );
