import { plural, t } from '@lingui/core/macro';
import { Anchor, Badge, Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import {
  ACCOUNT_QUERY_LENGTH,
  NAME_LENGTH,
  OPENING_CREDITS,
  RATE_LIMIT,
  SPENT_DAYS,
} from '../../../src/kernel/facts/limits.ts';
import { ACCOUNT_ORDERS } from '../../../src/kernel/facts/sort-orders.ts';
import type { OperatorAccount } from '../api/schema.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { DialogForm } from '../parts/form.tsx';
import { formatDate, formatNumber } from '../parts/format.ts';
import { notify } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { Pagination } from '../parts/pagination.tsx';
import { parseInteger } from '../parts/parse-integer.ts';
import { planLabel, RATE_WINDOW } from '../parts/plans.ts';
import { QueryResult } from '../parts/query-result.tsx';
import { SearchBar } from '../parts/search-bar.tsx';
import { sortable } from '../parts/sorting.tsx';
import { useLastPage } from '../parts/use-last-page.ts';
import { useSearchOnce } from '../parts/use-search-once.ts';
import { useSubmit } from '../parts/use-submit.ts';
import { OperatorOnly } from './operator/operator-only.tsx';
import { PlanSelect } from './operator/plan-select.tsx';
import { accountsQuery, createAccount, OPERATOR_KEY, plansQuery } from './operator/queries.ts';
import { type AccountsSearch, accountsSearch } from './operator/search.ts';

const LABELS: Readonly<Record<OperatorAccount['status'], string>> = { active: t`Active`, suspended: t`Suspended` };
const StatusBadge = ({ status }: { status: OperatorAccount['status'] }) =>
  status === 'active' ? (
    LABELS[status]
  ) : (
    <Badge color="red" variant="outline" tt="none" miw="max-content">
      {' '}
      {LABELS[status]}{' '}
    </Badge>
  );

function columnsFor({ page: _page, ...search }: AccountsSearch): readonly Column<OperatorAccount>[] {
  const by = sortable(ACCOUNT_ORDERS, search, ({ sort, order }) => ({
    to: '/operator',
    search: accountsSearch({ ...search, sort, order }),
  }));
  return [
    {
      ...by('name', t`Name`),
      cell: ({ id, name }) => (
        <>
          <Anchor
            size="sm"
            className="anywhere"
            renderRoot={(props) => <Link {...props} to="/operator/accounts/$id" params={{ id }} />}
          >
            {name}
          </Anchor>
          <Text size="xs" c="dimmed" className="anywhere">
            {id}
          </Text>
        </>
      ),
    },
    { header: t`Status`, cell: ({ status }) => <StatusBadge status={status} /> },
    { header: t`Plan`, cell: ({ plan }) => planLabel(plan), folds: true },
    { header: t`Members`, numeric: true, cell: ({ members }) => formatNumber(members), folds: 'first' },
    { header: t`API keys`, numeric: true, cell: ({ keys }) => formatNumber(keys), folds: 'first' },
    {
      ...by('spent', t`Spent, ${SPENT_DAYS} days`),
      numeric: true,
      cell: ({ spent }) => (spent === 0 ? <span className="dim">0</span> : formatNumber(spent)),
      folds: true,
    },
    {
      ...by('balance', t`Available`),
      numeric: true,
      cell: ({ balance, unlimited }) => (unlimited ? t`Unlimited` : formatNumber(balance)),
    },
    {
      ...by('used', t`Last use`),
      cell: ({ last_used_at }) => (last_used_at === null ? t`Never` : formatDate(last_used_at)),
      folds: true,
    },
    { ...by('created', t`Created`), cell: ({ created_at }) => formatDate(created_at), folds: 'first' },
  ];
}

const AccountsTable = ({ accounts, search }: { accounts: readonly OperatorAccount[]; search: AccountsSearch }) => (
  <DataTable label={t`Accounts`} columns={columnsFor(search)} rows={accounts} rowKey={({ id }) => id} />
);

/** Creates an account and opens its page. */
function CreateDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title={t`Create account`}>
      <CreateForm onClose={onClose} />
    </Modal>
  );
}

