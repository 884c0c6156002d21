import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Badge, Button, Group, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { memo, useCallback, useDeferredValue, useMemo, useState } from 'react';
import { HOOK_FACTS } from '../../../src/kernel/facts/hooks.ts';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { ADDRESS_LENGTH, PAGE_SIZE } from '../../../src/kernel/facts/limits.ts';
import { LOG_CONFIDENCES, type LogNegatable } from '../../../src/kernel/facts/log-filters.ts';
import { LEVELS } from '../../../src/kernel/facts/plans.ts';
import { REASON_FILTERS } from '../../../src/kernel/facts/reasons.ts';
import { api, unwrap } from '../api/client.ts';
import type { Log } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { SEGMENT_LABELS } from '../parts/chart/bars.ts';
import { countNew } from '../parts/count-new.ts';
import { DownloadMenu } from '../parts/download-menu.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { FilterChip } from '../parts/filter-chip.tsx';
import { formatDateTime, zoneName } from '../parts/format.ts';
import { FreshBar } from '../parts/fresh-bar.tsx';
import { Icon } from '../parts/icon.tsx';
import { LoadMore, useKeysetQuery } from '../parts/load-more.tsx';
import { LOGGED_OPERATORS, operatorName } from '../parts/operator-name.ts';
import { Page } from '../parts/page.tsx';
import { focusRow } from '../parts/rows.tsx';
import { ViewsMenu } from '../parts/saved-views/views-menu.tsx';
import { SearchBar } from '../parts/search-bar.tsx';
import { hasTime, type TimeSearch, withoutTime } from '../parts/time.ts';
import { TimePicker } from '../parts/time-picker.tsx';
import { useRowShortcuts } from '../parts/use-row-shortcuts.ts';
import { escapeInvisible } from '../parts/verdict/escape-invisible.ts';
import { reasonName } from '../parts/verdict/outcome.ts';
import { hooksQuery } from './hooks/query.ts';
import { keysQuery } from './keys/query.ts';
import { listsQuery } from './lists/queries.ts';
import { EntryDrawer } from './log/entry-drawer.tsx';
import { Erase } from './log/erase.tsx';
import { Hours } from './log/hours.tsx';
import css from './log/log.module.css';
import { searchPage } from './log/query.ts';
import { RejectedDrawer } from './log/rejected-drawer.tsx';
import { type LogRow, rejectedId, rowsOf } from './log/rows.ts';
import {
  BUILT_IN_VIEWS,
  DECISION_LABELS,
  type LogSearch,
  logQuery,
  logSearch,
  MAIL_LABELS,
  negatedOf,
  ORIGIN_LABELS,
  STATUS_LABELS,
  viewSearch,
  viewText,
} from './log/search.ts';
import { LogTable } from './log/table.tsx';
import { VerifyLink } from './log/verify-link.tsx';
import { outcomeSourcesQuery, REPORTED_BY } from './outcomes/queries.ts';

