import { t } from '@lingui/core/macro';
import { Anchor, Text } from '@mantine/core';
import { Link, useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { api, unwrap } from '../api/client.ts';
import { useRefreshSession, useSession } from '../api/session.ts';
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
  const router = useRouter();
  const { user } = useSession();
  const { found, error } = useLookup(link, async () => {
    if (query === null) return null;
    const reply = await unwrap(api.POST('/dashboard/sign-in/oidc/finish', { body: { query } }));
    if (!reply.second_factor && reply.confirmed === null) await refresh();
    return reply;
  });
  const { discard } = link;
  // The path to go to is kept for one reading, and forgetting the answer renders this page again.
  const isLeaving = useRef(false);
  useEffect(() => {
    if (found === null || isLeaving.current) return;
    isLeaving.current = true;
    const next = takeOidcNext();
    if (found.confirmed !== null) {
      router.history.replace(next, { confirmed: found.confirmed });
      return discard();
    }
    const search = { next };
    // The sign-in page asks for the code, or goes on to where the visitor wanted to go.
    void navigate({ to: '/sign-in', search, state: { needsCode: found.second_factor }, replace: true }).then(discard);
  }, [found, navigate, router, discard]);
  if (query !== null && error === null) return <Loading />;
  return (
    // Who is signed in wanted to confirm something, or to sign in as somebody else.
    <Page title={user === null ? t`You are not signed in` : t`That did not work`}>
      <FormResult
        action={
          user === null ? (
            <Anchor
              fz="sm"
              renderRoot={(props) => <Link {...props} to="/sign-in" search={{ next: '/' }} />}
            >{t`Back to sign-in`}</Anchor>
          ) : (
            <Anchor
              fz="sm"
              renderRoot={(props) => <Link {...props} to="/security" />}
            >{t`Back to sign-in and security`}</Anchor>
          )
        }
      >
        <Text>{error ? messageOf(error) : (link.rejection ?? t`Start on the sign-in page.`)}</Text>
      </FormResult>
    </Page>
  );
}
