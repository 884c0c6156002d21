import { t } from '@lingui/core/macro';
import { ROLES } from '../../../src/kernel/facts/roles.ts';
import type { Role } from '../api/session.ts';

export const ROLE_LABELS: Readonly<Record<Role, string>> = {
  viewer: t`Viewer`,
  member: t`Member`,
  admin: t`Admin`,
  owner: t`Owner`,
};

export const parseRole = (text: string): Role | undefined => ROLES.find((role) => role === text);
