import { Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import type { Sessions } from '../../api/schema.ts';
import { redirectToSignIn } from '../../api/sign-out.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { Loading } from '../../parts/loading.tsx';
import { notify } from '../../parts/notify.tsx';
import { useDialogState } from '../../parts/use-dialog-state.ts';
import { Section } from './section.tsx';
import { SessionTable } from './session-table.tsx';

type Session = Sessions['sessions'][number];

const KEY = ['sessions'];

export function SessionsSection() {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({ queryKey: KEY, queryFn: () => unwrap(api.GET('/dashboard/sessions')) });
  const { item: ending, ...ended } = useDialogState<Session>();
  const [others, othersDialog] = useDisclosure();
  const [everywhere, everywhereDialog] = useDisclosure();
  const refresh = () => client.invalidateQueries({ queryKey: KEY });
  async function end() {
    if (ending === null) return;
    await unwrap(api.DELETE('/dashboard/sessions/{id}', { params: { path: { id: ending.id } } }));
    await refresh();
  }
  async function endOthers() {
    await unwrap(api.POST('/dashboard/sessions/end-others'));
    await refresh();
    await notify('All your other sessions have been signed out.');
  }
  async function endAll() {
    await unwrap(api.POST('/dashboard/sign-out-everywhere'));
    redirectToSignIn();
  }
  return (
    <Section
      title="Sessions"
      about="Browsers that are signed in. If you do not recognize one, sign it out and change your password."
    >
      {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && <SessionTable sessions={data.sessions} onEnd={ended.open} />}
      <Group gap="sm">
        {data && data.sessions.length > 1 && <Button onClick={othersDialog.open}>Sign out all other sessions</Button>}
        <Button onClick={everywhereDialog.open}>Sign out everywhere</Button>
      </Group>
      <ConfirmDialog
        title="Sign out this session?"
        action="Sign out"
        opened={ended.opened}
        onClose={ended.close}
        onConfirm={end}
      >
        <Text size="sm">
          {ending?.device}
          {ending?.ip ? `, ${ending.ip},` : ''} is signed out at once.
        </Text>
      </ConfirmDialog>
      <ConfirmDialog
        title="Sign out all other sessions?"
        action="Sign out"
        opened={others}
        onClose={othersDialog.close}
        onConfirm={endOthers}
      >
        <Text size="sm">
          This signs you out of all browsers but this one. Links to choose a password that were sent to you stop
          working.
        </Text>
      </ConfirmDialog>
      <ConfirmDialog
        title="Sign out everywhere?"
        action="Sign out everywhere"
        opened={everywhere}
        onClose={everywhereDialog.close}
        onConfirm={endAll}
      >
        <Text size="sm">This signs you out of all browsers, including this one. API keys keep working.</Text>
      </ConfirmDialog>
    </Section>
  );
}
