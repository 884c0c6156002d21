import { Button, Group, Modal } from '@mantine/core';
import { useState } from 'react';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Drawer, DrawerSteps } from '../../parts/drawer.tsx';
import { notify } from '../../parts/notify.tsx';
import { Panel } from '../../parts/panel.tsx';

/** Dialogs, the drawer and notifications. */
export function Overlays() {
  const [opened, setOpened] = useState<'dialog' | 'question' | 'drawer' | null>(null);
  const close = () => setOpened(null);
  return (
    <Panel title="What opens">
      <Group>
        <Button onClick={() => setOpened('dialog')}>Dialog</Button>
        <Button onClick={() => setOpened('question')}>Question</Button>
        <Button onClick={() => setOpened('drawer')}>Drawer</Button>
        <Button onClick={() => void notify('Filter removed.', () => Promise.resolve())}>Notification</Button>
      </Group>
      <Modal opened={opened === 'dialog'} onClose={close} title="Dialog">
        Words.
      </Modal>
      <ConfirmDialog
        title="Revoke “CRM import”"
        action="Revoke"
        typed="CRM import"
        opened={opened === 'question'}
        onClose={close}
        onConfirm={() => Promise.resolve()}
      >
        Requests with this key are refused from now on.
      </ConfirmDialog>
      {opened === 'drawer' && (
        <Drawer label="Entry" title="Entry" actions={<DrawerSteps onStep={() => undefined} />} onClose={close}>
          Words.
        </Drawer>
      )}
    </Panel>
  );
}
