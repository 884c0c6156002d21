import { useAccountOrNull, useHasRole, useSession } from '../api/session.ts';
import { NAV_GROUPS, type NavGroup } from './pages.ts';

/** The pages that the user may open, in groups. */
export function useNavGroups(): readonly NavGroup[] {
  const { user } = useSession();
  const account = useAccountOrNull();
  const has = { member: true, admin: useHasRole('admin'), owner: useHasRole('owner') };
  const seen: Readonly<Record<NavGroup['for'], boolean>> = {
    account: account !== null,
    user: true,
    operator: user?.operator === true,
  };
  return NAV_GROUPS.filter((group) => seen[group.for]).map((group) => ({
    ...group,
    pages: group.pages.filter(({ role = 'member', liveOnly }) => has[role] && !(liveOnly && account?.test)),
  }));
}
