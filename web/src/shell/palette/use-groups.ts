import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useAccountOrNull, useSession } from '../../api/session.ts';
import { keysQuery } from '../../pages/keys/query.ts';
import { listsQuery } from '../../pages/lists/queries.ts';
import { STATUS_LABELS } from '../../pages/lists/status.tsx';
import { accountsQuery } from '../../pages/operator/queries.ts';
import { webhooksQuery } from '../../pages/webhooks/queries.ts';
import { type Group, type Item, item, search, subjectOf } from './match.ts';
import { recentPaths } from './recent.ts';
import { useActions } from './use-actions.ts';
import { useGo } from './use-go.ts';
import { usePages } from './use-pages.ts';
import { useSubjects } from './use-subjects.ts';

const DEBOUNCE_MS = 150;
/** Newly changed records are found by the time that somebody looks for them. */
const STALE_MS = 30_000;

/** What the palette shows for a text; for none, what was opened lately, actions and pages. */
export function useGroups(
  typed: string,
  hasRecords: boolean,
  onShortcuts: () => void,
): { readonly groups: readonly Group[]; readonly busy: boolean } {
  const account = useAccountOrNull();
  const text = typed.trim();
  const records = useRecords(text, hasRecords);
  const pages = usePages();
  const actions = useActions(onShortcuts);
  const subjects = useSubjects();
  const all: readonly Group[] = [
    { title: 'Pages', items: pages },
    { title: 'Actions', items: actions },
    ...records.groups,
  ];
  if (text === '') {
    const items = all.flatMap((group) => group.items);
    const recent = recentPaths(account?.id ?? '').flatMap((path) => items.find(({ id }) => id === path) ?? []);
    // The first one is the page that is open.
    const [, ...earlier] = recent;
    const shown = [{ title: 'Recent', items: earlier.slice(0, 5) }, ...all.slice(0, 2).toReversed()];
    return { groups: distinct(shown), busy: false };
  }
  const subject = subjectOf(text);
  const named = subject === null ? [] : subjects(subject);
  const found = search(all, text);
  // An address or an ID is nothing else; any other text is looked for in the log last.
  const groups = subject?.is === 'text' ? [...found, ...named] : [...named, ...found];
  return { groups: groups.filter(({ items }) => items.length > 0), busy: records.busy };
}

/** Each item once, and no empty group. */
function distinct(groups: readonly Group[]): readonly Group[] {
  const seen = new Set<string>();
  const first = ({ id }: Item) => !seen.has(id) && seen.add(id);
  return groups
    .map(({ title, items }) => ({ title, items: items.filter(first) }))
    .filter(({ items }) => items.length > 0);
}

/** Records by name; lists and accounts, of which there may be many, are searched by the server. */
function useRecords(text: string, hasRecords: boolean) {
  const { user } = useSession();
  const account = useAccountOrNull();
  const go = useGo();
  const [query] = useDebouncedValue(text, DEBOUNCE_MS);
  const id = account?.id ?? '';
  const enabled = hasRecords && account !== null;
  const isOperator = user?.operator === true && text !== '';
  const options = { staleTime: STALE_MS, refetchInterval: false } as const;
  const keys = useQuery({ ...keysQuery(id), ...options, enabled });
  const webhooks = useQuery({ ...webhooksQuery(id), ...options, enabled });
  const lists = useQuery({ ...listsQuery(id, query === '' ? {} : { query }), ...options, enabled });
  const accounts = useQuery({ ...accountsQuery({ query }), ...options, enabled: isOperator && query !== '' });
  const groups: readonly Group[] = [
    {
      title: 'API keys',
      items: (keys.data?.keys ?? []).map(({ id, name, key, state }) =>
        item(`/settings/keys/${id}`, name, 'key', () => go({ to: '/settings/keys/$id', params: { id } }), {
          note: state === 'revoked' ? `${key}, revoked` : key,
          words: id,
        }),
      ),
    },
    {
      title: 'Lists',
      items: (lists.data?.lists ?? []).map(({ id, name, status }) =>
        item(`/lists/${id}`, name, 'list-check', () => go({ to: '/lists/$id', params: { id } }), {
          note: STATUS_LABELS[status],
          words: id,
        }),
      ),
    },
    {
      title: 'Webhooks',
      items: (webhooks.data?.webhooks ?? []).map(({ id, url, description }) =>
        item(`/webhooks/${id}`, url, 'webhook', () => go({ to: '/webhooks/$id', params: { id } }), {
          note: description ?? undefined,
          words: id,
        }),
      ),
    },
    {
      title: 'All accounts',
      items: (isOperator ? (accounts.data?.accounts ?? []) : []).map(({ id, name, status }) =>
        item(`/operator/accounts/${id}`, name, 'building', () => go({ to: '/operator/accounts/$id', params: { id } }), {
          note: status === 'active' ? undefined : status,
          words: id,
        }),
      ),
    },
  ];
  return { groups, busy: query !== text || [keys, webhooks, lists, accounts].some(({ isLoading }) => isLoading) };
}
