import { ROLES } from '../../../src/kernel/facts/roles.ts';
import type { Role } from '../api/session.ts';

export const ROLE_LABELS: Readonly<Record<Role, string>> = {
  viewer: 'Viewer',
  member: 'Member',
  admin: 'Admin',
  owner: 'Owner',
};

export const parseRole = (text: string): Role | undefined => ROLES.find((role) => role === text);
