import type { Static } from 'typebox';
import * as C from '../../contract/dashboard/account.ts';
import { Done } from '../../contract/dashboard/session.ts';
import { PAGE_SIZE } from '../../contract/dashboard/words.ts';
import { toIso } from '../../kernel/clock.ts';
import { PLANS, PRICE } from '../../kernel/plans.ts';
import type { Account, KeysetPage, LedgerRow, PageAsk, TrailEntry } from '../../service/accounts.ts';
import type { Acting, Role } from '../../service/members.ts';
import { nothingToChange } from './input.ts';
import { type AccountVisit, type DashboardRow, row } from './row.ts';

const ACCOUNT = '/dashboard/accounts/:account';

const accountReply = (a: Account, retentionDaysMax: number, role: Role): C.AccountReply => ({
  id: a.id,
  name: a.name,
  plan: a.plan,
  status: a.status,
  rate_limit: a.rateLimit,
  smtp_available: PLANS[a.plan].smtp,
  prices: { mx: PRICE.mx, smtp: PRICE.smtp },
  credits: { remaining: a.balance, locked: a.locked },
  retention_days: a.retentionDays,
  retention_days_max: retentionDaysMax,
  created_at: toIso(a.createdAt),
  role,
});

export const pageOf = ({ before, limit }: Static<typeof C.PageQuery>): PageAsk => ({
  before: before ?? null,
  limit: limit ?? PAGE_SIZE,
});

export const ledgerReply = ({ rows, next }: KeysetPage<LedgerRow>): Static<typeof C.LedgerReply> => ({
  rows: rows.map((r) => ({
    id: r.id,
    kind: r.kind,
    amount: r.amount,
    charged: r.charged,
    verification_id: r.verificationId,
    note: r.note,
    created_at: toIso(r.createdAt),
  })),
  next,
});

const trailReply = ({ rows, next }: KeysetPage<TrailEntry>): C.TrailReply => ({
  entries: rows.map(({ id, at, actor, action, target, detail }) => ({
    id,
    at: toIso(at),
    actor: { kind: actor.kind, name: actor.name },
    ip: actor.ip,
    action,
    target,
    detail: { ...detail },
  })),
  next,
});

const acting = ({ account, user, role, actor }: AccountVisit): Acting => ({ account, user: user.id, role, actor });
const done = (message: string) => ({ body: { status: 'success', message } });

