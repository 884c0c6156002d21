import { plural, t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Anchor, Button, Group, Modal, NativeSelect, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { FILTER_ACTIONS, FILTER_MATCHES, FILTER_TYPES } from '../../../src/kernel/facts/filter-types.ts';
import {
  FILTER_KEPT_DAYS,
  FILTER_QUERY_LENGTH,
  FILTER_REASON_LENGTH,
  FILTER_VALUE_LENGTH,
} from '../../../src/kernel/facts/limits.ts';
import { FILTER_ORDERS } from '../../../src/kernel/facts/sort-orders.ts';
import { ApiError } from '../api/client.ts';
import type { Filter } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { FilterChip } from '../parts/filter-chip.tsx';
import { focusContent } from '../parts/focus.ts';
import { DialogForm } from '../parts/form.tsx';
import { formatNumber, formatRelative } from '../parts/format.ts';
import { notify } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { Pagination } from '../parts/pagination.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { SearchBar } from '../parts/search-bar.tsx';
import { SelectionBar, useSelection } from '../parts/selection.tsx';
import { sortable } from '../parts/sorting.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useLastPage } from '../parts/use-last-page.ts';
import { useSearchOnce } from '../parts/use-search-once.ts';
import { type Submission, useSubmit } from '../parts/use-submit.ts';
import { ImportDialog } from './filters/import-dialog.tsx';
import { addFilter, changeFilter, filtersKey, filtersQuery, removeFilter } from './filters/queries.ts';
import { type FiltersSearch, filtersSearch } from './filters/search.ts';
import { ACTION_LABELS, coverOf, FILTER_TYPE_LABELS, kindOf, MATCH_LABELS, settingsOf } from './filters/types.ts';

export function FiltersPage() {
  const { id } = useAccount();
  const mayChange = useHasRole('member');
  const { add, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(filtersQuery(id, search));
  /** The value that the dialog begins with, while it is open. */
  const [adding, setAdding] = useState<string | null>(null);
  useSearchOnce('add', add, (value) => mayChange && setAdding(value));
  const [editing, setEditing] = useState<Filter | null>(null);
  const [importing, importDialog] = useDisclosure();
  const remove = useRemove(id);
  const removeMany = useRemoveMany(id);
  const go = (change: Partial<Record<keyof FiltersSearch, unknown>>) =>
    void navigate({ search: filtersSearch({ ...search, page: undefined, ...change }), replace: true });
  const last = query.isPlaceholderData ? undefined : query.data?.pagination.total_pages;
  useLastPage(search.page ?? 1, last, (page) => go({ page }));
  const isSearch = search.query !== undefined || search.type !== undefined;

  return (
    <Page
      title={t`Filters`}
      about={t`What your account blocks, at no charge, and what it allows whatever the lists say.`}
      action={<Actions mayChange={mayChange} onAdd={() => setAdding('')} onImport={importDialog.open} />}
    >
      <SearchBar
        label={t`Filters`}
        search={{
          label: t`Search`,
          placeholder: t`Value or reason`,
          maxLength: FILTER_QUERY_LENGTH.max,
          value: search.query ?? '',
          onSearch: (text) => go({ query: text }),
        }}
        count={query.data && plural(query.data.pagination.total_count, { one: '# filter', other: '# filters' })}
      >
        <FilterChip
          name={t`Type`}
          options={TYPES}
          value={search.type ?? null}
          onChange={(type) => go({ type: type ?? '' })}
        />
      </SearchBar>
      {remove.error && <ErrorAlert error={remove.error} />}
      {removeMany.error && <ErrorAlert error={removeMany.error} />}
      <QueryResult query={query}>
        {({ filters, pagination }) =>
          filters.length > 0 ? (
            <Stack aria-busy={query.isPlaceholderData}>
              <FiltersTable
                filters={filters}
                search={search}
                mayChange={mayChange}
                busy={remove.isPending ? remove.variables.filter.id : null}
                onEdit={setEditing}
                onRemove={(filter, next) => remove.mutate({ filter, next })}
                many={{ busy: removeMany.isPending, onRemove: removeMany.mutate }}
              />
              <Pagination
                label={t`Pages of filters`}
                page={pagination.current_page}
                total={pagination.total_pages}
                onTurn={(page) => go({ page })}
              />
            </Stack>
          ) : (
            <NoFilters isSearch={isSearch} onImport={mayChange ? importDialog.open : null} />
          )
        }
      </QueryResult>
      <AddDialog value={adding} onClose={() => setAdding(null)} />
      <Modal opened={editing !== null} onClose={() => setEditing(null)} title={t`Edit filter`}>
        {editing && <EditForm filter={editing} onClose={() => setEditing(null)} />}
      </Modal>
      <ImportDialog opened={importing} onClose={importDialog.close} />
    </Page>
  );
}

function Actions(props: { mayChange: boolean; onAdd: () => void; onImport: () => void }) {
  const { id } = useAccount();
  return (
    <Group gap="xs">
      <Button
        component="a"
        href={`/dashboard/accounts/${encodeURIComponent(id)}/filters.csv`}
        download
      >{t`Download CSV`}</Button>
      {props.mayChange && (
        <>
          <Button onClick={props.onImport}>{t`Import`}</Button>
          <Button variant="filled" onClick={props.onAdd}>{t`Add filter`}</Button>
        </>
      )}
    </Group>
  );
}

/** `onImport`: null where the user may not. */
const NoFilters = ({ isSearch, onImport }: { isSearch: boolean; onImport: (() => void) | null }) =>
  isSearch ? (
    <EmptyState title={t`No matching filters`}>{t`Try a shorter search term or all types.`}</EmptyState>
  ) : (
    <EmptyState
      title={t`No filters yet`}
      action={
        onImport && (
          <Anchor component="button" type="button" onClick={onImport}>{t`Paste a list or choose a CSV file`}</Anchor>
        )
      }
    >{t`A filter blocks an email address, a domain, an IP network or a mail host: for example a disposable domain that is not on the lists yet, or a user who keeps signing up. Or it allows what the lists have, such as a customer’s domain. Filters apply to all API keys of the account.`}</EmptyState>
  );

/** Adds one filter; the server detects its type. `value`: what it begins with; null: closed. */
function AddDialog({ value, onClose }: { value: string | null; onClose: () => void }) {
  return (
    <Modal opened={value !== null} onClose={onClose} title={t`Add filter`}>
      <AddForm initial={value ?? ''} onClose={onClose} />
    </Modal>
  );
}

function AddForm({ initial, onClose }: { initial: string; onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const [draft, setDraft] = useState(NEW);
  const submit = useSubmit(async ({ value = '', reason = '', expires_at = '' }) => {
    const { action, subject } = draft;
    const filter = { ...requestOf(subject), value, action, reason: reason.trim() || null, ...expiryOf(expires_at) };
    const added = await addFilter(id, filter).catch(rethrowReadable);
    onClose();
    const done = t`${kindOf(added)} ${added.value} added. This ${ACTION_LABELS[added.action].does} ${coverOf(added)}.`;
    void notify([done, ...added.warnings].join(' '));
    await client.invalidateQueries({ queryKey: filtersKey(id) });
  });
  return (
    <DialogForm submit={submit} action={t`Add`} onCancel={onClose}>
      <ActionField value={draft.action} onChange={(action) => setDraft({ ...draft, action })} />
      <TextInput
        {...submit.field('value')}
        defaultValue={initial}
        label={t`Value`}
        description={t`An email address, a domain (including its subdomains), an IP address or a CIDR block.`}
        placeholder="spam.example.com"
        maxLength={FILTER_VALUE_LENGTH.max}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      <NativeSelect
        label={t`Covers`}
        data={SUBJECTS}
        value={draft.subject}
        onChange={({ currentTarget }) =>
          setDraft({ ...draft, subject: SUBJECTS.find(({ value }) => value === currentTarget.value)?.value ?? 'value' })
        }
      />
      <ExpiryField field={submit.field('expires_at')} />
      <ReasonField field={submit.field('reason')} />
    </DialogForm>
  );
}

/** What a new filter covers: what its value says, or what has to be said beside it. */
const SUBJECTS = [
  { value: 'value', label: t`What the value says` },
  { value: 'mailbox', label: t`Every spelling of the mailbox of this address` },
  { value: 'mx_host', label: t`Domains with this mail host, or *.suffix` },
] as const;
type Subject = (typeof SUBJECTS)[number]['value'];
const NEW: { readonly action: Filter['action']; readonly subject: Subject } = { action: 'block', subject: 'value' };

const requestOf = (subject: Subject) =>
  subject === 'mailbox'
    ? ({ filter_type: 'email', match: 'mailbox' } as const)
    : subject === 'mx_host'
      ? ({ filter_type: 'mx_host' } as const)
      : {};

/** A date, from whose beginning (UTC) it no longer counts. */
const expiryOf = (date: string): { expires_at?: string } => (date === '' ? {} : { expires_at: date });

/** Everything of a filter but what it is about. */
function EditForm({ filter, onClose }: { filter: Filter; onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const [draft, setDraft] = useState({ action: filter.action, match: filter.match });
  const day = filter.expires_at?.slice(0, 10) ?? '';
  const submit = useSubmit(async ({ reason = '', expires_at = '' }) => {
    const change = {
      ...draft,
      reason: reason.trim() || null,
      // One that was not touched stays to the millisecond, and may be over.
      ...(expires_at === day ? {} : { expires_at: expires_at || null }),
    };
    const changed = await changeFilter(id, filter.id, change).catch(rethrowReadable);
    onClose();
    const done = t`Saved. ${changed.value}: this ${ACTION_LABELS[changed.action].does} ${coverOf(changed)}.`;
    void notify([done, ...changed.warnings].join(' '));
    await client.invalidateQueries({ queryKey: filtersKey(id) });
  });
  return (
    <DialogForm submit={submit} action={t`Save`} onCancel={onClose}>
      <Text className="anywhere" fw={600}>
        {filter.value}
      </Text>
      <ActionField value={draft.action} onChange={(action) => setDraft({ ...draft, action })} />
      {filter.filter_type === 'email' && (
        <Radio.Group
          label={t`Matches`}
          value={draft.match}
          onChange={(match) => setDraft({ ...draft, match: match === 'mailbox' ? 'mailbox' : 'exact' })}
        >
          <Group mt={6}>
            {FILTER_MATCHES.map((match) => (
              <Radio key={match} value={match} label={MATCH_LABELS[match]} />
            ))}
          </Group>
        </Radio.Group>
      )}
      <ExpiryField field={submit.field('expires_at')} initial={day} />
      <ReasonField field={submit.field('reason')} initial={filter.reason ?? ''} />
    </DialogForm>
  );
}

function ActionField({ value, onChange }: { value: Filter['action']; onChange: (action: Filter['action']) => void }) {
  return (
    <Radio.Group
      label={t`Action`}
      description={t`Block: reported as bad. Allow: the lists of disposable domains do not count, nor do less specific filters.`}
      value={value}
      onChange={(action) => onChange(FILTER_ACTIONS.find((one) => one === action) ?? 'block')}
    >
      <Group mt={6}>
        {FILTER_ACTIONS.map((action) => (
          <Radio key={action} value={action} label={ACTION_LABELS[action].one} />
        ))}
      </Group>
    </Radio.Group>
  );
}

type FieldProps = { readonly field: ReturnType<Submission['field']>; readonly initial?: string };

const ExpiryField = ({ field, initial = '' }: FieldProps) => (
  <TextInput
    {...field}
    required={false}
    type="date"
    label={t`Expiry date`}
    description={t`It matches nothing from the beginning of this day (UTC), and is removed ${FILTER_KEPT_DAYS} days later. Leave empty for a filter that does not expire.`}
    defaultValue={initial}
  />
);

const ReasonField = ({ field, initial = '' }: FieldProps) => (
  <TextInput
    {...field}
    required={false}
    label={t`Reason`}
    description={t`Optional note for your team.`}
    defaultValue={initial}
    maxLength={FILTER_REASON_LENGTH.max}
    autoComplete="off"
  />
);

/** The server's message for this error is written for API clients. */
function rethrowReadable(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'filter_exists') throw error;
  throw new ApiError(error.status, { error: t`This filter already exists.`, code: error.code, field: error.field });
}

/** One page of filters. */
function FiltersTable(props: {
  filters: readonly Filter[];
  search: FiltersSearch;
  mayChange: boolean;
  /** Id of the filter that is being removed. */
  busy: number | null;
  onEdit: (filter: Filter) => void;
  /** `next`: the element to focus once the row is gone. */
  onRemove: (filter: Filter, next: HTMLElement | null) => void;
  /** Removes several at once; `busy` while that runs. */
  many: { readonly busy: boolean; readonly onRemove: (filters: readonly Filter[]) => void };
}) {
  const { filters, search, mayChange, busy, onEdit, onRemove, many } = props;
  const selection = useSelection(
    filters,
    ({ id }) => id,
    ({ value }) => value,
  );
  const by = sortable(FILTER_ORDERS, search, ({ sort, order }) => ({
    to: '/filters',
    search: filtersSearch({ ...search, page: null, sort, order }),
  }));
  const actions: readonly Column<Filter>[] = [
    {
      header: t`Edit`,
      quietHeader: true,
      numeric: true,
      cell: (filter) => (
        <Button size="xs" aria-label={t`Edit ${filter.value}`} onClick={() => onEdit(filter)}>{t`Edit`}</Button>
      ),
    },
    {
      header: t`Remove`,
      quietHeader: true,
      numeric: true,
      cell: (filter) => (
        <Button
          size="xs"
          aria-label={t`Remove ${filter.value}`}
          loading={busy === filter.id}
          onClick={({ currentTarget }) => onRemove(filter, neighbor(currentTarget))}
        >{t`Remove`}</Button>
      ),
    },
  ];
  const columns: readonly Column<Filter>[] = [
    ...(mayChange ? [selection.column] : []),
    {
      ...by('value', t`Value`),
      cell: ({ value }) => <span className="anywhere">{value}</span>,
    },
    { header: t`Action`, folds: true, cell: ({ action }) => ACTION_LABELS[action].one },
    { ...by('type', t`Type`), folds: true, cell: kindOf },
    { ...by('reason', t`Reason`), cell: ({ reason }) => <span className="anywhere">{reason}</span>, folds: true },
    {
      ...by('hits', t`Hits`),
      numeric: true,
      folds: true,
      cell: ({ hits, last_hit_at }) => (
        <span title={last_hit_at === null ? t`Never` : t`The last one ${formatRelative(last_hit_at)}`}>
          {formatNumber(hits)}
        </span>
      ),
    },
    { header: t`Expiry`, folds: 'first', cell: (filter) => <Expiry of={filter} /> },
    { ...by('added', t`Added`), cell: ({ created_at }) => <Timestamp at={created_at} />, folds: 'first' },
    ...(mayChange ? actions : []),
  ];
  return (
    <>
      <SelectionBar of={selection}>
        <Button size="xs" color="red" loading={many.busy} onClick={() => many.onRemove(selection.rows)}>
          <Trans>
            Remove <Plural value={selection.rows.length} one="# filter" other="# filters" />
          </Trans>
        </Button>
      </SelectionBar>
      <DataTable label={t`Filters`} columns={columns} rows={filters} rowKey={({ id }) => id} />
    </>
  );
}

function Expiry({ of: { expires_at, expired } }: { of: Filter }) {
  if (expires_at === null) return t`Never`;
  return expired ? <Trans>Expired {formatRelative(expires_at)}</Trans> : <Timestamp at={expires_at} />;
}

/** The same button of the next row, or of the previous one for the last row. */
function neighbor(button: HTMLElement): HTMLElement | null {
  const row = button.closest('tr');
  const next = row?.nextElementSibling ?? row?.previousElementSibling;
  return next?.querySelector<HTMLElement>('td:last-child button') ?? null;
}

const route = getRouteApi('/inside/filters');
const TYPES = FILTER_TYPES.map((type) => ({ value: type, label: FILTER_TYPE_LABELS[type].many }));

/** Removes a filter and offers an undo. */
function useRemove(account: string) {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: filtersKey(account) });
  return useMutation({
    mutationFn: ({ filter }: { filter: Filter; next: HTMLElement | null }) => removeFilter(account, filter.id),
    onSuccess: (_done, { filter, next }) => {
      next?.focus();
      void notify(t`Removed ${filter.value}.`, async () => {
        await addFilter(account, settingsOf(filter));
        await refresh();
      });
    },
    onSettled: refresh,
  });
}

/** Removes those of a page, one after the other, and offers an undo. */
function useRemoveMany(account: string) {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: filtersKey(account) });
  const offerUndo = (removed: readonly Filter[]) =>
    void notify(t`Removed ${plural(removed.length, { one: '# filter', other: '# filters' })}.`, async () => {
      // The oldest first, so that they are in their order again.
      for (const filter of removed.toReversed()) await addFilter(account, settingsOf(filter));
      await refresh();
    });
  return useMutation({
    mutationFn: async (filters: readonly Filter[]) => {
      const removed: Filter[] = [];
      try {
        for (const filter of filters) {
          await removeFilter(account, filter.id);
          removed.push(filter);
        }
      } finally {
        // Also where one of them failed: those before it are gone.
        if (removed.length > 0) offerUndo(removed);
      }
    },
    // The button that was pressed is gone.
    onSuccess: () => focusContent(),
    onSettled: refresh,
  });
}
