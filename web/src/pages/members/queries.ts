import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import type { Members } from '../../api/schema.ts';
import type { Role } from '../../api/session.ts';

export type Member = Members['members'][number];
export type Invitation = Members['invitations'][number];

export const membersQuery = (account: string) =>
  queryOptions({
    queryKey: ['account', account, 'members'],
    queryFn: () => unwrap(api.GET('/dashboard/accounts/{account}/members', { params: { path: { account } } })),
  });

const MEMBER = '/dashboard/accounts/{account}/members/{user}';

export const changeRole = (account: string, user: string, role: Role) =>
  unwrap(api.PATCH(MEMBER, { params: { path: { account, user } }, body: { role } }));

/** Another member, or the user's own membership. */
export const removeMember = (account: string, user: string) =>
  unwrap(api.DELETE(MEMBER, { params: { path: { account, user } } }));

export const invite = (account: string, body: { email: string; role: Role }) =>
  unwrap(api.POST('/dashboard/accounts/{account}/invitations', { params: { path: { account } }, body }));

export const revokeInvitation = (account: string, id: string) =>
  unwrap(api.DELETE('/dashboard/accounts/{account}/invitations/{id}', { params: { path: { account, id } } }));
