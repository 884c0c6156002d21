import { t } from '@lingui/core/macro';
import { Button, Menu, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { VIEW_NAME_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import type { ViewPage } from '../../../../src/kernel/facts/saved-views.ts';
import type { SavedView } from '../../api/schema.ts';
import { useAccount, useHasRole } from '../../api/session.ts';
import { ErrorAlert } from '../error-alert.tsx';
import { DialogForm, Form } from '../form.tsx';
import { Icon } from '../icon.tsx';
import { notify } from '../notify.tsx';
import { useSubmit } from '../use-submit.ts';
import { deleteView, renameView, saveView, viewsKey, viewsQuery } from './queries.ts';

/** Names the present search. */
function SaveDialog(props: { page: ViewPage; search: string; opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={t`Save this search`}>
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
    void notify(t`View ${saved.name} saved.`);
    await client.invalidateQueries({ queryKey: viewsKey(id, page) });
  });
  return (
    <DialogForm submit={submit} action={t`Save`} onCancel={onClose}>
      <TextInput
        {...submit.field('name')}
        label={t`Name`}
        description={t`All members of the account see it.`}
        placeholder={t`Bounces of the newsletter`}
        maxLength={VIEW_NAME_LENGTH.max}
        autoComplete="off"
        data-autofocus
      />
    </DialogForm>
  );
}

/** Renames and deletes those of the account. */
function ManageDialog(props: { page: ViewPage; views: readonly SavedView[]; opened: boolean; onClose: () => void }) {
  const { page, views, opened, onClose } = props;
  return (
    <Modal opened={opened} onClose={onClose} title={t`Views`}>
      <Stack>
        {views.map((view) => (
          <OwnView key={view.id} page={page} view={view} />
        ))}
        {views.length === 0 && <Text size="sm">{t`There are no saved views.`}</Text>}
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
    void notify(t`View renamed to ${renamed.name}.`);
    await refresh();
  });
  const remove = useMutation({
    mutationFn: () => deleteView(id, view.id),
    onSuccess: () => {
      void notify(t`Deleted ${view.name}.`, async () => {
        await saveView(id, page, view.name, view.search);
        await refresh();
      });
    },
    onSettled: refresh,
  });
  return (
    <Form
      submit={submit}
      action={t`Rename`}
      beside={
        <Button
          color="red"
          loading={remove.isPending}
          onClick={() => remove.mutate()}
          aria-label={t`Delete ${view.name}`}
        >{t`Delete`}</Button>
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

/** Searches of a page under a name: some that every account has, and its own. Searches are query strings. */
export const ViewsMenu = memo(function ViewsMenu(props: {
  page: ViewPage;
  builtIn: readonly { name: string; search: string }[];
  /** The present one; empty: none. */
  search: string;
  /** `name`: for the link. */
  onChoose: (search: string, name: string) => void;
}) {
  const { page, builtIn, search, onChoose } = props;
  const { data, isLoadingError } = useQuery(viewsQuery(useAccount().id, page));
  const mayChange = useHasRole('member');
  const [dialog, setDialog] = useState<'save' | 'manage' | null>(null);
  const own = data?.views ?? [];
  const all = [...builtIn.map((view) => ({ ...view, id: view.name })), ...own];
  const current = all.find((view) => view.search === search);
  const choose = (id: string) => {
    const view = all.find((one) => one.id === id);
    if (view !== undefined) onChoose(view.search, view.name);
  };
  const close = () => setDialog(null);
  return (
    <>
      <Menu position="bottom-end" portalProps={{ target: '#content' }}>
        <Menu.Target>
          <Button leftSection={<Icon name="bookmark" />} rightSection={<Icon name="chevron-down" />}>{t`Views`}</Button>
        </Menu.Target>
        <Menu.Dropdown aria-label={t`Views`} mah={420} maw={320} style={{ overflowY: 'auto' }}>
          <Menu.RadioGroup value={current?.id ?? ''} onChange={choose}>
            {all.map(({ id, name }) => (
              <Menu.RadioItem key={id} value={id} className="anywhere">
                {name}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          {isLoadingError && <Text size="sm" px="sm" py={6}>{t`The saved views could not be loaded.`}</Text>}
          {mayChange && <Menu.Divider />}
          {mayChange && (
            <Menu.Item
              disabled={search === '' || current !== undefined}
              onClick={() => setDialog('save')}
            >{t`Save this search`}</Menu.Item>
          )}
          {mayChange && own.length > 0 && (
            <Menu.Item onClick={() => setDialog('manage')}>{t`Rename or delete`}</Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <SaveDialog page={page} search={search} opened={dialog === 'save'} onClose={close} />
      <ManageDialog page={page} views={own} opened={dialog === 'manage'} onClose={close} />
    </>
  );
});
