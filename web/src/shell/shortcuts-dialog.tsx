import { t } from '@lingui/core/macro';
import { Kbd, Modal, Switch } from '@mantine/core';
import css from '../parts/data-table.module.css';
import { keysText, SHORTCUT_NAMES, SHORTCUTS, setSingleKeys, useSingleKeys } from '../parts/shortcuts.ts';

/** All shortcuts; those of a single character can be switched off. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const on = useSingleKeys();
  return (
    <Modal opened onClose={onClose} title={t`Keyboard shortcuts`} size="lg">
      <table className={css.table} aria-label={t`Keyboard shortcuts`}>
        <thead>
          <tr>
            <th scope="col">{t`Keys`}</th>
            <th scope="col">{t`What they do`}</th>
            <th scope="col">{t`Where`}</th>
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
        label={t`Shortcuts of a single key`}
        description={t`They never work while you type in a field. Kept in this browser.`}
        checked={on}
        onChange={(event) => setSingleKeys(event.currentTarget.checked)}
      />
    </Modal>
  );
}