export function LogPage() {
  const { id } = useAccount();
  const isAdmin = useHasRole('admin');
  const search = route.useSearch();
  // The same object, whatever row is open: what depends on it alone is not rendered again with each row.
  const filters = route.useSearch({ select: withoutOpen, structuralSharing: true });
  const client = useQueryClient();
  /** The address to erase, while the dialog is open. */
  const [erasing, setErasing] = useState<string | null>(null);
  const { open, view } = search;
  const isSearch = Object.keys(filters).length > 0;
  const { query, queryKey, reached, rows } = useLogRows(id, filters);
  // A thousand rows follow after what was clicked has been painted.
  const table = useDeferredValue(useMemo(() => ({ rows, search }), [rows, search]));
  const days = query.data?.[0]?.retention_days;
  const egresses = query.data?.[0]?.egresses ?? NO_EGRESSES;
  const fresh = useNewEntries(id, filters, query.data?.[0], rows[0]);
  const { show, showTime, showView, openEntry, close } = useShow(search, filters);
  const step = (by: -1 | 1) => {
    const at = rows.findIndex((row) => row.id === open);
    const next = rows[at < 0 ? 0 : at + by];
    if (next) openEntry(next.id);
  };
  useRowShortcuts(step);
  return (
    <Page
      title={t`Log`}
      tag={
        view !== undefined && (
          <Badge variant="outline" tt="none">
            {escapeInvisible(view)}
          </Badge>
        )
      }
      about={<About days={days} />}
      action={
        <Group gap="xs">
          {isAdmin && <Button onClick={() => setErasing('')}>{t`Erase address`}</Button>}
          <ViewsMenu page="log" builtIn={BUILT_IN_VIEWS} search={viewText(filters)} onChoose={showView} />
          <ExportMenu search={filters} isSearch={isSearch} />
        </Group>
      }
    >
      <LogFilters search={filters} egresses={egresses} onSearch={show} />
      <div className={css.panel}>
        <Hours filters={filters} onChoose={showTime} />
        {fresh !== null && (
          <FreshBar icon="arrow-up" onShow={() => void client.resetQueries({ queryKey })}>
            {t`${fresh} new`}
          </FreshBar>
        )}
        {table.rows.length > 0 && <LogTable {...table} onOpen={openEntry} />}
      </div>
      {query.isFetching && reached !== null && (
        <Text role="status" size="sm" ta="center">
          <Trans>Searched back to {formatDateTime(reached)} …</Trans>
        </Text>
      )}
      <LoadMore query={query}>
        {(pages) => (
          <>
            {rows.length === 0 && pages.at(-1)?.next === null && <NoEntries isSearch={isSearch} />}
            {!query.isFetching && <SearchEnd pages={pages} found={rows.length} isSearch={isSearch} />}
          </>
        )}
      </LoadMore>
      {open !== undefined && (
        <RowDrawer id={open} onStep={step} onClose={close} onErase={isAdmin ? setErasing : null} />
      )}
      <Erase
        opened={erasing !== null}
        initial={erasing ?? ''}
        onClose={() => setErasing(null)}
        onErased={async () => show(filters)}
      />
    </Page>
  );
}

/** What the page is to show next; its state is the URL. */
function useShow({ open, view }: LogSearch, filters: LogSearch) {
  const navigate = route.useNavigate();
  const show = useCallback((next: LogSearch) => void navigate({ search: next, resetScroll: false }), [navigate]);
  const showTime = useCallback((time: TimeSearch) => show({ ...withoutTime(filters), ...time }), [show, filters]);
  const showView = useCallback((text: string, view: string) => show({ ...viewSearch(text), view }), [show]);
  const openEntry = useCallback(
    (open: string) => void navigate({ search: (now: LogSearch) => ({ ...now, open }), resetScroll: false }),
    [navigate],
  );
  const close = () => {
    focusRow(open);
    show(view === undefined ? filters : { ...filters, view });
  };
  return { show, showTime, showView, openEntry, close };
}

/** `days`: for how long it is kept; undefined while that is loading. */
function About({ days }: { days: number | undefined }) {
  const zone = zoneName(Date.now());
  return days === undefined
    ? t`Verifications and rejected requests, newest first. Times are ${zone}.`
    : t`Verifications and rejected requests, newest first. Kept for ${plural(days, { one: '# day', other: '# days' })}. Times are ${zone}.`;
}

function RowDrawer(props: Parameters<typeof EntryDrawer>[0]) {
  const { id, onStep, onClose } = props;
  const rejected = rejectedId(id);
  return rejected === null ? (
    <EntryDrawer {...props} />
  ) : (
    <RejectedDrawer id={rejected} onStep={onStep} onClose={onClose} />
  );
}

/** `reached`: how far back the search has come that is under way. */
function useLogRows(account: string, filters: LogSearch) {
  const queryKey = ['account', account, 'log', filters];
  const [reached, setReached] = useState<string | null>(null);
  const query = useKeysetQuery(queryKey, (before, signal) => {
    setReached(null);
    return searchPage(account, filters, { before, signal, reached: setReached });
  });
  const { data } = query;
  const rows = useMemo(() => (data ?? []).flatMap(rowsOf), [data]);
  return { query, queryKey, reached, rows };
}

const NO_EGRESSES: readonly string[] = [];

type Name = Exclude<keyof LogSearch, keyof TimeSearch | 'query' | 'not' | 'view' | 'open'>;

const labeled = <K extends string>(labels: Readonly<Record<K, string>>) =>
  keysOf(labels).map((value) => ({ value, label: labels[value] }));

