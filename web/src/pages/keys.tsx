import { t } from '@lingui/core/macro';
import { Button, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useAccount, useHasRole, useSession } from '../api/session.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { NotLoaded } from '../parts/not-loaded.tsx';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { SourceSwitch } from '../parts/source-switch.tsx';
import { useSearchOnce } from '../parts/use-search-once.ts';
import { type DialogState, Dialogs } from './keys/dialogs.tsx';
import { Notices } from './keys/notices.tsx';
import { keysQuery, keyUsageQuery } from './keys/query.ts';
import { sortKeys } from './keys/search.ts';
import { KeysTable, type OnOpen } from './keys/table.tsx';
import { SampleBlock } from './reference/sample-block.tsx';
import { verifySample } from './reference/samples.ts';

export function KeysPage() {
  const { id } = useAccount();
  const isAdmin = useHasRole('admin');
  const { create: isAsked, ...search } = route.useSearch();
  const { show } = search;
  const query = useQuery(keysQuery(id));
  const navigate = route.useNavigate();
  const usage = useQuery(keyUsageQuery(id, search.source));
  const { source, ...others } = search;
  const [open, setOpen] = useState<DialogState | null>(null);
  const opener = useRef<HTMLElement>(null);
  const openFrom: OnOpen = (open, from) => {
    opener.current = from;
    setOpen(open);
  };
  useSearchOnce('create', isAsked, () => isAdmin && setOpen({ what: 'create' }));
  const close = () => {
    setOpen(null);
    // The opener may be gone: a revoked key has no actions.
    requestAnimationFrame(() =>
      (opener.current?.isConnected ? opener.current : document.getElementById('content'))?.focus(),
    );
  };
  const create = isAdmin && (
    <Button
      variant="filled"
      onClick={(event) => openFrom({ what: 'create' }, event.currentTarget)}
    >{t`Create API key`}</Button>
  );
  return (
    <Page
      title={t`API keys`}
      about={t`API clients send an API key with every request to /v1. Anyone who has the key can spend the credits of this account.`}
      action={
        query.data?.keys.length ? (
          <>
            <SourceSwitch
              source={source}
              onChange={(next) => void navigate({ search: { ...others, ...next }, resetScroll: false })}
            />
            {create}
          </>
        ) : null
      }
    >
      <QueryResult query={query}>
        {({ keys }) =>
          keys.length === 0 ? (
            <EmptyState title={t`No API keys yet`} action={create}>
              {isAdmin
                ? t`Create one for each application, so that you can revoke it without affecting the others.`
                : ADMINS_ONLY}
            </EmptyState>
          ) : (
            <Stack>
              <Notices keys={keys} search={search} />
              {!isAdmin && <Text size="sm">{ADMINS_ONLY}</Text>}
              <NotLoaded what={t`What the keys were used for`} query={usage} />
              <KeysTable
                keys={sortKeys(show ? keys.filter(({ notices }) => notices.includes(show)) : keys, usage.data, search)}
                usage={usage.data}
                search={search}
                onOpen={isAdmin ? openFrom : null}
              />
              <FirstRequest />
            </Stack>
          )
        }
      </QueryResult>
      <Dialogs open={open} onClose={close} />
    </Page>
  );
}

/** How a key is used, in each language. */
function FirstRequest() {
  const { user } = useSession();
  const email = user?.email ?? 'someone@gmail.com';
  return (
    <SampleBlock
      title={<Title order={2}>{t`First request with a key`}</Title>}
      write={(language) => verifySample(language, location.origin, email)}
    />
  );
}

const route = getRouteApi('/inside/settings/keys');

const ADMINS_ONLY = t`Only admins and owners can create, edit and revoke API keys.`;