function CreateForm({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data } = useQuery(plansQuery);
  const [plan, setPlan] = useState<string | null>(null);
  const submit = useSubmit(async ({ name = '', credits = '', rate_limit = '' }) => {
    const created = await createAccount({
      name: name.trim(),
      plan: plan ?? data?.plans[0]?.name ?? '',
      credits: parseInteger(credits, 'credits'),
      rate_limit: rate_limit.trim() === '' ? null : parseInteger(rate_limit, 'rate_limit', RATE_LIMIT.min),
    });
    onClose();
    void notify(t`${created.name} created. It has no members or API keys yet.`);
    await client.invalidateQueries({ queryKey: OPERATOR_KEY });
    await navigate({ to: '/operator/accounts/$id', params: { id: created.id } });
  });
  return (
    <DialogForm submit={submit} action={t`Create`} onCancel={onClose}>
      <TextInput
        {...submit.field('name')}
        label={t`Name`}
        maxLength={NAME_LENGTH.max}
        autoComplete="off"
        data-autofocus
      />
      <PlanSelect value={plan} onChange={setPlan} />
      <TextInput
        {...submit.field('credits')}
        label={t`Initial credits`}
        defaultValue={OPENING_CREDITS.min}
        inputMode="numeric"
        maxLength={15}
        autoComplete="off"
      />
      <TextInput
        {...submit.field('rate_limit')}
        required={false}
        label={t`Requests per ${RATE_WINDOW}`}
        description={t`Leave empty to use the limit of the plan.`}
        inputMode="numeric"
        maxLength={15}
        autoComplete="off"
      />
    </DialogForm>
  );
}

const route = getRouteApi('/inside/operator');

export const OperatorPage = () => (
  <OperatorOnly>
    <Accounts />
  </OperatorOnly>
);

function Accounts() {
  const { create, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(accountsQuery(search));
  const [opened, { open, close }] = useDisclosure();
  useSearchOnce('create', create, open);
  const { total_count, per_page } = (query.isPlaceholderData ? undefined : query.data) ?? {};
  const last = total_count === undefined ? undefined : pagesOf(total_count, per_page);
  const go = (change: { query?: string; page?: number }) =>
    void navigate({ search: accountsSearch({ ...search, page: undefined, ...change }), replace: true });
  useLastPage(search.page ?? 1, last, (page) => go({ page }));
  return (
    <Page
      title={t`Accounts`}
      about={t`All accounts of this service. Days are UTC.`}
      action={<Button variant="filled" onClick={open}>{t`Create account`}</Button>}
    >
      <SearchBar
        label={t`Accounts`}
        search={{
          label: t`Search`,
          placeholder: t`Name or ID`,
          maxLength: ACCOUNT_QUERY_LENGTH.max,
          value: search.query ?? '',
          onSearch: (text) => go({ query: text }),
        }}
        count={query.data && plural(query.data.total_count, { one: '# account', other: '# accounts' })}
      />
      <QueryResult query={query}>
        {({ accounts, total_count, per_page }) =>
          accounts.length > 0 ? (
            <Stack aria-busy={query.isPlaceholderData}>
              <AccountsTable accounts={accounts} search={search} />
              <Pagination
                label={t`Pages of accounts`}
                page={search.page ?? 1}
                total={pagesOf(total_count, per_page)}
                onTurn={(page) => go({ page })}
              />
            </Stack>
          ) : (
            <EmptyState title={t`No accounts found`}>
              {search.query === undefined
                ? t`Create the first account.`
                : t`Search for part of the name or the complete ID.`}
            </EmptyState>
          )
        }
      </QueryResult>
      <CreateDialog opened={opened} onClose={close} />
    </Page>
  );
}

const pagesOf = (count: number, perPage = 1): number => Math.max(1, Math.ceil(count / perPage));
