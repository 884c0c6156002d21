import { plural, t } from '@lingui/core/macro';
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
import { factText } from '../parts/fact-text.ts';
import { Form } from '../parts/form.tsx';
import { formatDate, formatNumber } from '../parts/format.ts';
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
    void notify(t`Saved. Takes effect with the next request.`);
    await client.invalidateQueries({ queryKey: OPERATOR_KEY });
  });
  return (
    <Box component="section" aria-labelledby="limits" maw={480}>
      <Title order={2} id="limits" mb="xs">{t`Plan and limits`}</Title>
      <Form submit={submit} action={t`Save`}>
        <TextInput
          {...submit.field('name')}
          label={t`Name`}
          defaultValue={account.name}
          maxLength={NAME_LENGTH.max}
          autoComplete="off"
        />
        <PlanSelect value={plan} onChange={setPlan} />
        <TextInput
          {...submit.field('rate_limit')}
          required={false}
          label={t`Requests per ${RATE_WINDOW}`}
          description={t`Leave empty to use the limit of the plan.`}
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
      <Title order={2} id="owner" mb="xs">{t`Invite the owner`}</Title>
      {!sent && (
        <Text
          size="sm"
          mb="xs"
        >{t`This account has no members yet. Its owner can invite others, and creates its API keys.`}</Text>
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
    void notify(suspended ? t`${name} resumed.` : t`${name} suspended.`);
    // The operator may be a member of the account.
    await Promise.all([
      client.invalidateQueries({ queryKey: OPERATOR_KEY }),
      client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
    ]);
  }
  return (
    <Box component="section" aria-labelledby="suspension">
      <Title order={2} id="suspension" mb="xs">
        {suspended ? t`Account suspended` : t`Suspend account`}
      </Title>
      <Text size="sm" mb="sm" maw={640}>
        {suspended
          ? t`Its API keys are rejected and it cannot verify addresses. All data is kept.`
          : t`Blocks verifications by this account. All data is kept.`}
      </Text>
      <Button onClick={open} {...(suspended ? {} : { color: 'red', variant: 'outline' })}>
        {suspended ? t`Resume this account` : t`Suspend this account`}
      </Button>
      <ConfirmDialog
        title={suspended ? t`Resume ${name}?` : t`Suspend ${name}?`}
        action={suspended ? t`Resume` : t`Suspend`}
        opened={opened}
        onClose={close}
        onConfirm={change}
      >
        {suspended
          ? t`Its API keys work again immediately, with the remaining balance.`
          : t`Its API keys are rejected immediately and its members can change nothing. They can still sign in, and read, download and delete everything; they see that the account is suspended. Nothing is deleted. You can resume the account at any time.`}
      </ConfirmDialog>
    </Box>
  );
}

const WAYS = [
  { value: 'grant', label: t`Grant` },
  { value: 'take', label: t`Deduct` },
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
    const done = `${plural(number, { one: '# credit', other: '# credits' })} ${takes ? 'deducted' : 'granted'}`;
    void notify(t`${done}. New balance: ${plural(after.balance, { one: '# credit', other: '# credits' })}.`);
    await client.invalidateQueries({ queryKey: OPERATOR_KEY });
  });
  return (
    <Box component="section" aria-labelledby="grant" maw={480}>
      <Title order={2} id="grant" mb="xs">{t`Adjust credits`}</Title>
      <Form submit={submit} action={takes ? t`Deduct` : t`Grant`}>
        <SegmentedControl fullWidth aria-label={t`Adjustment`} data={WAYS} value={way} onChange={setWay} />
        <TextInput
          {...submit.field('credits')}
          label={t`Credits`}
          description={
            takes
              ? t`At most ${plural(balance, { one: '# credit', other: '# credits' })}. The balance cannot go below zero.`
              : undefined
          }
          inputMode="numeric"
          maxLength={15}
          autoComplete="off"
        />
        <TextInput
          {...submit.field('note')}
          label={t`Note`}
          description={t`Shown to the account in its credit ledger.`}
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
    return <NotFound inside what={t`Account`} back={{ to: '/operator', label: t`All accounts` }} />;
  return (
    <Page
      title={query.data?.name ?? t`Account`}
      about={<Anchor component={Link} to="/operator" inherit>{t`All accounts`}</Anchor>}
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
            title={t`Verifications a day`}
            data={barsOf(chart, before)}
            beforeLabel={t`${lengthText(chart)} before`}
          />
        </>
      )}
    </QueryResult>
  );
}

type Member = Members['members'][number];
const MEMBERS: readonly Column<Member>[] = [
  {
    header: t`Member`,
    cell: ({ name, email }) => (
      <>
        <span className="anywhere">{name}</span>
        <Text size="xs" c="dimmed" className="anywhere">
          {email}
        </Text>
      </>
    ),
  },
  { header: t`Role`, cell: ({ role }) => ROLE_LABELS[role] },
  { header: t`Second factor`, cell: ({ second_factor }) => (second_factor ? t`Yes` : t`No`), folds: true },
  {
    header: t`Last active`,
    cell: ({ last_active_at }) => (last_active_at === null ? '–' : <Timestamp at={last_active_at} />),
    folds: true,
  },
];

function AccountMembers({ id }: { id: string }) {
  const query = useQuery(accountMembersQuery(id));
  return (
    <Panel title={t`Members`} flush="table">
      <QueryResult query={query}>
        {({ members }) => (
          <DataTable label={t`Members`} columns={MEMBERS} rows={members} rowKey={({ user_id }) => user_id} />
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
      <Title order={2} id="ledger" mb="xs">{t`Ledger`}</Title>
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
    `${planLabel(account.plan)}, ${factText(account.status)}`,
    `${plural(account.balance, { one: '# credit', other: '# credits' })}${account.locked > 0 ? t`, plus ${formatNumber(account.locked)} held` : ''}`,
    plural(account.members, { one: '# member', other: '# members' }),
    plural(account.keys, { one: '# API key', other: '# API keys' }),
    t`created ${formatDate(account.created_at)}`,
    account.id,
  ].join(' · ');
