import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { openAccount } from '../../api/account-path.ts';
import { useAccountOrNull, useHasRole, useSession } from '../../api/session.ts';
import { signOut } from '../sign-out.ts';
import { type Item, item } from './match.ts';
import { useGo } from './use-go.ts';

/** What can be done from anywhere; what opens a dialog does so on its page. */
export function useActions(onShortcuts: () => void): readonly Item[] {
  const { user, accounts } = useSession();
  const account = useAccountOrNull();
  const isAdmin = useHasRole('admin');
  const go = useGo();
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme('light') === 'dark' ? 'light' : 'dark';
  const member: (Item | false)[] =
    account === null
      ? []
      : [
          item('verify', 'Verify an address', 'at', () => go({ to: '/verify' })),
          item('/lists/new', 'New list', 'file-spreadsheet', () => go({ to: '/lists/new' }), {
            words: 'upload import bulk',
          }),
          isAdmin &&
            item('create-key', 'Create API key', 'key', () => go({ to: '/settings/keys', search: { create: true } }), {
              words: 'new',
            }),
          isAdmin &&
            item(
              'create-webhook',
              'Create webhook',
              'webhook',
              () => go({ to: '/webhooks', search: { create: true } }),
              { words: 'new endpoint' },
            ),
          item('add-filter', 'Add filter', 'filter', () => go({ to: '/filters', search: { add: '' } }), {
            words: 'new create block',
          }),
          isAdmin &&
            !account.test &&
            item('invite', 'Invite member', 'users', () => go({ to: '/account/members', search: { invite: true } }), {
              words: 'new add user',
            }),
          item('mode', `Switch to ${account.test ? 'live' : 'test'} mode`, 'selector', () =>
            openAccount(account.test ? account.live : account.test_account),
          ),
        ];
  const operator =
    user?.operator === true &&
    item('create-account', 'Create account', 'building', () => go({ to: '/operator', search: { create: true } }), {
      note: 'Operator',
      words: 'new',
    });
  const others = accounts
    .filter(({ id }) => id !== account?.live)
    .map(({ id, name }) =>
      item(`switch ${id}`, `Switch to ${name}`, 'building', () => openAccount(id), { note: 'Account', words: id }),
    );
  return [
    ...member,
    operator,
    ...others,
    item('scheme', `Switch to ${other} colors`, 'moon', () => setColorScheme(other), { words: 'theme appearance' }),
    item('shortcuts', 'Keyboard shortcuts', 'menu-2', onShortcuts, { words: 'help' }),
    item('sign-out', 'Sign out', 'arrow-right', () => void signOut(), { words: 'log out logout' }),
  ].filter((action) => action !== false);
}
