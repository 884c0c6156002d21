import { t } from '@lingui/core/macro';
import { Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyText } from '../../parts/copy-text.tsx';
import { focusOnMount } from '../../parts/focus.ts';

const ABOUT = t`This secret is shown only once. Copy it now: your server verifies with it that a request comes from Mailvet.`;

/** Shows a signing secret, once. It exists only in the state of the dialog. `about`: what it is for. */
export const SecretPanel = (props: { secret: string; about?: string; children?: ReactNode; onClose: () => void }) => (
  <Stack>
    <Text size="sm" ref={focusOnMount} tabIndex={-1} style={{ outline: 'none' }} fw={600}>
      {props.about ?? ABOUT}
    </Text>
    {props.children}
    <CopyText label={t`signing secret`} text={props.secret} />
    <Group justify="flex-end">
      <Button variant="filled" onClick={props.onClose}>{t`Done`}</Button>
    </Group>
  </Stack>
);
