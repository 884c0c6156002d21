import { Anchor, Text } from '@mantine/core';
import { useSession } from '../api/session.ts';
import { Page } from '../parts/page.tsx';

export function NoAccount() {
  return (
    <Page title="No account">
      <Text maw={640}>
        You are not a member of any account. Ask an account owner or admin for an invitation, or ask the operator of
        this service to add you: mailvet user create --email … --account …
      </Text>
    </Page>
  );
}

/** The URL names an account that does not exist, or that the user is not a member of. */
export function UnknownAccount() {
  const { user, accounts } = useSession();
  return (
    <Page title="Account not found">
      <Text maw={640} className="anywhere">
        {user?.email} is not a member of the account in this URL, or the account was deleted. Your accounts:
      </Text>
      <ul>
        {accounts.map(({ id, name }) => (
          <li key={id}>
            <Anchor href={`/accounts/${encodeURIComponent(id)}`} fz="sm">
              {name}
            </Anchor>
          </li>
        ))}
      </ul>
    </Page>
  );
}
