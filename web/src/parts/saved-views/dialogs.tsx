import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { VIEW_NAME_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import type { ViewPage } from '../../../../src/kernel/facts/saved-views.ts';
import type { SavedView } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { ErrorAlert } from '../error-alert.tsx';
import { Form } from '../form.tsx';
import { notify } from '../notify.tsx';
import { useSubmit } from '../use-submit.ts';
import { deleteView, renameView, saveView, viewsKey } from './queries.ts';

/** Names the present search. */
export function SaveDialog(props: { page: ViewPage; search: string; opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title="Save this search">
      <SaveForm {...props} />
    </Modal>
  );
}

function SaveForm({ page, search, onClose }: Parameters<typeof SaveDialog>[0]) {
  const { id } = useAccount();
  const client = useQueryClient();
  const submit = useSubmit(async ({ name = '' }) => {
    const saved = await saveView(id, page, name, search);
    onClose();
    void notify(`View ${saved.name} saved.`);
    await client.invalidateQueries({ queryKey: viewsKey(id, page) });
  });
  return (
    <Form submit={submit} action="Save" main onCancel={onClose}>
      <TextInput
        {...submit.field('name')}
        label="Name"
        description="Only you see it."
        placeholder="Bounces of the newsletter"
        maxLength={VIEW_NAME_LENGTH.max}
        autoComplete="off"
        data-autofocus
      />
    </Form>
  );
}

/** Renames and deletes the user's own. */
export function ManageDialog(props: {
  page: ViewPage;
  views: readonly SavedView[];
  opened: boolean;
  onClose: () => void;
}) {
  const { page, views, opened, onClose } = props;
  return (
    <Modal opened={opened} onClose={onClose} title="Views">
      <Stack>
        {views.map((view) => (
          <OwnView key={view.id} page={page} view={view} />
        ))}
        {views.length === 0 && <Text size="sm">You have no saved views.</Text>}
      </Stack>
    </Modal>
  );
}

function OwnView({ page, view }: { page: ViewPage; view: SavedView }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: viewsKey(id, page) });
  const submit = useSubmit(async ({ name = '' }) => {
    const renamed = await renameView(id, view.id, name);
    void notify(`View renamed to ${renamed.name}.`);
    await refresh();
  });
  const remove = useMutation({
    mutationFn: () => deleteView(id, view.id),
    onSuccess: () => {
      void notify(`Deleted ${view.name}.`, async () => {
        await saveView(id, page, view.name, view.search);
        await refresh();
      });
    },
    onSettled: refresh,
  });
  return (
    <Form
      submit={submit}
      action="Rename"
      beside={
        <Button
          color="red"
          loading={remove.isPending}
          onClick={() => remove.mutate()}
          aria-label={`Delete ${view.name}`}
        >
          Delete
        </Button>
      }
    >
      <TextInput
        {...submit.field('name')}
        label={view.name}
        defaultValue={view.name}
        maxLength={VIEW_NAME_LENGTH.max}
        autoComplete="off"
      />
      {remove.error && <ErrorAlert error={remove.error} />}
    </Form>
  );
}
