import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useAccount, useMay } from '../api/session.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { Invitations } from './members/invitations.tsx';
import { InviteDialog } from './members/invite-dialog.tsx';
import { membersQuery } from './members/queries.ts';
import { MembersTable } from './members/table.tsx';

export function MembersPage() {
  const { id } = useAccount();
  const mayInvite = useMay('admin');
  const [opened, { open, close }] = useDisclosure();
  const query = useQuery(membersQuery(id));
  return (
    <Page
      title="Members"
      about="Members see everything, verify and edit filters; admins also manage keys and people; owners can do all."
      action={
        mayInvite && (
          <Button variant="filled" onClick={open}>
            Invite somebody
          </Button>
        )
      }
    >
      <Loaded query={query}>
        {({ members, invitations }) => (
          <>
            <MembersTable members={members} />
            <Invitations invitations={invitations} />
          </>
        )}
      </Loaded>
      <InviteDialog opened={opened} onClose={close} />
    </Page>
  );
}
