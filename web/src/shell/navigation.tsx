import { Link } from '@tanstack/react-router';
import { Icon } from '../parts/icon.tsx';
import { isCurrent } from './pages.ts';
import css from './shell.module.css';
import { useNavGroups } from './use-nav-groups.ts';

/** Links to all pages that the user may open. */
export function Navigation({ pathname, onLeave }: { pathname: string; onLeave: () => void }) {
  return (
    <div className={css.groups}>
      {useNavGroups().map(({ title, pages }) => (
        <div key={title}>
          <h2>{title}</h2>
          <ul>
            {pages.map((page) => (
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
