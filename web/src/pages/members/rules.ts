import type { Role } from '../../api/session.ts';
import type { Member } from './queries.ts';

export const ROLES = [
  { role: 'member', label: 'Member', may: 'sees everything, verifies, and edits filters' },
  { role: 'admin', label: 'Admin', may: 'also keys, people, retention and the audit log' },
  { role: 'owner', label: 'Owner', may: 'also makes owners, and can delete the account' },
] as const satisfies readonly { role: Role; label: string; may: string }[];

export const roleLabel = (role: Role): string => ROLES.find((one) => one.role === role)?.label ?? role;

/** The roles that somebody with the role `mine` can hand out. The server judges again. */
export const grantable = (mine: Role): readonly (typeof ROLES)[number][] =>
  mine === 'owner' ? ROLES : mine === 'admin' ? ROLES.filter(({ role }) => role !== 'owner') : [];

/** Owners are touched by owners only. */
export const mayTouch = (mine: Role, member: Member): boolean =>
  mine === 'owner' || (mine === 'admin' && member.role !== 'owner');
