import type { Static } from 'typebox';
import * as C from '../../contract/dashboard/account.ts';
import { Done } from '../../contract/dashboard/session.ts';
import type { Read } from '../../contract/schema.ts';
import { toIso, toIsoOrNull } from '../../kernel/clock.ts';
import { creditsOf, type Plans, planWithLevel } from '../../kernel/facts/plans.ts';
import type { AccountDetail, AccountStorage, KeysetQuery, LedgerPage, LedgerRange } from '../../service/accounts.ts';
import type { ActingMember, MemberService, Role } from '../../service/members.ts';
import type { SignedIn } from '../../service/sign-in/session.ts';
import { browserRequest, done } from '../access/session.ts';
import { type CsvColumns, inEachForm, rowsFile } from '../csv.ts';
import { nothingToChange } from '../reply.ts';
import { ACCOUNT_PATH, type AccountContext, type Route, route } from '../route.ts';

const ownAccountReply = (
  a: AccountDetail,
  { listBytes, filters }: AccountStorage,
  { plans, retentionDaysMax }: { readonly plans: Plans; readonly retentionDaysMax: number },
  role: Role,
): C.AccountReply => ({
  id: a.id,
  name: a.name,
  plan: a.plan,
  status: a.status,
  rate_limit: a.rateLimit,
  smtp_available: a.terms.levels.includes('smtp'),
  upgrade_required: a.terms.levels.includes('smtp') ? null : planWithLevel(plans, 'smtp'),
  prices: a.terms.prices,
  credits: creditsOf(a),
  storage: { list_bytes: listBytes, filters },
  retention_days: a.retentionDays,
  retention_days_max: retentionDaysMax,
  trust_bounces_days: a.trustBouncesDays,
  second_factor_required: a.secondFactorRequired,
  created_at: toIso(a.createdAt),
  role,
});

export const pageOf = ({ before, limit }: Read<typeof C.PageQuery>): KeysetQuery => ({ before: before ?? null, limit });

export const ledgerPageOf = ({ before, limit }: Read<typeof C.LedgerQuery>): LedgerRange => ({
  before: before ?? null,
  limit,
});

const ledgerRow = (r: LedgerPage['rows'][number]): Static<typeof C.LedgerReply>['rows'][number] => ({
  id: r.id,
  kind: r.kind,
  amount: r.amount,
  charged: r.charged,
  verification_id: r.verificationId,
  verifications: r.verifications,
  note: r.note,
  created_at: toIso(r.createdAt),
});
export const ledgerReply = ({ rows, next }: LedgerPage): Static<typeof C.LedgerReply> => ({
  rows: rows.map(ledgerRow),
  next,
});

export const membersReply = (
  { members, invitations }: Awaited<ReturnType<MemberService['list']>>,
  reader: Pick<SignedIn, 'id'>,
): C.MembersReply => ({
  members: members.map((m) => ({
    user_id: m.userId,
    name: m.name,
    email: m.email,
    role: m.role,
    second_factor: m.secondFactor,
    created_at: toIso(m.createdAt),
    last_active_at: toIsoOrNull(m.lastActiveAt),
    is_you: m.userId === reader.id,
  })),
  invitations: invitations.map((i) => ({
    id: i.id,
    email: i.email,
    role: i.role,
    invited_by: i.invitedBy,
    created_at: toIso(i.createdAt),
    expires_at: toIso(i.expiresAt),
  })),
});

const LEDGER_COLUMNS: CsvColumns<ReturnType<typeof ledgerRow>> = {
  at: (row) => row.created_at,
  kind: (row) => row.kind,
  amount: (row) => row.amount,
  charged: (row) => row.charged,
  verification_id: (row) => row.verification_id,
  verifications: (row) => row.verifications,
  note: (row) => row.note,
};
const LEDGER_FILE = { columns: LEDGER_COLUMNS, shownOf: ledgerRow, reply: ledgerRow };

const acting = ({ account, user, role, actor }: AccountContext): ActingMember => ({
  account,
  user: user.id,
  role,
  actor,
});

