import { Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useAccount, useMay } from '../api/session.ts';
import { Empty } from '../parts/empty.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { Cards } from './keys/cards.tsx';
import { Dialogs, type Open } from './keys/dialogs.tsx';
import { keysQuery } from './keys/query.ts';
import { KeysTable, type OnOpen } from './keys/table.tsx';

const route = getRouteApi('/inside/settings/keys');

export function KeysPage() {
  const { id } = useAccount();
  const mayAdmin = useMay('admin');
  const { show = null } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(keysQuery(id));
  const [open, setOpen] = useState<Open | null>(null);
  const opener = useRef<HTMLElement>(null);
  const openFrom: OnOpen = (open, from) => {
    opener.current = from;
    setOpen(open);
  };
  const close = () => {
    setOpen(null);
    // What opened it may be gone: a revoked key has no actions.
    requestAnimationFrame(() =>
      (opener.current?.isConnected ? opener.current : document.getElementById('content'))?.focus(),
    );
  };
  const create = mayAdmin && (
    <Button variant="filled" onClick={(event) => openFrom({ what: 'create' }, event.currentTarget)}>
      Create a key
    </Button>
  );
  return (
    <Page
      title="API keys"
      about="Programs send one with every request to /v1. Whoever has it can spend the account's credits."
      action={query.data?.keys.length ? create : null}
    >
      <Loaded query={query}>
        {({ keys }) =>
          keys.length === 0 ? (
            <Empty title="No API key yet" action={create}>
              {mayAdmin ? 'Make one for each program, so that one can be revoked without the others.' : ASK}
            </Empty>
          ) : (
            <Stack>
              <Cards
                keys={keys}
                show={show}
                onShow={(notice) => void navigate({ search: notice ? { show: notice } : {} })}
              />
              {!mayAdmin && <Text size="sm">{ASK}</Text>}
              <KeysTable
                keys={show ? keys.filter(({ notices }) => notices.includes(show)) : keys}
                onOpen={mayAdmin ? openFrom : null}
              />
            </Stack>
          )
        }
      </Loaded>
      <Dialogs open={open} onClose={close} />
    </Page>
  );
}

const ASK = 'Admins and owners of the account make, change and revoke keys.';
