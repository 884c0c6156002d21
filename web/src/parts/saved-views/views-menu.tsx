import { Button, Menu, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { memo, useState } from 'react';
import type { ViewPage } from '../../../../src/kernel/facts/saved-views.ts';
import { useAccount } from '../../api/session.ts';
import { Icon } from '../icon.tsx';
import { ManageDialog, SaveDialog } from './dialogs.tsx';
import { viewsQuery } from './queries.ts';

/** Searches of a page under a name: some that every user has, and the user's own. Searches are query strings. */
export const ViewsMenu = memo(function ViewsMenu(props: {
  page: ViewPage;
  builtIn: readonly { name: string; search: string }[];
  /** The present one; empty: none. */
  search: string;
  onChoose: (search: string) => void;
}) {
  const { page, builtIn, search, onChoose } = props;
  const { data, isLoadingError } = useQuery(viewsQuery(useAccount().id, page));
  const [dialog, setDialog] = useState<'save' | 'manage' | null>(null);
  const own = data?.views ?? [];
  const all = [...builtIn.map((view) => ({ ...view, id: view.name })), ...own];
  const current = all.find((view) => view.search === search);
  const choose = (id: string) => {
    const view = all.find((one) => one.id === id);
    if (view !== undefined) onChoose(view.search);
  };
  const close = () => setDialog(null);
  return (
    <>
      <Menu position="bottom-end" portalProps={{ target: '#content' }}>
        <Menu.Target>
          <Button leftSection={<Icon name="bookmark" />} rightSection={<Icon name="chevron-down" />}>
            Views
          </Button>
        </Menu.Target>
        <Menu.Dropdown aria-label="Views" mah={420} maw={320} style={{ overflowY: 'auto' }}>
          <Menu.RadioGroup value={current?.id ?? ''} onChange={choose}>
            {all.map(({ id, name }) => (
              <Menu.RadioItem key={id} value={id} className="anywhere">
                {name}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          {isLoadingError && (
            <Text size="sm" px="sm" py={6}>
              Your saved views could not be loaded.
            </Text>
          )}
          <Menu.Divider />
          <Menu.Item disabled={search === '' || current !== undefined} onClick={() => setDialog('save')}>
            Save this search
          </Menu.Item>
          {own.length > 0 && <Menu.Item onClick={() => setDialog('manage')}>Rename or delete</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      <SaveDialog page={page} search={search} opened={dialog === 'save'} onClose={close} />
      <ManageDialog page={page} views={own} opened={dialog === 'manage'} onClose={close} />
    </>
  );
});