interface Option {
  readonly value: string;
  readonly label: string;
}
const asOption = (value: string): Option => ({ value, label: value });
const named = (rows: readonly { readonly id: string; readonly name: string }[]): Option[] =>
  rows.map(({ id, name }) => ({ value: id, label: name }));

/** What is searched for stays an option: it may be older than those that are known, or gone. */
const withChosen = (options: readonly Option[], chosen = ''): readonly Option[] => {
  const others = chosen.split(',').filter((one) => one !== '' && options.every(({ value }) => value !== one));
  return [...options, ...others.map(asOption)];
};

const OPERATORS = LOGGED_OPERATORS.map((value) => ({ value, label: operatorName(value) }));

/** Filters of the page of outcomes, which are not offered here. */
const LED_TO: ReadonlySet<Name> = new Set(['confidence', 'reported']);

const CONFIDENCES = LOG_CONFIDENCES.map((value) => ({ value, label: `${value.replace('-', t` to `)} %` }));

/** Search and filters; their state is the URL. Those that are set come first, as the others may be out of sight. */
const LogFilters = memo(function LogFilters(props: {
  search: LogSearch;
  /** In use. */
  egresses: readonly string[];
  onSearch: (search: LogSearch) => void;
}) {
  const { search, egresses, onSearch } = props;
  const { id } = useAccount();
  const { data } = useQuery(keysQuery(id));
  const hooks = useQuery(hooksQuery(id)).data?.hooks ?? [];
  const keys = [
    ...(data?.keys ?? []).map(({ id, name, key }) => ({ value: id, label: `${name} (${key.slice(-4)})` })),
    ...hooks.map(({ id, name, kind }) => ({ value: id, label: `${name} (${HOOK_FACTS[kind].name})` })),
  ];
  const known = useQuery({ ...listsQuery(id, {}), refetchInterval: false }).data?.lists ?? [];
  const lists = withChosen(named(known), search.list);
  const { reported } = search;
  const sources = useQuery({ ...outcomeSourcesQuery(id), enabled: reported !== undefined }).data?.sources ?? [];
  const chips: readonly (readonly [name: Name, label: string, options: readonly Option[]])[] = [
    ['deliverability', t`Deliverability`, labeled(SEGMENT_LABELS)],
    ['reason', t`Reason`, REASON_FILTERS.map((value) => ({ value, label: reasonName(value) }))],
    ['key', t`Key`, keys],
    ['level', t`Level`, LEVELS.map((value) => ({ value, label: value }))],
    ['origin', t`Origin`, labeled(ORIGIN_LABELS)],
    ['list', t`List`, lists],
    ['operator', t`Mail operator`, withChosen(OPERATORS, search.operator)],
    // One that every host has is nothing to choose from.
    ['egress', t`Egress`, withChosen(egresses.length > 1 ? egresses.map(asOption) : [], search.egress)],
    ['decision', t`Decision`, labeled(DECISION_LABELS)],
    ['mail', t`Mail`, labeled(MAIL_LABELS)],
    ['confidence', t`Confidence`, CONFIDENCES],
    ['reported', t`Outcome reported by`, withChosen([...labeled(REPORTED_BY), ...named(sources)], reported)],
    ['status', t`Status`, labeled(STATUS_LABELS)],
  ];
  const offered = chips.filter(
    ([name, , options]) => options.length > 0 && (search[name] !== undefined || !LED_TO.has(name)),
  );
  const isSet = ([name]: (typeof chips)[number]): boolean => search[name] !== undefined;
  const change = (part: Readonly<Record<string, string | null>>) => onSearch(logSearch({ ...search, ...part }));
  const negated = negatedOf(search);
  const negation = (name: LogNegatable) => ({
    negated: negated.includes(name),
    onNegate: (isNot: boolean) =>
      change({ not: [...negated.filter((one) => one !== name), ...(isNot ? [name] : [])].join(',') }),
  });
  const time = (
    <TimePicker key="time" time={search} onChange={(time) => onSearch({ ...withoutTime(search), ...time })} />
  );
  const chip = ([name, label, options]: (typeof chips)[number]) => (
    <FilterChip
      key={name}
      name={label}
      options={options}
      several
      value={search[name] ?? null}
      onChange={(value) => change({ [name]: value })}
      {...negation(name)}
    />
  );
  return (
    <SearchBar
      label={t`Verifications`}
      search={{
        label: t`Address, domain or ID`,
        placeholder: t`Address, domain, ID`,
        maxLength: ADDRESS_LENGTH.max,
        value: search.query ?? '',
        onSearch: (query) => change({ query }),
      }}
    >
      {/* One array: a chip that moves in it keeps its menu open. */}
      {[
        ...(hasTime(search) ? [time] : []),
        ...offered.filter(isSet).map(chip),
        ...(hasTime(search) ? [] : [time]),
        ...offered.filter((one) => !isSet(one)).map(chip),
      ]}
    </SearchBar>
  );
});

