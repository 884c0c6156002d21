import { Anchor, Box, Button, Divider, SegmentedControl, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { LEDGER_DAYS, NAME_LENGTH, NOTE_LENGTH, RATE_LIMIT } from '../../../src/kernel/facts/limits.ts';
import { isNotFound } from '../api/client.ts';
import type { Members, OperatorAccount } from '../api/schema.ts';
import { sessionQuery } from '../api/session.ts';
import { barsOf } from '../parts/chart/bars.ts';
import { BarsChart } from '../parts/chart/bars-chart.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Form } from '../parts/form.tsx';
import { formatDate, formatNumber, pluralize } from '../parts/format.ts';
import { InvitationForm } from '../parts/invitation-form.tsx';
import { NotFound } from '../parts/not-found.tsx';
import { notify } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { Panel } from '../parts/panel.tsx';
import { parseInteger } from '../parts/parse-integer.ts';
import { planLabel, RATE_WINDOW } from '../parts/plans.ts';
import { QueryResult } from '../parts/query-result.tsx';
import { ROLE_LABELS } from '../parts/roles.ts';
import { comparable, lengthText, periodBefore, rangeOf, USUAL } from '../parts/time.ts';
import { Timestamp } from '../parts/timestamp.tsx';
import { useSubmit } from '../parts/use-submit.ts';
import { LedgerByDay } from './ledger/by-day.tsx';
import { OperatorOnly } from './operator/operator-only.tsx';
import { PlanSelect } from './operator/plan-select.tsx';
import {
  accountLedgerQuery,
  accountMembersQuery,
  accountQuery,
  accountUsageQuery,
  changeAccount,
  grant,
  inviteOwner,
  OPERATOR_KEY,
} from './operator/queries.ts';
import { KeyFigures } from './overview/figures.tsx';

function LimitsForm({ account }: { account: OperatorAccount }) {
  const { id, rate_limit, rate_limit_set } = account;
  const client = useQueryClient();
  const [plan, setPlan] = useState(account.plan);
  const submit = useSubmit(async ({ name = '', rate_limit = '' }) => {
    await changeAccount(id, {
      name: name.trim(),
      plan,
      rate_limit: rate_limit.trim() === '' ? null : parseInteger(rate_limit, 'rate_limit', RATE_LIMIT.min),
    });
    void notify('Saved. Takes effect with the next request.');
    await client.invalidateQueries({ queryKey: OPERATOR_KEY });
  });
  return (
    <Box component="section" aria-labelledby="limits" maw={480}>
      <Title order={2} id="limits" mb="xs">
        Plan and limits
      </Title>
      <Form submit={submit} action="Save">
        <TextInput
          {...submit.field('name')}
          label="Name"
          defaultValue={account.name}
          maxLength={NAME_LENGTH.max}
          autoComplete="off"
        />
        <PlanSelect value={plan} onChange={setPlan} />
        <TextInput
          {...submit.field('rate_limit')}
          required={false}
          label={`Requests per ${RATE_WINDOW}`}
          description="Leave empty to use the limit of the plan."
          placeholder={rate_limit_set ? '' : String(rate_limit)}
          defaultValue={rate_limit_set ? String(rate_limit) : ''}
          inputMode="numeric"
          maxLength={15}
          autoComplete="off"
        />
      </Form>
    </Box>
  );
}

/** Invites the first owner of an account without members. */
function OwnerForm({ account }: { account: string }) {
  const [sent, setSent] = useState(false);
  return (
    <Box component="section" aria-labelledby="owner" maw={480}>
      <Title order={2} id="owner" mb="xs">
        Invite the owner
      </Title>
      {!sent && (
        <Text size="sm" mb="xs">
          This account has no members yet. Its owner can invite others, and creates its API keys.
        </Text>
      )}
      <InvitationForm
        send={async (email) => {
          const invited = await inviteOwner(account, { email });
          setSent(true);
          return invited;
        }}
      />
    </Box>
  );
}

/** Suspends or resumes an account, after confirmation. */
function Suspension({ account: { id, name, status } }: { account: OperatorAccount }) {
  const client = useQueryClient();
  const [opened, { open, close }] = useDisclosure();
  const suspended = status === 'suspended';
  async function change() {
    await changeAccount(id, { status: suspended ? 'active' : 'suspended' });
    void notify(suspended ? `${name} resumed.` : `${name} suspended.`);
    // The operator may be a member of the account.
    await Promise.all([
      client.invalidateQueries({ queryKey: OPERATOR_KEY }),
      client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
    ]);
  }
  return (
    <Box component="section" aria-labelledby="suspension">
      <Title order={2} id="suspension" mb="xs">
        {suspended ? 'Account suspended' : 'Suspend account'}
      </Title>
      <Text size="sm" mb="sm" maw={640}>
        {suspended
          ? 'Its API keys are rejected and it cannot verify addresses. All data is kept.'
          : 'Blocks verifications by this account. All data is kept.'}
      </Text>
      <Button onClick={open} {...(suspended ? {} : { color: 'red', variant: 'outline' })}>
        {suspended ? 'Resume this account' : 'Suspend this account'}
      </Button>
      <ConfirmDialog
        title={suspended ? `Resume ${name}?` : `Suspend ${name}?`}
        action={suspended ? 'Resume' : 'Suspend'}
        opened={opened}
        onClose={close}
        onConfirm={change}
      >
        {suspended
          ? 'Its API keys work again immediately, with the remaining balance.'
          : 'Its API keys are rejected immediately and its members can change nothing. They can still sign in, and read, download and delete everything; they see that the account is suspended. Nothing is deleted. You can resume the account at any time.'}
      </ConfirmDialog>
    </Box>
  );
}

const WAYS = [
  { value: 'grant', label: 'Grant' },
  { value: 'take', label: 'Deduct' },
];

/** Grants or deducts credits, with a note for the ledger. */
function GrantForm({ account: { id, balance } }: { account: OperatorAccount }) {
  const client = useQueryClient();
  const [way, setWay] = useState('grant');
  const takes = way === 'take';
  const submit = useSubmit(async ({ credits = '', note = '' }) => {
    const number = parseInteger(credits, 'credits', 1);
    const after = await grant(id, { credits: takes ? -number : number, note: note.trim() });
    submit.form.current?.reset();
    const done = `${pluralize(number, 'credit')} ${takes ? 'deducted' : 'granted'}`;
    void notify(`${done}. New balance: ${pluralize(after.balance, 'credit')}.`);
    await client.invalidateQueries({ queryKey: OPERATOR_KEY });
  });
  return (
    <Box component="section" aria-labelledby="grant" maw={480}>
      <Title order={2} id="grant" mb="xs">
        Adjust credits
      </Title>
      <Form submit={submit} action={takes ? 'Deduct' : 'Grant'}>
        <SegmentedControl fullWidth aria-label="Adjustment" data={WAYS} value={way} onChange={setWay} />
        <TextInput
          {...submit.field('credits')}
          label="Credits"
          description={takes ? `At most ${pluralize(balance, 'credit')}. The balance cannot go below zero.` : undefined}
          inputMode="numeric"
          maxLength={15}
          autoComplete="off"
        />
        <TextInput
          {...submit.field('note')}
          label="Note"
          description="Shown to the account in its credit ledger."
          maxLength={NOTE_LENGTH.max}
          autoComplete="off"
        />
      </Form>
    </Box>
  );
}

const route = getRouteApi('/inside/operator/accounts/$id');

export const OperatorAccountPage = () => (
  <OperatorOnly>
    <Account id={route.useParams().id} />
  </OperatorOnly>
);

function Account({ id }: { id: string }) {
  const query = useQuery(accountQuery(id));
  const isEmpty = query.data?.members === 0;
  if (isNotFound(query.error))
    return <NotFound inside what="Account" back={{ to: '/operator', label: 'All accounts' }} />;
  return (
    <Page
      title={query.data?.name ?? 'Account'}
      about={
        <Anchor component={Link} to="/operator" inherit>
          All accounts
        </Anchor>
      }
    >
      <QueryResult query={query}>
        {(account) => (
          <>
            <Text size="sm">{describeAccount(account)}</Text>
            {isEmpty ? <OwnerForm account={id} /> : <AccountMembers id={id} />}
            <AccountUsage id={id} />
            <LimitsForm key={`${account.name} ${account.plan} ${account.rate_limit}`} account={account} />
            <Divider />
            <GrantForm account={account} />
            <Divider />
            <Suspension account={account} />
            <Divider />
            <AccountLedger id={id} />
          </>
        )}
      </QueryResult>
    </Page>
  );
}

/** What was verified in the last 30 days, beside the 30 before. */
function AccountUsage({ id }: { id: string }) {
  const range = rangeOf(USUAL, Date.now());
  const query = useQuery(accountUsageQuery(id, range));
  const before = comparable(useQuery(accountUsageQuery(id, periodBefore(range))).data);
  return (
    <QueryResult query={query}>
      {(chart) => (
        <>
          <KeyFigures chart={chart} before={before} rows={null} />
          <BarsChart
            title="Verifications a day"
            data={barsOf(chart, before)}
            beforeLabel={`${lengthText(chart)} before`}
          />
        </>
      )}
    </QueryResult>
  );
}

type Member = Members['members'][number];
const MEMBERS: readonly Column<Member>[] = [
  {
    header: 'Member',
    cell: ({ name, email }) => (
      <>
        <span className="anywhere">{name}</span>
        <Text size="xs" c="dimmed" className="anywhere">
          {email}
        </Text>
      </>
    ),
  },
  { header: 'Role', cell: ({ role }) => ROLE_LABELS[role] },
  { header: 'Second factor', cell: ({ second_factor }) => (second_factor ? 'Yes' : 'No'), folds: true },
  {
    header: 'Last active',
    cell: ({ last_active_at }) => (last_active_at === null ? '–' : <Timestamp at={last_active_at} />),
    folds: true,
  },
];

function AccountMembers({ id }: { id: string }) {
  const query = useQuery(accountMembersQuery(id));
  return (
    <Panel title="Members" flush="table">
      <QueryResult query={query}>
        {({ members }) => (
          <DataTable label="Members" columns={MEMBERS} rows={members} rowKey={({ user_id }) => user_id} />
        )}
      </QueryResult>
    </Panel>
  );
}

function AccountLedger({ id }: { id: string }) {
  const [days, setDays] = useState<number>(LEDGER_DAYS.default);
  const query = useQuery(accountLedgerQuery(id, days));
  return (
    <Box component="section" aria-labelledby="ledger">
      <Title order={2} id="ledger" mb="xs">
        Ledger
      </Title>
      <QueryResult query={query}>
        {(found) => (
          <Stack>
            <LedgerByDay found={found} days={days} onDays={setDays} />
          </Stack>
        )}
      </QueryResult>
    </Box>
  );
}

const describeAccount = (account: OperatorAccount): string =>
  [
    `${planLabel(account.plan)}, ${account.status}`,
    `${pluralize(account.balance, 'credit')}${account.locked > 0 ? `, plus ${formatNumber(account.locked)} held` : ''}`,
    pluralize(account.members, 'member'),
    pluralize(account.keys, 'API key'),
    `created ${formatDate(account.created_at)}`,
    account.id,
  ].join(' · ');
