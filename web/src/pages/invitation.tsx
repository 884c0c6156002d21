import { useState } from 'react';
import { useSession } from '../api/session.ts';
import { DeadLink } from '../parts/dead-link.tsx';
import { Failure } from '../parts/failure.tsx';
import { type OpenedLink, useLink } from '../parts/link-token.ts';
import { Loading } from '../parts/loading.tsx';
import { Page } from '../parts/page.tsx';
import { JoinAsMe, JoinAsSomebodyElse } from './invitation/known.tsx';
import { JoinAnew } from './invitation/new-person.tsx';
import { SignInFirst } from './invitation/sign-in-first.tsx';
import { useInvitation } from './invitation/use-invitation.ts';

export function InvitationPage() {
  const link = useLink('/invitation');
  if (link.token === null)
    return (
      <DeadLink link={link}>
        {link.refusal === null ? 'Open the link of the invitation once more.' : 'Ask who invited you for a new one.'}
      </DeadLink>
    );
  return <Invitation key={link.token} token={link.token} link={link} />;
}

function Invitation({ token, link }: { token: string; link: OpenedLink }) {
  const { user } = useSession();
  const { invitation, error, retry } = useInvitation(token, link);
  const [joined, setJoined] = useState(false);
  if (invitation === null || joined)
    return <Page title="Invitation">{error ? <Failure error={error} onRetry={retry} /> : <Loading />}</Page>;
  const { account, email, role, known } = invitation;
  const parts = { token, link, email, onJoined: () => setJoined(true) };
  return (
    <Page title={`Join ${account.name}`} about={ABOUT[role]}>
      {user !== null && sameAddress(user.email, email) && <JoinAsMe {...parts} />}
      {user !== null && !sameAddress(user.email, email) && <JoinAsSomebodyElse email={email} mine={user.email} />}
      {user === null && known && <SignInFirst email={email} />}
      {user === null && !known && <JoinAnew {...parts} />}
    </Page>
  );
}

const ABOUT = {
  member: 'You are invited as a member: you can verify, see the usage and the log, and change filters.',
  admin: 'You are invited as an admin: you can also make keys, invite people and change settings.',
  owner: 'You are invited as an owner: you can do everything in this account.',
} as const;

const sameAddress = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