/** The account itself: plan, ledger, people, audit log, its end. */
export const ACCOUNT_ROWS: readonly DashboardRow[] = [
  row({
    method: 'GET',
    path: ACCOUNT,
    who: 'member',
    doc: { operationId: 'account', summary: 'Plan, limits, prices, retention', reply: { schema: C.AccountReply } },
    serve:
      ({ account: accounts }) =>
      async ({ account, role }) => ({
        body: accountReply(await accounts.get(account), accounts.retentionDaysMax, role),
      }),
  }),
  row({
    method: 'PATCH',
    path: ACCOUNT,
    who: 'admin',
    doc: {
      operationId: 'changeAccount',
      summary: 'Change name and retention',
      body: C.AccountChangeRequest,
      reply: { schema: C.AccountReply },
      errors: [422],
    },
    serve:
      ({ account: accounts }) =>
      async ({ account, role, actor }, { body: { name, retention_days: retentionDays } }) => {
        if (name === undefined && retentionDays === undefined) throw nothingToChange('name or retention_days');
        const changed = await accounts.change(account, { name, retentionDays }, actor);
        return { body: accountReply(changed, accounts.retentionDaysMax, role) };
      },
  }),
  row({
    method: 'POST',
    path: `${ACCOUNT}/delete`,
    who: 'owner',
    doc: {
      operationId: 'deleteAccount',
      summary: 'Delete the account and everything in it, for good',
      body: C.AccountDeleteRequest,
      reply: { schema: Done },
      errors: [422, 429],
    },
    serve:
      ({ account: accounts }) =>
      async (visit, { body }) => {
        await accounts.remove(acting(visit), body, visit.ip);
        return done('The account is deleted.');
      },
  }),
  row({
    method: 'GET',
    path: `${ACCOUNT}/ledger`,
    who: 'member',
    doc: {
      operationId: 'ledger',
      summary: 'Every change of the balance, newest first',
      query: C.PageQuery,
      reply: { schema: C.LedgerReply },
    },
    serve:
      ({ account: accounts }) =>
      async ({ account }, { query }) => ({ body: ledgerReply(await accounts.ledger(account, pageOf(query))) }),
  }),
  row({
    method: 'GET',
    path: `${ACCOUNT}/members`,
    who: 'member',
    doc: {
      operationId: 'members',
      summary: 'Members, and invitations that are open',
      reply: { schema: C.MembersReply },
    },
    serve:
      ({ members }) =>
      async ({ account, user }) => {
        const { members: all, invitations } = await members.list(account);
        return {
          body: {
            members: all.map((m) => ({
              user_id: m.userId,
              name: m.name,
              email: m.email,
              role: m.role,
              second_factor: m.secondFactor,
              created_at: toIso(m.createdAt),
              is_you: m.userId === user.id,
            })),
            invitations: invitations.map((i) => ({
              id: i.id,
              email: i.email,
              role: i.role,
              invited_by: i.invitedBy,
              created_at: toIso(i.createdAt),
              expires_at: toIso(i.expiresAt),
            })),
          } satisfies C.MembersReply,
        };
      },
  }),
  row({
    method: 'PATCH',
    path: `${ACCOUNT}/members/:user`,
    who: 'admin',
    doc: {
      operationId: 'changeRole',
      summary: "Change a member's role; only owners make and unmake owners, and one always stays",
      body: C.RoleRequest,
      reply: { schema: Done },
      errors: [422],
    },
    serve:
      ({ members }) =>
      async (visit, { params, body: { role } }) => {
        await members.setRole(acting(visit), params.user!, role);
        return done(`The role is ${role} now.`);
      },
  }),
  row({
    method: 'DELETE',
    path: `${ACCOUNT}/members/:user`,
    who: 'member',
    doc: {
      operationId: 'removeMember',
      summary: 'Remove a member (admins; owners only by owners), or leave (anybody)',
      reply: { schema: Done },
      errors: [422],
    },
    serve:
      ({ members }) =>
      async (visit, { params }) => {
        await members.remove(acting(visit), params.user!);
        return done(params.user === visit.user.id ? 'You left the account.' : 'The member was removed.');
      },
  }),
  row({
    method: 'POST',
    path: `${ACCOUNT}/invitations`,
    who: 'admin',
    doc: {
      operationId: 'invite',
      summary: 'Invite somebody for seven days',
      body: C.InviteRequest,
      reply: { status: 201, schema: C.InviteReply },
      errors: [422, 429],
    },
    serve:
      ({ members }) =>
      async (visit, { body }) => ({ body: await members.invite(acting(visit), body) }),
  }),
  row({
    method: 'DELETE',
    path: `${ACCOUNT}/invitations/:id`,
    who: 'admin',
    doc: { operationId: 'withdrawInvitation', summary: 'Withdraw an invitation', reply: { schema: Done } },
    serve:
      ({ members }) =>
      async (visit, { params }) => {
        await members.withdraw(acting(visit), params.id!);
        return done('The invitation was withdrawn.');
      },
  }),
  row({
    method: 'GET',
    path: `${ACCOUNT}/trail`,
    who: 'admin',
    doc: {
      operationId: 'trail',
      summary: 'Who did what, from where; newest first',
      query: C.PageQuery,
      reply: { schema: C.TrailReply },
    },
    serve:
      ({ account: accounts }) =>
      async ({ account }, { query }) => ({ body: trailReply(await accounts.trail(account, pageOf(query))) }),
  }),
];
