import { t } from '@lingui/core/macro';
import { ROLES } from '../../../../src/kernel/facts/roles.ts';
import type { Role } from '../../api/session.ts';
import type { Member } from './queries.ts';

export const ROLE_DESCRIPTIONS: Readonly<Record<Role, string>> = {
  viewer: t`Views everything, charges and changes nothing`,
  member: t`Also verifies addresses, starts lists and edits filters`,
  admin: t`Also manages API keys, members and settings, and views the audit log`,
  owner: t`Also manages owners and can delete the account`,
};

/** Which members and roles each role may manage. For display only: the server checks every request. */
const MANAGEABLE: Readonly<Record<Role, readonly Role[]>> = {
  viewer: [],
  member: [],
  admin: ['viewer', 'member', 'admin'],
  owner: ROLES,
};

export const assignableRoles = (mine: Role): readonly Role[] => MANAGEABLE[mine];

export const canManage = (mine: Role, member: Member): boolean => MANAGEABLE[mine].includes(member.role);
