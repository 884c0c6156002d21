import { Radio, Stack } from '@mantine/core';
import { type Role, useAccount } from '../../api/session.ts';
import { grantable } from './rules.ts';

/** The roles that the person can hand out, and what each may do. */
export function RoleChoice({ value, onChange }: { value: Role; onChange: (role: Role) => void }) {
  const { role: mine } = useAccount();
  return (
    <Radio.Group label="Role" value={value} onChange={onChange}>
      <Stack gap="xs" mt="xs">
        {grantable(mine).map(({ role, label, may }) => (
          <Radio key={role} value={role} label={label} description={may} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
