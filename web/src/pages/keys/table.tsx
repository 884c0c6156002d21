import { t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Badge, Button, Code, Group, Menu, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { KEY_USAGE_DAYS } from '../../../../src/kernel/facts/limits.ts';
import { DEFAULT_SCOPES, KEY_SCOPES } from '../../../../src/kernel/facts/scopes.ts';
import type { DashboardKey, KeyUsage } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatDate, formatNumber } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { useKeptTime } from '../../parts/kept-time.ts';
import { sortable } from '../../parts/sorting.tsx';
import { rowsOfSource } from '../../parts/source.ts';
import { Timestamp } from '../../parts/timestamp.tsx';
import { verifiedOf } from '../log/search.ts';
import type { DialogState } from './dialogs.tsx';
import css from './keys.module.css';
import { NOTICE_COPY } from './notices.tsx';
import { KEY_ORDERS, type KeysSearch, keysSearch, requestsOf } from './search.ts';

/** Verifications by day, as small bars; the number is beside them. */
const UsageBars = ({ requests, most }: { requests: readonly number[]; most: number }) => (
  <svg className={css.bars} viewBox={`0 0 ${requests.length * 3} 20`} preserveAspectRatio="none" aria-hidden="true">
    {requests.map((n, i) => {
      const height = n === 0 ? 1 : Math.max(2, (n / most) * 20);
      return <rect key={i} x={i * 3} y={20 - height} width={2} height={height} data-none={n === 0} />;
    })}
  </svg>
);

/** `opener` gets the focus back when the dialog closes. */
export type OnOpen = (open: DialogState, opener: HTMLElement | null) => void;

/** The remaining addresses are counted. */
const MAX_SHOWN = 3;

/** `onOpen`: null for users who may not manage keys. `usage`: undefined while it is loaded. */
export function KeysTable(props: {
  keys: readonly DashboardKey[];
  usage: KeyUsage | undefined;
  search: KeysSearch;
  onOpen: OnOpen | null;
}) {
  const { keys, usage, search, onOpen } = props;
  const used = new Map(usage?.keys.map((one) => [one.key_id, one]));
  const by = sortable(KEY_ORDERS, search, ({ sort, order }) => ({
    to: '/settings/keys',
    search: keysSearch({ ...search, sort, order }),
  }));
  const columns: Column<DashboardKey>[] = [
    { ...by('name', t`Key`), cell: (key) => <KeyName of={key} /> },
    {
      ...by('requests', t`${KEY_USAGE_DAYS} days`),
      numeric: true,
      folds: true,
      cell: ({ id }) => usage && <Usage id={id} of={used.get(id)} days={usage.days.length} source={search.source} />,
    },
    {
      ...by('rejected', t`Rejected`),
      numeric: true,
      folds: true,
      cell: ({ id }) => usage && <Rejected id={id} count={used.get(id)?.rejected ?? 0} />,
    },
    { ...by('used', t`Last used`), folds: true, cell: (key) => <LastUsed of={key} /> },
    { header: t`Allowed IP addresses`, folds: true, cell: ({ allow_ips }) => <Addresses of={allow_ips} /> },
    { header: t`Scopes and budget`, folds: 'first', cell: (key) => <Limits of={key} /> },
    { ...by('created', t`Created`), folds: 'first', cell: ({ created_at }) => <Timestamp at={created_at} /> },
  ];
  if (onOpen)
    columns.push({
      header: t`Actions`,
      quietHeader: true,
      cell: (key) => (key.state === 'revoked' ? null : <Actions of={key} onOpen={onOpen} />),
    });
  return <DataTable label={t`API keys`} columns={columns} rows={keys} rowKey={({ id }) => id} />;
}

/** `of`: undefined where the key was not used in those days. */
function Usage(props: {
  id: string;
  of: KeyUsage['keys'][number] | undefined;
  days: number;
  source: KeysSearch['source'];
}) {
  const { id, of, days, source } = props;
  const requests = of?.requests ?? Array.from({ length: days }, () => 0);
  // Each on its own scale: beside a key that uploads lists, the others would be dotted lines.
  const most = Math.max(1, ...requests);
  return (
    <Link className={css.usage} to="/log" search={verifiedOf({ key: id, range: '30d', ...rowsOfSource(source) })}>
      {formatNumber(requestsOf(of))}
      <UsageBars requests={requests} most={most} />
    </Link>
  );
}

