import { useState } from 'react';
import { useSession } from '../api/session.ts';
import { DeadLink, isDeadLink } from '../parts/dead-link.tsx';
import { Failure } from '../parts/failure.tsx';
import { useLinkToken } from '../parts/link-token.ts';
import { Loading } from '../parts/loading.tsx';
import { Page } from '../parts/page.tsx';
import { JoinAsMe, JoinAsSomebodyElse } from './invitation/known.tsx';
import { JoinAnew } from './invitation/new-person.tsx';
import { SignInFirst } from './invitation/sign-in-first.tsx';
import { useInvitation } from './invitation/use-invitation.ts';

export function InvitationPage() {
  const token = useLinkToken('/invitation');
  const [dead, setDead] = useState<string | null>(null);
  if (token === null || token === dead) return <Dead used={token !== null} />;
  return <Invitation key={token} token={token} onDead={() => setDead(token)} />;
}

const Dead = ({ used }: { used: boolean }) => (
  <DeadLink used={used}>
    {used ? 'Ask who invited you for a new one.' : 'Open the link of the invitation once more.'}
  </DeadLink>
);

function Invitation({ token, onDead }: { token: string; onDead: () => void }) {
  const { user } = useSession();
  const { invitation, error, retry } = useInvitation(token);
  const [joined, setJoined] = useState(false);
  if (isDeadLink(error)) return <Dead used />;
  if (invitation === null || joined)
    return <Page title="Invitation">{error ? <Failure error={error} onRetry={retry} /> : <Loading />}</Page>;
  const { account, email, role, known } = invitation;
  const parts = { token, email, onDead, onJoined: () => setJoined(true) };
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
