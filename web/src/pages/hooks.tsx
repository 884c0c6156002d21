import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { HOOK_FACTS } from '../../../src/kernel/facts/hooks.ts';
import { HOOKS_MAX } from '../../../src/kernel/facts/limits.ts';
import type { Hook } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { formatNumber } from '../parts/format.ts';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useSearchOnce } from '../parts/use-search-once.ts';
import { type HookDialog, HookDialogs } from './hooks/dialogs.tsx';
import { hooksQuery } from './hooks/query.ts';
import { CallerFacts } from './webhooks/caller-secret.tsx';

export function HooksPage() {
  const { id } = useAccount();
  const isAdmin = useHasRole('admin');
  const query = useQuery(hooksQuery(id));
  const [open, setOpen] = useState<HookDialog | null>(null);
  const { create: isAsked } = route.useSearch();
  useSearchOnce('create', isAsked, () => isAdmin && setOpen({ what: 'create' }));
  const isFull = (query.data?.hooks.length ?? 0) >= HOOKS_MAX;
  const create = isAdmin && (
    <Button
      variant="filled"
      onClick={() => setOpen({ what: 'create' })}
      disabled={isFull}
    >{t`Create auth hook`}</Button>
  );
  return (
    <Page
      title={t`Auth hooks`}
      about={t`An auth server, such as Supabase or Ory Kratos, calls a hook before it creates a user. The hook’s policy decides whether the address may sign up.`}
      action={query.data?.hooks.length ? create : null}
    >
      <QueryResult query={query}>
        {({ hooks }) =>
          hooks.length === 0 ? (
            <EmptyState title={t`No auth hooks yet`} action={create}>
              {isAdmin ? t`Create one for each auth server that lets people sign up.` : ADMINS_ONLY}
            </EmptyState>
          ) : (
            <Stack>
              {!isAdmin && <Text size="sm">{ADMINS_ONLY}</Text>}
              <DataTable
                label={t`Auth hooks`}
                columns={isAdmin ? [...COLUMNS, actionsColumn(setOpen)] : COLUMNS}
                rows={hooks}
                rowKey={({ id }) => id}
              />
              {isAdmin && isFull && (
                <Text size="sm" c="dimmed">
                  <Trans>This account has all {formatNumber(HOOKS_MAX)} auth hooks that it can have.</Trans>
                </Text>
              )}
            </Stack>
          )
        }
      </QueryResult>
      <HookDialogs open={open} onClose={() => setOpen(null)} />
    </Page>
  );
}

const route = getRouteApi('/inside/settings/hooks');

const ADMINS_ONLY = t`Only admins and owners can create and change auth hooks.`;

const COLUMNS: readonly Column<Hook>[] = [
  { header: t`Hook`, cell: (hook) => <NameAndUrl of={hook} /> },
  { header: t`Policy`, folds: true, cell: ({ policy }) => <PolicyLink name={policy} /> },
  { header: t`Last call`, folds: true, cell: (hook) => <LastCall of={hook} /> },
];

const secretAction = ({ kind }: Hook) => (HOOK_FACTS[kind].secretOf === 'caller' ? t`Enter secret` : t`Roll secret`);

const actionsColumn = (onOpen: (dialog: HookDialog) => void): Column<Hook> => ({
  header: t`Actions`,
  quietHeader: true,
  cell: (hook) => (
    <Group gap="xs" justify="flex-end">
      <Button
        size="xs"
        onClick={() => onOpen({ what: 'edit', hook })}
        aria-label={t`Edit ${hook.name}`}
      >{t`Edit`}</Button>
      <Button
        size="xs"
        onClick={() => onOpen({ what: 'roll', hook })}
        aria-label={t`${secretAction(hook)} of ${hook.name}`}
      >
        {secretAction(hook)}
      </Button>
      <Button
        size="xs"
        color="red"
        onClick={() => onOpen({ what: 'delete', hook })}
        aria-label={t`Delete ${hook.name}`}
      >{t`Delete`}</Button>
    </Group>
  ),
});

function NameAndUrl({ of }: { of: Hook }) {
  const { id, name, kind } = of;
  return (
    <Stack gap={4}>
      <Anchor
        size="sm"
        fw={600}
        className="anywhere"
        renderRoot={(props) => <Link {...props} to="/log" search={{ key: id }} />}
      >
        {name}
      </Anchor>
      <CallerFacts
        caller={HOOK_FACTS[kind].name}
        of={of}
        refused={
          <Trans>Calls are refused until you enter the secret that {HOOK_FACTS[kind].name} shows for this URL.</Trans>
        }
      />
    </Stack>
  );
}

const PolicyLink = ({ name }: { name: string }) => (
  <Anchor size="sm" renderRoot={(props) => <Link {...props} to="/policies/$name" params={{ name }} />}>
    {name}
  </Anchor>
);

const LastCall = ({ of: { last_used_at } }: { of: Hook }) =>
  last_used_at === null ? t`Never` : <Timestamp at={last_used_at} />;