const Rejected = ({ id, count }: { id: string; count: number }) =>
  count === 0 ? (
    <span className="dim">0</span>
  ) : (
    <Link className={css.number} to="/log" search={{ key: id, range: '30d', status: 'rejected' }}>
      {formatNumber(count)}
    </Link>
  );

function KeyName({ of }: { of: DashboardKey }) {
  const { id, name, key, state, notices, expires_at } = of;
  const time = useKeptTime();
  return (
    <>
      <Text size="sm" fw={600} className="anywhere" td={state === 'revoked' ? 'line-through' : undefined}>
        <Link to="/settings/keys/$id" params={{ id }} search={time('/settings/keys/$id')} style={{ color: 'inherit' }}>
          {name}
        </Link>
      </Text>
      <Group gap={6}>
        <Code>{key}</Code>
        {(state !== 'active' || expires_at !== null) && (
          <Badge size="sm" variant="default" miw="max-content">
            <State of={of} />
          </Badge>
        )}
        {notices.map((notice) => (
          <Badge key={notice} size="sm" variant="outline" color="yellow" miw="max-content">
            {NOTICE_COPY[notice].badge}
          </Badge>
        ))}
      </Group>
    </>
  );
}

export function State({ of: { state, revoked_at, expires_at } }: { of: DashboardKey }) {
  switch (state) {
    case 'active':
      return expires_at === null ? t`Active` : t`Active until ${formatDate(expires_at)}`;
    case 'expired':
      return expires_at === null ? t`Expired` : t`Expired ${formatDate(expires_at)}`;
    case 'expiring':
      return revoked_at === null ? (
        t`Expiring`
      ) : (
        <Trans>
          {' '}
          Rolled; expires at <Timestamp at={revoked_at} />{' '}
        </Trans>
      );
    case 'revoked':
      return revoked_at === null ? t`Revoked` : t`Revoked ${formatDate(revoked_at)}`;
  }
}

function LastUsed({ of: { last_used_at, last_used_ip } }: { of: DashboardKey }) {
  if (last_used_at === null) return t`Never`;
  return (
    <>
      <Timestamp at={last_used_at} />
      {last_used_ip !== null && (
        <Text size="xs" className="anywhere">
          <Trans>from {last_used_ip}</Trans>
        </Text>
      )}
    </>
  );
}

function Addresses({ of: list }: { of: readonly string[] }) {
  if (list.length === 0) return t`Any`;
  const rest = list.length - MAX_SHOWN;
  return (
    <span className="anywhere" title={list.join('\n')}>
      {list.slice(0, MAX_SHOWN).join(', ')}
      {rest > 0 && t` and ${rest} more`}
    </span>
  );
}

export function scopesText(scopes: DashboardKey['scopes']): string {
  if (scopes.length === KEY_SCOPES.length) return t`All scopes`;
  return scopes.join() === DEFAULT_SCOPES.join() ? t`All scopes but privacy` : scopes.join(', ');
}

function Limits({ of: { scopes, budget } }: { of: DashboardKey }) {
  return (
    <>
      {scopesText(scopes)}
      {budget !== null && (
        <Text size="xs">
          <Trans>
            {formatNumber(budget.used)} of <Plural value={budget.monthly_credits} one="# credit" other="# credits" />{' '}
            this month
          </Trans>
        </Text>
      )}
    </>
  );
}

function Actions({ of, onOpen }: { of: DashboardKey; onOpen: OnOpen }) {
  const target = useRef<HTMLButtonElement>(null);
  const open = (what: 'edit' | 'roll' | 'revoke') => onOpen({ what, of }, target.current);
  return (
    // Inside the main landmark, but outside the table, which would clip it.
    <Menu position="bottom-end" portalProps={{ target: '#content' }}>
      <Menu.Target>
        <Button size="xs" variant="subtle" px={6} ref={target} aria-label={t`Actions for ${of.name}, ${of.key}`}>
          <Icon name="dots" />
        </Button>
      </Menu.Target>
      <Menu.Dropdown aria-label={t`Actions for ${of.name}`}>
        <Menu.Item onClick={() => open('edit')}>{t`Edit`}</Menu.Item>
        {of.state === 'active' && <Menu.Item onClick={() => open('roll')}>{t`Roll`}</Menu.Item>}
        <Menu.Item onClick={() => open('revoke')}>{t`Revoke`}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
