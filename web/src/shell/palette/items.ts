import { plural, t } from '@lingui/core/macro';
import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type NavigateOptions, useNavigate } from '@tanstack/react-router';
import { openAccount } from '../../api/account-path.ts';
import { useAccountOrNull, useHasRole, useSession } from '../../api/session.ts';
import { signOut } from '../../api/sign-out.ts';
import { keysQuery } from '../../pages/keys/query.ts';
import { listsQuery } from '../../pages/lists/queries.ts';
import { STATUS_LABELS } from '../../pages/lists/status.tsx';
import { accountsQuery } from '../../pages/operator/queries.ts';
import { webhooksQuery } from '../../pages/webhooks/queries.ts';
import { useKeptTime } from '../../parts/kept-time.ts';
import { useNavGroups } from '../pages.ts';
import { type Group, type Item, item, type Subject, search, subjectOf } from './match.ts';
import { recentPaths } from './recent.ts';

/** Opens a page of the dashboard. */
function useGo(): (to: NavigateOptions) => void {
  const navigate = useNavigate();
  return (to) => void navigate(to);
}

/** What people call a page beside its name. */
const WORDS: Readonly<Record<string, string>> = {
  '/': t`dashboard home start`,
  '/log': t`history requests rejected`,
  '/outcomes': t`bounces complaints deliveries calibration accuracy`,
  '/filters': t`block blocklist`,
  '/policies': t`rules decisions signals`,
  '/settings/keys': t`tokens secrets`,
  '/alerts': t`notifications mail slack chat`,
  '/usage': t`statistics charts latency`,
  '/account/ledger': t`billing balance transactions`,
  '/account/members': t`users team invitations`,
  '/account/audit-log': t`events history`,
  '/account': t`settings plan`,
  '/security': t`password passkeys two-factor sessions profile`,
  '/operator/service': t`nodes health queue status`,
};

/** The pages that the user may open, and the documentation. */
function usePages(): readonly Item[] {
  const go = useGo();
  const time = useKeptTime();
  const pages = useNavGroups().flatMap(({ title, pages, name }) =>
    pages.map(({ to, label, icon }) =>
      item(to, label, icon, () => go({ to, search: time(to) }), {
        note: name === 'operator' ? title : undefined,
        words: WORDS[to],
      }),
    ),
  );
  const documentation = [
    item('/docs', t`API reference`, 'code', () => go({ to: '/docs' })),
    item('/guide/', t`Guide`, 'book-2', () => window.location.assign('/guide/')),
  ];
  return [...pages, ...documentation];
}

/** What can be done from anywhere; what opens a dialog does so on its page. */
function useActions(onShortcuts: () => void): readonly Item[] {
  const { user, accounts } = useSession();
  const account = useAccountOrNull();
  const isAdmin = useHasRole('admin');
  const mayChange = useHasRole('member');
  const go = useGo();
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme('light') === 'dark' ? 'light' : 'dark';
  const member: (Item | false)[] =
    account === null
      ? []
      : [
          mayChange && item('verify', t`Verify an address`, 'at', () => go({ to: '/verify' })),
          mayChange &&
            item('/lists/new', t`New list`, 'file-spreadsheet', () => go({ to: '/lists/new' }), {
              words: t`upload import bulk`,
            }),
          isAdmin &&
            item('create-key', t`Create API key`, 'key', () => go({ to: '/settings/keys', search: { create: true } }), {
              words: 'new',
            }),
          isAdmin &&
            item(
              'create-auth-hook',
              t`Create auth hook`,
              'fingerprint',
              () => go({ to: '/settings/hooks', search: { create: true } }),
              { words: t`new supabase workos kratos zitadel sign-up` },
            ),
          isAdmin &&
            item(
              'create-webhook',
              t`Create webhook`,
              'webhook',
              () => go({ to: '/webhooks', search: { create: true } }),
              { words: t`new endpoint` },
            ),
          isAdmin &&
            item(
              'connect-provider',
              t`Connect a provider of outcomes`,
              'check',
              () => go({ to: '/outcomes', search: { create: true } }),
              { words: t`new bounces ses sendgrid postmark brevo mailgun resend` },
            ),
          mayChange &&
            item('add-filter', t`Add filter`, 'filter', () => go({ to: '/filters', search: { add: '' } }), {
              words: t`new create block`,
            }),
          isAdmin &&
            !account.test &&
            item('invite', t`Invite member`, 'users', () => go({ to: '/account/members', search: { invite: true } }), {
              words: t`new add user`,
            }),
          item('mode', account.test ? t`Switch to live mode` : t`Switch to test mode`, 'selector', () =>
            openAccount(account.test ? account.live : account.test_account),
          ),
        ];
  const operator =
    user?.operator === true &&
    item('create-account', t`Create account`, 'building', () => go({ to: '/operator', search: { create: true } }), {
      note: t`Operator`,
      words: 'new',
    });
  const others = accounts
    .filter(({ id }) => id !== account?.live)
    .map(({ id, name }) =>
      item(`switch ${id}`, t`Switch to ${name}`, 'building', () => openAccount(id), { note: t`Account`, words: id }),
    );
  return [
    ...member,
    operator,
    ...others,
    item(
      'scheme',
      other === 'dark' ? t`Switch to dark colors` : t`Switch to light colors`,
      'moon',
      () => setColorScheme(other),
      { words: t`theme appearance` },
    ),
    item('shortcuts', t`Keyboard shortcuts`, 'menu-2', onShortcuts, { words: 'help' }),
    item('sign-out', t`Sign out`, 'arrow-right', () => void signOut(), { words: t`log out logout` }),
  ].filter((action) => action !== false);
}

