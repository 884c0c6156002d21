import { Radio, Stack } from '@mantine/core';
import { type Role, useAccount } from '../../api/session.ts';
import { parseRole, ROLE_LABELS } from '../../parts/roles.ts';
import { assignableRoles, ROLE_DESCRIPTIONS } from './rules.ts';

/** The roles that the user may assign. */
export function RoleChoice({ value, onChange }: { value: Role; onChange: (role: Role) => void }) {
  const { role: mine } = useAccount();
  return (
    <Radio.Group label="Role" value={value} onChange={(next) => onChange(parseRole(next) ?? value)}>
      <Stack gap="xs" mt="xs">
        {assignableRoles(mine).map((role) => (
          <Radio key={role} value={role} label={ROLE_LABELS[role]} description={ROLE_DESCRIPTIONS[role]} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
