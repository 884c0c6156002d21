import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useAccount, useHasRole } from '../api/session.ts';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { useSearchOnce } from '../parts/use-search-once.ts';
import { Invitations } from './members/invitations.tsx';
import { InviteDialog } from './members/invite-dialog.tsx';
import { membersQuery } from './members/queries.ts';
import { MembersTable } from './members/table.tsx';

const route = getRouteApi('/inside/account/members');

export function MembersPage() {
  const { id } = useAccount();
  const isAdmin = useHasRole('admin');
  const [opened, { open, close }] = useDisclosure();
  const query = useQuery(membersQuery(id));
  const { invite } = route.useSearch();
  useSearchOnce('invite', invite, () => isAdmin && open());
  return (
    <Page
      title="Members"
      about="Members can view everything, verify addresses and edit filters. Admins also manage API keys and members. Owners have full control."
      action={
        isAdmin && (
          <Button variant="filled" onClick={open}>
            Invite member
          </Button>
        )
      }
    >
      <QueryResult query={query}>
        {({ members, invitations }) => (
          <>
            <MembersTable members={members} />
            <Invitations invitations={invitations} />
          </>
        )}
      </QueryResult>
      <InviteDialog opened={opened} onClose={close} />
    </Page>
  );
}