/** Routes about the account itself are here: plan, ledger, members, deletion. */
export const ACCOUNT_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: ACCOUNT_PATH,
    access: 'viewer',
    cost: null,
    liveOnly: true,
    output: { content: C.AccountReply },
    doc: { operationId: 'account', summary: 'Plan, limits, prices, retention' },
    serve:
      ({ account: accounts, plans }) =>
      async ({ account, role }) => {
        const { retentionDaysMax } = accounts;
        const found = await accounts.get(account);
        return { body: ownAccountReply(found, await accounts.storage(account), { plans, retentionDaysMax }, role) };
      },
  }),
  route({
    method: 'PATCH',
    path: ACCOUNT_PATH,
    access: 'admin',
    liveOnly: true,
    input: { body: C.AccountChangeRequest },
    output: { content: C.AccountReply },
    doc: {
      operationId: 'changeAccount',
      summary: 'Change name, retention, trust in bounces, and whether members need a second factor',
      errors: [422],
    },
    serve:
      ({ account: accounts, plans }) =>
      async ({ account, role, actor, user }, { body }) => {
        const { retentionDaysMax } = accounts;
        const { name, retention_days: retentionDays, trust_bounces_days: trustBouncesDays } = body;
        const { second_factor_required: secondFactorRequired } = body;
        const change = { name, retentionDays, trustBouncesDays, secondFactorRequired };
        if (Object.values(change).every((value) => value === undefined))
          throw nothingToChange('name, retention_days, trust_bounces_days or second_factor_required');
        const changed = await accounts.change(account, change, actor, user);
        return {
          body: ownAccountReply(changed, await accounts.storage(account), { plans, retentionDaysMax }, role),
        };
      },
  }),
  route({
    method: 'POST',
    path: `${ACCOUNT_PATH}/delete`,
    access: 'owner',
    liveOnly: true,
    input: { body: C.AccountDeleteRequest },
    output: { content: Done },
    doc: {
      operationId: 'deleteAccount',
      summary: 'Delete the account and all its data permanently',
      errors: [403, 422, 429],
    },
    serve:
      ({ account: accounts, signIn }) =>
      async (context, { body: { name, ...proof } }) => {
        await accounts.remove(context.account, name, () =>
          signIn.confirm(browserRequest(context), context.user, proof, 'delete_account'),
        );
        return done('Account deleted.');
      },
  }),
  route({
    method: 'GET',
    path: `${ACCOUNT_PATH}/ledger`,
    access: 'viewer',
    cost: 'query',
    input: { query: C.LedgerQuery },
    output: { content: C.LedgerReply },
    doc: { operationId: 'ledger', summary: 'Every balance change, newest first' },
    serve:
      ({ account: accounts }) =>
      async ({ account }, { query }) => ({ body: ledgerReply(await accounts.ledger(account, ledgerPageOf(query))) }),
  }),
  route({
    method: 'GET',
    path: `${ACCOUNT_PATH}/ledger/days`,
    access: 'viewer',
    cost: 'query',
    input: { query: C.LedgerDaysQuery },
    output: { content: C.LedgerDaysReply },
    doc: { operationId: 'ledgerDays', summary: 'Grants, and charges and balance by day (UTC)' },
    serve:
      ({ account: accounts }) =>
      async ({ account }, { query: { days } }) => ({
        body: (await accounts.ledgerDays(account, days)) satisfies C.LedgerDaysReply,
      }),
  }),
  ...inEachForm((form, { content, id, title }) =>
    route({
      method: 'GET',
      path: `${ACCOUNT_PATH}/ledger.${form}`,
      access: 'viewer',
      cost: null,
      output: { content },
      doc: { operationId: `ledger${id}`, summary: `The whole ledger as ${title}` },
      serve:
        ({ account: accounts, costs }) =>
        async ({ account }) =>
          rowsFile(form, 'ledger', await costs.read('export', account, accounts.allLedgerRows(account)), LEDGER_FILE),
    }),
  ),
  route({
    method: 'GET',
    path: `${ACCOUNT_PATH}/members`,
    access: 'viewer',
    cost: null,
    liveOnly: true,
    output: { content: C.MembersReply },
    doc: { operationId: 'members', summary: 'Members and pending invitations' },
    serve:
      ({ members }) =>
      async ({ account, user }) => ({ body: membersReply(await members.list(account), user) }),
  }),
  route({
    method: 'PATCH',
    path: `${ACCOUNT_PATH}/members/:user`,
    access: 'admin',
    liveOnly: true,
    input: { body: C.RoleRequest },
    output: { content: Done },
    doc: {
      operationId: 'changeRole',
      summary: "Change a member's role; only owners grant or revoke the owner role, and the last owner keeps it",
      errors: [422],
    },
    serve:
      ({ members }) =>
      async (context, { params, body: { role } }) => {
        await members.setRole(acting(context), params.user, role);
        return done(`Role changed to ${role}.`);
      },
  }),
  route({
    method: 'DELETE',
    path: `${ACCOUNT_PATH}/members/:user`,
    access: 'viewer',
    liveOnly: true,
    output: { content: Done },
    doc: {
      operationId: 'removeMember',
      summary: 'Remove a member (admins; only owners remove owners) or leave the account (any member)',
      errors: [422],
    },
    serve:
      ({ members }) =>
      async (context, { params }) => {
        await members.remove(acting(context), params.user);
        return done(params.user === context.user.id ? 'You left the account.' : 'Member removed.');
      },
  }),
  route({
    method: 'POST',
    path: `${ACCOUNT_PATH}/invitations`,
    access: 'admin',
    liveOnly: true,
    input: { body: C.InviteRequest },
    output: { status: 201, content: C.InviteReply },
    doc: {
      operationId: 'invite',
      summary: 'Invite someone by email; the invitation is valid for seven days',
      errors: [422, 429],
    },
    serve:
      ({ members }) =>
      async (context, { body }) => ({ body: await members.invite(acting(context), body) }),
  }),
  route({
    method: 'DELETE',
    path: `${ACCOUNT_PATH}/invitations/:id`,
    access: 'admin',
    liveOnly: true,
    output: { content: Done },
    doc: { operationId: 'withdrawInvitation', summary: 'Revoke an invitation' },
    serve:
      ({ members }) =>
      async (context, { params }) => {
        await members.withdraw(acting(context), params.id);
        return done('Invitation revoked.');
      },
  }),
];
