import { Kbd, Modal, Switch, Table } from '@mantine/core';
import { keysText, SHORTCUT_NAMES, SHORTCUTS, setSingleKeys, useSingleKeys } from '../parts/shortcuts.ts';

/** All shortcuts; those of a single character can be switched off. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const on = useSingleKeys();
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts" size="lg">
      <Table aria-label="Keyboard shortcuts">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Keys</Table.Th>
            <Table.Th scope="col">What they do</Table.Th>
            <Table.Th scope="col">Where</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {SHORTCUT_NAMES.map((name) => (
            <Table.Tr key={name}>
              <Table.Td>
                <Kbd>{keysText(name)}</Kbd>
              </Table.Td>
              <Table.Td>{SHORTCUTS[name].does}</Table.Td>
              <Table.Td>{SHORTCUTS[name].where}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Switch
        mt="md"
        label="Shortcuts of a single key"
        description="They never work while you type in a field. Kept in this browser."
        checked={on}
        onChange={(event) => setSingleKeys(event.currentTarget.checked)}
      />
    </Modal>
  );
}
