import { useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import { type Role, useSession } from '../api/session.ts';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { InvalidLink } from '../parts/invalid-link.tsx';
import { type OpenedLink, useLink } from '../parts/link-token.ts';
import { Loading } from '../parts/loading.tsx';
import { Page } from '../parts/page.tsx';
import { useLookup } from '../parts/use-lookup.ts';
import { AcceptAsNewUser, AcceptUnconfirmed } from './invitation/new-user.tsx';
import { SignInFirst } from './invitation/sign-in-first.tsx';
import { AcceptSignedIn, WrongUser } from './invitation/signed-in.tsx';

export function InvitationPage() {
  const link = useLink('/invitation');
  if (link.token === null)
    return (
      <InvalidLink link={link}>
        {link.rejection === null
          ? 'Open the link in your invitation again.'
          : 'Ask the person who invited you for a new link.'}
      </InvalidLink>
    );
  return <Invitation key={link.token} token={link.token} link={link} />;
}

function Invitation({ token, link }: { token: string; link: OpenedLink }) {
  const { user } = useSession();
  const lookUp = () => unwrap(api.POST('/dashboard/invitation', { body: { token } }));
  const { found: invitation, error, retry } = useLookup(link, lookUp);
  const [joined, setJoined] = useState(false);
  if (invitation === null || joined)
    return <Page title="Invitation">{error ? <ErrorAlert error={error} onRetry={retry} /> : <Loading />}</Page>;
  const { account, email, role, known } = invitation;
  const parts = { token, link, email, onJoined: () => setJoined(true) };
  return (
    <Page title={`Join ${account.name}`} about={ABOUT[role]}>
      {user !== null && !sameAddress(user.email, email) && <WrongUser email={email} mine={user.email} />}
      {user !== null && sameAddress(user.email, email) && known && <AcceptSignedIn {...parts} />}
      {user !== null && sameAddress(user.email, email) && !known && <AcceptUnconfirmed {...parts} />}
      {user === null && known && <SignInFirst email={email} />}
      {user === null && !known && <AcceptAsNewUser {...parts} />}
    </Page>
  );
}

const ABOUT: Readonly<Record<Role, string>> = {
  member: 'You are invited as a member: you can verify addresses, edit filters and view everything else.',
  admin: 'You are invited as an admin: you can also manage API keys, members and settings.',
  owner: 'You are invited as an owner: you have full control of the account.',
};

const sameAddress = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
