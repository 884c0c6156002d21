import { Link } from '@tanstack/react-router';
import { useAccountOrNull, useHasRole, useSession } from '../api/session.ts';
import { Icon } from '../parts/icon.tsx';
import { isCurrent, NAV_GROUPS, type NavGroup } from './pages.ts';
import css from './shell.module.css';

/** Links to all pages that the user may open. */
export function Navigation({ pathname, onLeave }: { pathname: string; onLeave: () => void }) {
  const { user } = useSession();
  const account = useAccountOrNull();
  const isAdmin = useHasRole('admin');
  const isOwner = useHasRole('owner');
  const has = { member: true, admin: isAdmin, owner: isOwner };
  const seen: Readonly<Record<NavGroup['for'], boolean>> = {
    account: account !== null,
    user: true,
    operator: user?.operator === true,
  };
  return (
    <div className={css.groups}>
      {NAV_GROUPS.filter((group) => seen[group.for]).map(({ title, pages }) => (
        <div key={title}>
          <h2>{title}</h2>
          <ul>
            {pages
              .filter(({ role = 'member', liveOnly }) => has[role] && !(liveOnly && account?.test))
              .map((page) => (
                <li key={page.to}>
                  <Link
                    to={page.to}
                    onClick={onLeave}
                    // Set here: the router would also mark "Account" as current on "Members".
                    activeOptions={{ exact: true }}
                    aria-current={isCurrent(pathname, page) ? 'page' : undefined}
                  >
                    <Icon name={page.icon} />
                    {page.label}
                  </Link>
                </li>
              ))}
            {title === 'Build' && (
              <>
                <li>
                  <Link to="/docs" onClick={onLeave}>
                    <Icon name="code" />
                    API reference
                  </Link>
                </li>
                <li>
                  <a href="/guide/">
                    <Icon name="book-2" />
                    Guide
                  </a>
                </li>
              </>
            )}
          </ul>
        </div>
      ))}
    </div>
  );
}
