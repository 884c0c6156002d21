import { useNavGroups } from '../use-nav-groups.ts';
import { type Item, item } from './match.ts';
import { useGo } from './use-go.ts';

/** What people call a page beside its name. */
const WORDS: Readonly<Record<string, string>> = {
  '/': 'dashboard home start',
  '/log': 'history requests rejected',
  '/filters': 'block blocklist',
  '/settings/keys': 'tokens secrets',
  '/usage': 'statistics charts latency',
  '/account/ledger': 'billing balance transactions',
  '/account/members': 'users team invitations',
  '/account/audit-log': 'events history',
  '/account': 'settings plan',
  '/security': 'password passkeys two-factor sessions profile',
  '/operator/service': 'nodes health queue status',
};

/** The pages that the user may open, and the documentation. */
export function usePages(): readonly Item[] {
  const go = useGo();
  const pages = useNavGroups().flatMap(({ title, pages, for: whom }) =>
    pages.map(({ to, label, icon }) =>
      item(to, label, icon, () => go({ to }), { note: whom === 'operator' ? title : undefined, words: WORDS[to] }),
    ),
  );
  const documentation = [
    item('/docs', 'API reference', 'code', () => go({ to: '/docs' })),
    item('/guide/', 'Guide', 'book-2', () => window.location.assign('/guide/')),
  ];
  return [...pages, ...documentation];
}