/** What can be done with an address, a domain, an ID or any other text that was typed. */
function useSubjects(): (subject: Subject) => readonly Group[] {
  const { user } = useSession();
  const account = useAccountOrNull();
  const go = useGo();
  const mayChange = useHasRole('member');
  const isOperator = user?.operator === true;
  const byId = (text: string, of: (Subject & { is: 'id' })['of']): Item | null => {
    const params = { id: text };
    const open = (name: string, icon: Item['icon'], run: () => void) =>
      item(`open ${text}`, `${name} ${text}`, icon, run);
    if (of === 'acc')
      return isOperator ? open(t`Account`, 'building', () => go({ to: '/operator/accounts/$id', params })) : null;
    if (account === null) return null;
    switch (of) {
      case 'ver':
        return open(t`Verification`, 'logs', () => go({ to: '/log/$id', params }));
      case 'lst':
        return open(t`List`, 'list-check', () => go({ to: '/lists/$id', params }));
      case 'key':
        return open(t`API key`, 'key', () => go({ to: '/settings/keys/$id', params }));
      case 'whk':
        return open(t`Webhook`, 'webhook', () => go({ to: '/webhooks/$id', params }));
    }
  };
  return (subject) => {
    const { is, text } = subject;
    if (is === 'id') {
      const open = byId(text, subject.of);
      return open === null ? [] : [{ title: 'ID', items: [open] }];
    }
    if (account === null) return [];
    const name = is === 'text' ? t`Search the log for “${text}”` : t`Log of ${text}`;
    const log = item('subject-log', name, 'logs', () => go({ to: '/log', search: { query: text } }));
    if (is === 'text') return [{ title: t`Log`, items: [log] }];
    const note = account.test
      ? t`costs nothing`
      : t`from ${plural(account.prices.mx, { one: '# credit', other: '# credits' })}`;
    const verify = item(
      'subject-verify',
      t`Verify ${text}`,
      'at',
      () => go({ to: '/verify', search: { email: text } }),
      { note },
    );
    const inLists = () => go({ to: '/log', search: { query: text, origin: 'list' } });
    const items = [
      log,
      item('subject-lists', t`Results of ${text} in lists`, 'list-check', inLists),
      ...(mayChange
        ? [
            item('subject-filter', t`Block ${text} with a filter`, 'filter', () =>
              go({ to: '/filters', search: { add: text } }),
            ),
          ]
        : []),
    ];
    return is === 'address'
      ? [{ title: t`Address`, items: [...(mayChange ? [verify] : []), ...items] }]
      : [{ title: t`Domain`, items }];
  };
}

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
    { title: t`Pages`, items: pages },
    { title: t`Actions`, items: actions },
    ...records.groups,
  ];
  if (text === '') {
    const items = all.flatMap((group) => group.items);
    const recent = recentPaths(account?.id ?? '').flatMap((path) => items.find(({ id }) => id === path) ?? []);
    // The first one is the page that is open.
    const [, ...earlier] = recent;
    const shown = [{ title: t`Recent`, items: earlier.slice(0, 5) }, ...all.slice(0, 2).toReversed()];
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
      title: t`API keys`,
      items: (keys.data?.keys ?? []).map(({ id, name, key, state }) =>
        item(`/settings/keys/${id}`, name, 'key', () => go({ to: '/settings/keys/$id', params: { id } }), {
          note: state === 'revoked' ? t`${key}, revoked` : key,
          words: id,
        }),
      ),
    },
    {
      title: t`Lists`,
      items: (lists.data?.lists ?? []).map(({ id, name, status }) =>
        item(`/lists/${id}`, name, 'list-check', () => go({ to: '/lists/$id', params: { id } }), {
          note: STATUS_LABELS[status],
          words: id,
        }),
      ),
    },
    {
      title: t`Webhooks`,
      items: (webhooks.data?.webhooks ?? []).map(({ id, url, description }) =>
        item(`/webhooks/${id}`, url, 'webhook', () => go({ to: '/webhooks/$id', params: { id } }), {
          note: description ?? undefined,
          words: id,
        }),
      ),
    },
    {
      title: t`All accounts`,
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
