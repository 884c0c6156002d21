import { Trans } from '@lingui/react/macro';
import { Button, Stack } from '@mantine/core';
import { api, unwrap } from '../api/client.ts';
import { ErrorAlert } from './error-alert.tsx';
import { useAsyncAction } from './use-async-action.ts';

/** Where the page to go to afterwards is kept while the browser is with the OpenID provider. */
const NEXT = 'mailvet.oidc.next';

export const keepOidcNext = (next: string): void => sessionStorage.setItem(NEXT, next);

/** The path that was kept, once; checked by the route that it is given to. */
export function takeOidcNext(): string {
  const next = sessionStorage.getItem(NEXT) ?? '/';
  sessionStorage.removeItem(NEXT);
  return next;
}

interface OidcButtonProps {
  /** Of the provider. */
  readonly name: string;
  /** A path to go to afterwards. */
  readonly next: string;
  /** The token of an invitation to accept. */
  readonly invitation?: string;
  readonly filled?: boolean;
}

/** Sends the browser to the OpenID provider, which sends it back to `/sign-in/oidc`. */
export function OidcButton({ name, next, invitation, filled = false }: OidcButtonProps) {
  const { run, busy, error } = useAsyncAction(async () => {
    const body = invitation === undefined ? {} : { invitation };
    const { url } = await unwrap(api.POST('/dashboard/sign-in/oidc', { body }));
    keepOidcNext(next);
    window.location.assign(url);
  });
  return (
    <Stack>
      <Button onClick={run} loading={busy} {...(filled ? { variant: 'filled' } : {})}>
        <Trans>Continue with {name}</Trans>
      </Button>
      {error && <ErrorAlert error={error} />}
    </Stack>
  );
}
