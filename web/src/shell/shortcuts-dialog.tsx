import { Kbd, Modal, Switch } from '@mantine/core';
import css from '../parts/data-table.module.css';
import { keysText, SHORTCUT_NAMES, SHORTCUTS, setSingleKeys, useSingleKeys } from '../parts/shortcuts.ts';

/** All shortcuts; those of a single character can be switched off. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const on = useSingleKeys();
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts" size="lg">
      <table className={css.table} aria-label="Keyboard shortcuts">
        <thead>
          <tr>
            <th scope="col">Keys</th>
            <th scope="col">What they do</th>
            <th scope="col">Where</th>
          </tr>
        </thead>
        <tbody>
          {SHORTCUT_NAMES.map((name) => (
            <tr key={name}>
              <td>
                <Kbd>{keysText(name)}</Kbd>
              </td>
              <td>{SHORTCUTS[name].does}</td>
              <td>{SHORTCUTS[name].where}</td>
            </tr>
          ))}
        </tbody>
      </table>
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