const FORMAT_LABELS = { csv: 'CSV', jsonl: 'JSON Lines' } as const;

/** The log as a file: what the search finds, or all of it. */
function ExportMenu({ search, isSearch }: { search: LogSearch; isSearch: boolean }) {
  const { id: account } = useAccount();
  const href = (query: LogSearch) => (format: keyof typeof FORMAT_LABELS) =>
    `/dashboard/accounts/${encodeURIComponent(account)}/log.${format}?${new URLSearchParams(logQuery(query, Date.now()))}`;
  const all = { label: t`All rows`, icon: <Icon name="logs" />, href: href({}) };
  const found = { label: t`Rows of this search`, icon: <Icon name="search" />, href: href(search) };
  return <DownloadMenu label={t`Export`} formats={FORMAT_LABELS} parts={isSearch ? [found, all] : [all]} />;
}

const EVERY_MS = 10_000;

/** How many entries are newer than the first one shown: a number, `50+` for a page or more, or null for none. */
function useNewEntries(
  account: string,
  search: LogSearch,
  newest: Log | undefined,
  first: LogRow | undefined,
): string | null {
  const { open: _open, ...filters } = search;
  const { data } = useQuery({
    queryKey: ['account', account, 'log-newest', filters],
    queryFn: ({ signal }) => {
      const query = { ...logQuery(search, Date.now()), limit: PAGE_SIZE.default };
      return unwrap(api.GET('/dashboard/accounts/{account}/log', { params: { path: { account }, query }, signal }));
    },
    // What the page has just been given is not asked for again.
    ...(newest === undefined ? {} : { initialData: newest }),
    staleTime: EVERY_MS,
    refetchInterval: EVERY_MS,
    enabled: first !== undefined,
  });
  if (data === undefined || first === undefined) return null;
  return countNew(rowsOf(data), first, PAGE_SIZE.default);
}

const route = getRouteApi('/inside/log');

/** A search that changes is not the one of that name any more. */
const withoutOpen = ({ open: _open, view: _view, ...filters }: LogSearch): LogSearch => filters;

/** How far the search came: to the end of the log, or to where it can be continued. */
function SearchEnd({ pages, found, isSearch }: { pages: readonly Log[]; found: number; isSearch: boolean }) {
  const last = pages.at(-1);
  if (last === undefined) return null;
  const isPaused = last.next !== null && last.searched_to !== null && rowsOf(last).length < PAGE_SIZE.default;
  if (!isPaused && (!isSearch || found === 0 || last.next !== null)) return null;
  const back = isPaused ? formatDateTime(last.searched_to ?? '') : '';
  return (
    <Text role="status" size="sm" ta="center">
      {isPaused
        ? plural(found, {
            0: `No matches back to ${back}; choose “Load more” to search further back.`,
            one: `# match back to ${back}; choose “Load more” to search further back.`,
            other: `# matches back to ${back}; choose “Load more” to search further back.`,
          })
        : plural(found, { one: 'The only match is shown.', other: 'All # matches are shown.' })}
    </Text>
  );
}

const NoEntries = ({ isSearch }: { isSearch: boolean }) =>
  isSearch ? (
    <EmptyState
      title={t`No matches`}
      action={<Anchor fz="sm" renderRoot={(props) => <Link {...props} to="/log" search={{}} />}>{t`Show all`}</Anchor>}
    >{t`Nothing in the log matches. Clear a filter, or search for a part of the address.`}</EmptyState>
  ) : (
    <EmptyState
      title={t`No verifications yet`}
      action={<VerifyLink />}
    >{t`Verifications by the API and the dashboard are listed here.`}</EmptyState>
  );
