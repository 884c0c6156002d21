import { t } from '@lingui/core/macro';
import { onlineManager } from '@tanstack/react-query';
import { useMatches } from '@tanstack/react-router';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { PAGE_FACTS } from '../../../src/kernel/facts/pages.ts';
import { factText } from './fact-text.ts';
import css from './loading.module.css';
import { useSetPageTitle } from './page-title.ts';
import { useHasNoFirstView } from './use-end-first-view.ts';

/** How long a user waits before the page says that it takes long, ms. */
const LONG_MS = 10_000;

/** Queries wait for the same. */
const subscribe = (listener: () => void) => onlineManager.subscribe(listener);
const isOnline = () => onlineManager.isOnline();

const ROWS = ['92%', '78%', '85%', '64%', '88%', '71%'] as const;

/** The outline of what is being loaded. Seen after 200 ms: what comes sooner should not flicker. */
export function Loading() {
  const [isLong, setLong] = useState(false);
  const online = useSyncExternalStore(subscribe, isOnline, () => true);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), LONG_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" aria-label={t`Loading`} className={css.rows}>
      {!online && <p>{t`You are offline. This goes on when the connection is back.`}</p>}
      {online && isLong && (
        <p>{t`This takes longer than usual: the service or your connection is slow. Reload the page to try again.`}</p>
      )}
      {ROWS.map((width) => (
        <i key={width} style={{ width }} />
      ))}
    </div>
  );
}

/** The same for a whole page, whose scripts are not here yet. The bar at the top names it already. */
export function LoadingPage() {
  const path = useMatches({ select: (matches) => matches.at(-1)?.fullPath });
  const page = PAGE_FACTS.find((page) => page.path === path);
  useHasNoFirstView();
  useSetPageTitle(page === undefined ? t`Loading` : factText(page.title));
  return (
    <div className={css.page}>
      <i className={css.title} />
      <Loading />
    </div>
  );
}
