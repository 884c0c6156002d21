import { Anchor, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { api, unwrap } from '../api/client.ts';
import { useRefreshSession } from '../api/session.ts';
import { FormResult } from '../parts/form-result.tsx';
import { OIDC_RETURN, useLink } from '../parts/link-token.ts';
import { Loading } from '../parts/loading.tsx';
import { messageOf } from '../parts/message-of.ts';
import { takeOidcNext } from '../parts/oidc-button.tsx';
import { Page } from '../parts/page.tsx';
import { useLookup } from '../parts/use-lookup.ts';

/** Where the OpenID provider sends the browser. Failures are shown here, and lead nowhere else by themselves. */
export function OidcReturnPage() {
  const link = useLink(OIDC_RETURN);
  const { token: query } = link;
  const refresh = useRefreshSession();
  const navigate = useNavigate();
  const { found, error } = useLookup(link, async () => {
    if (query === null) return null;
    const reply = await unwrap(api.POST('/dashboard/sign-in/oidc/finish', { body: { query } }));
    if (!reply.second_factor) await refresh();
    return reply;
  });
  const { discard } = link;
  useEffect(() => {
    if (found === null) return;
    const search = { next: takeOidcNext() };
    // The sign-in page asks for the code, or goes on to where the visitor wanted to go.
    void navigate({ to: '/sign-in', search, state: { needsCode: found.second_factor }, replace: true }).then(discard);
  }, [found, navigate, discard]);
  if (query !== null && error === null) return <Loading />;
  return (
    <Page title="You are not signed in">
      <FormResult
        action={
          <Anchor fz="sm" renderRoot={(props) => <Link {...props} to="/sign-in" search={{ next: '/' }} />}>
            Back to sign-in
          </Anchor>
        }
      >
        <Text>{error ? messageOf(error) : (link.rejection ?? 'Start on the sign-in page.')}</Text>
      </FormResult>
    </Page>
  );
}
