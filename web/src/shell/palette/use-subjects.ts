import { DEFAULT_LEVEL, PRICE } from '../../../../src/kernel/facts/plans.ts';
import { useAccountOrNull, useSession } from '../../api/session.ts';
import { pluralize } from '../../parts/format.ts';
import { type Group, type Item, item, type Subject } from './match.ts';
import { useGo } from './use-go.ts';

/** What can be done with an address, a domain, an ID or any other text that was typed. */
export function useSubjects(): (subject: Subject) => readonly Group[] {
  const { user } = useSession();
  const account = useAccountOrNull();
  const go = useGo();
  const isOperator = user?.operator === true;
  const byId = (text: string, of: (Subject & { is: 'id' })['of']): Item | null => {
    const params = { id: text };
    const open = (name: string, icon: Item['icon'], run: () => void) =>
      item(`open ${text}`, `${name} ${text}`, icon, run);
    if (of === 'acc')
      return isOperator ? open('Account', 'building', () => go({ to: '/operator/accounts/$id', params })) : null;
    if (account === null) return null;
    switch (of) {
      case 'ver':
        return open('Verification', 'logs', () => go({ to: '/log/$id', params }));
      case 'lst':
        return open('List', 'list-check', () => go({ to: '/lists/$id', params }));
      case 'key':
        return open('API key', 'key', () => go({ to: '/settings/keys/$id', params }));
      case 'whk':
        return open('Webhook', 'webhook', () => go({ to: '/webhooks/$id', params }));
    }
  };
  return (subject) => {
    const { is, text } = subject;
    if (is === 'id') {
      const open = byId(text, subject.of);
      return open === null ? [] : [{ title: 'ID', items: [open] }];
    }
    if (account === null) return [];
    const name = is === 'text' ? `Search the log for “${text}”` : `Log of ${text}`;
    const log = item('subject-log', name, 'logs', () => go({ to: '/log', search: { query: text } }));
    if (is === 'text') return [{ title: 'Log', items: [log] }];
    const note = account.test ? 'costs nothing' : `from ${pluralize(PRICE[DEFAULT_LEVEL], 'credit')}`;
    const verify = item(
      'subject-verify',
      `Verify ${text}`,
      'at',
      () => go({ to: '/verify', search: { email: text } }),
      { note },
    );
    const inLists = () => go({ to: '/log', search: { query: text, origin: 'list' } });
    const items = [
      log,
      item('subject-lists', `Results of ${text} in lists`, 'list-check', inLists),
      item('subject-filter', `Block ${text} with a filter`, 'filter', () =>
        go({ to: '/filters', search: { add: text } }),
      ),
    ];
    return is === 'address' ? [{ title: 'Address', items: [verify, ...items] }] : [{ title: 'Domain', items }];
  };
}
