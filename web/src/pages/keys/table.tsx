import { Badge, Button, Code, Group, Menu, Text } from '@mantine/core';
import { useRef } from 'react';
import type { DashboardKey } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { When } from '../../parts/when.tsx';
import { onDay } from '../../parts/words.ts';
import { NOTICE_WORDS } from './cards.tsx';
import type { Open } from './dialogs.tsx';

/** `opener` gets the focus back. */
export type OnOpen = (open: Open, opener: HTMLElement | null) => void;

/** As many as a line takes; the rest is a number. */
const SHOWN = 3;

/** All keys, or those of one card; with `onOpen` also what can be done with each. */
export function KeysTable({ keys, onOpen }: { keys: readonly DashboardKey[]; onOpen: OnOpen | null }) {
  const columns: Column<DashboardKey>[] = [
    { header: 'Key', cell: (key) => <Named of={key} /> },
    { header: 'State', wideOnly: true, cell: (key) => <State of={key} /> },
    { header: 'Last used', wideOnly: true, cell: (key) => <LastUse of={key} /> },
    { header: 'Allowed addresses', wideOnly: true, cell: ({ allow_ips }) => <Addresses of={allow_ips} /> },
    { header: 'Created', wideOnly: true, cell: ({ created_at }) => <When at={created_at} /> },
  ];
  if (onOpen)
    columns.push({
      header: 'Actions',
      quietHeader: true,
      cell: (key) => (key.state === 'revoked' ? null : <Actions of={key} onOpen={onOpen} />),
    });
  return <DataTable label="API keys" columns={columns} rows={keys} rowKey={({ id }) => id} />;
}

/** On narrow screens also what stands in columns of its own where there is room. */
function Named({ of }: { of: DashboardKey }) {
  const { name, key, state, notices, last_used_at } = of;
  return (
    <>
      <Text size="sm" fw={600} className="anywhere" td={state === 'revoked' ? 'line-through' : undefined}>
        {name}
      </Text>
      <Group gap={6}>
        <Code>{key}</Code>
        {notices.map((notice) => (
          <Badge key={notice} size="sm" variant="outline" color="yellow" autoContrast tt="none">
            {NOTICE_WORDS[notice].short}
          </Badge>
        ))}
      </Group>
      <Text size="xs" hiddenFrom="sm" component="div">
        <State of={of} />
        {', '}
        {last_used_at === null ? 'never used' : 'last used '}
        {last_used_at !== null && <LastUse of={of} />}
      </Text>
    </>
  );
}

function State({ of: { state, revoked_at } }: { of: DashboardKey }) {
  if (state === 'active') return 'Active';
  if (revoked_at === null) return state === 'revoked' ? 'Revoked' : 'Expiring';
  if (state === 'revoked') return `Revoked ${onDay(revoked_at)}`;
  return (
    <>
      Rolled; ends <When at={revoked_at} />
    </>
  );
}

function LastUse({ of: { last_used_at, last_used_ip } }: { of: DashboardKey }) {
  if (last_used_at === null) return 'Never';
  return (
    <>
      <When at={last_used_at} />
      {last_used_ip !== null && (
        <Text size="xs" className="anywhere">
          from {last_used_ip}
        </Text>
      )}
    </>
  );
}

function Addresses({ of: list }: { of: readonly string[] }) {
  if (list.length === 0) return 'All';
  const rest = list.length - SHOWN;
  return (
    <span className="anywhere" title={list.join('\n')}>
      {list.slice(0, SHOWN).join(', ')}
      {rest > 0 && ` and ${rest} more`}
    </span>
  );
}

function Actions({ of, onOpen }: { of: DashboardKey; onOpen: OnOpen }) {
  const target = useRef<HTMLButtonElement>(null);
  const open = (what: 'edit' | 'roll' | 'revoke') => onOpen({ what, of }, target.current);
  return (
    // Inside of the page's main part, which is a landmark; outside of the table, which would cut it off.
    <Menu position="bottom-end" portalProps={{ target: '#content' }}>
      <Menu.Target>
        <Button size="xs" ref={target} aria-label={`Actions for ${of.name}, ${of.key}`}>
          Actions
        </Button>
      </Menu.Target>
      <Menu.Dropdown aria-label={`Actions for ${of.name}`}>
        <Menu.Item onClick={() => open('edit')}>Edit name and addresses</Menu.Item>
        {of.state === 'active' && <Menu.Item onClick={() => open('roll')}>Roll</Menu.Item>}
        <Menu.Item onClick={() => open('revoke')}>Revoke</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
