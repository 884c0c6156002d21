import { Trans } from '@lingui/react/macro';
import { Button, Stack, Text } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import type { OidcFinish } from '../api/schema.ts';
import { useSession } from '../api/session.ts';
import { ErrorAlert } from './error-alert.tsx';
import { keepOidcNext } from './oidc-button.tsx';
import { useAsyncAction } from './use-async-action.ts';

type ConfirmedAction = NonNullable<OidcFinish['confirmed']>;

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The user has just come back from the OpenID provider, to which they signed in for this. */
    confirmed?: ConfirmedAction;
  }
}

export interface ProviderConfirmed {
  /** The OpenID provider with which the user confirms; null: with a password, or there is no provider. */
  readonly provider: string | null;
  readonly confirmed: boolean;
  /** A confirmation is used up by one try. */
  readonly use: () => { readonly oidc: true };
}

/** Whether the user, who has no password, has confirmed this action by signing in with the OpenID provider again. */
export function useProviderConfirmed(action: ConfirmedAction): ProviderConfirmed {
  const { state } = useLocation();
  const { user, oidc } = useSession();
  const [used, setUsed] = useState(false);
  return {
    provider: oidc !== null && user?.has_password === false ? oidc.name : null,
    confirmed: state.confirmed === action && !used,
    use() {
      setUsed(true);
      return { oidc: true };
    },
  };
}

/** Leads to the OpenID provider, which leads back to this page. */
export function ProviderConfirmation({ action, by }: { action: ConfirmedAction; by: ProviderConfirmed }) {
  const { publicHref } = useLocation();
  const { run, busy, error } = useAsyncAction(async () => {
    const { url } = await unwrap(api.POST('/dashboard/sign-in/oidc/confirm', { body: { action } }));
    keepOidcNext(publicHref);
    window.location.assign(url);
  });
  if (by.confirmed)
    return (
      <Text size="sm">
        <Trans>You have confirmed with {by.provider} that it is you.</Trans>
      </Text>
    );
  return (
    <Stack align="flex-start" gap="sm">
      <Text size="sm">
        <Trans>First confirm that it is you: sign in with {by.provider} again.</Trans>
      </Text>
      <Button onClick={run} loading={busy}>
        <Trans>Confirm with {by.provider}</Trans>
      </Button>
      {error && <ErrorAlert error={error} />}
    </Stack>
  );
}
