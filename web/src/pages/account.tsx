import { plural, t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Anchor, Box, Button, Divider, List, Text, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { NAME_LENGTH, RETENTION_DAYS } from '../../../src/kernel/facts/limits.ts';
import { heldPrice } from '../../../src/kernel/facts/plans.ts';
import { accountQuery, changeAccount } from '../api/account.ts';
import { api, unwrap } from '../api/client.ts';
import type { Account } from '../api/schema.ts';
import { sessionQuery, useAccount, useHasRole, useRefreshSession, useSession } from '../api/session.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { DescriptionItem, DescriptionList } from '../parts/description-list.tsx';
import { Form } from '../parts/form.tsx';
import { formatDate, formatNumber } from '../parts/format.ts';
import { notify } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { parseInteger } from '../parts/parse-integer.ts';
import { availableWith, creditParts, planLabel, RATE_WINDOW } from '../parts/plans.ts';
import { ProviderConfirmation, useProviderConfirmed } from '../parts/provider-confirmation.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { ROLE_LABELS } from '../parts/roles.ts';
import { useDialogState } from '../parts/use-dialog-state.ts';
import { useSubmit } from '../parts/use-submit.ts';
import { formatBytes } from './lists/format-bytes.ts';

export function AccountPage() {
  const { id } = useAccount();
  const isOwner = useHasRole('owner');
  const query = useQuery(accountQuery(id));
  return (
    <Page title={t`Account`} about={t`Plan, prices, balance and settings.`}>
      <QueryResult query={query}>
        {(account) => (
          <>
            <PlanDetails account={account} />
            <Divider />
            <Settings account={account} />
            <Divider />
            <SecondFactor account={account} />
            {isOwner && (
              <>
                <Divider />
                <DeleteAccount account={account} />
              </>
            )}
          </>
        )}
      </QueryResult>
    </Page>
  );
}

/** For owners only. */
function DeleteAccount({ account }: { account: Account }) {
  const { id, name, credits } = account;
  const by = useProviderConfirmed('delete_account');
  const [opened, { open, close }] = useDisclosure(by.confirmed);
  const refresh = useRefreshSession();
  const navigate = useNavigate();
  const { user, accounts } = useSession();
  // Operators keep their user.
  const losesSignIn = accounts.length === 1 && user?.operator !== true;

  async function remove(password: string) {
    const path = '/dashboard/accounts/{account}/delete';
    const proof = by.provider === null ? { password } : by.use();
    await unwrap(api.POST(path, { params: { path: { account: id } }, body: { name, ...proof } }));
    await refresh();
    await navigate({ to: '/' });
  }

  return (
    <Box component="section" aria-labelledby="danger">
      <Title order={2} id="danger" mb="xs">{t`Delete account`}</Title>
      <Text
        size="sm"
        mb="sm"
        maw={640}
      >{t`Permanently deletes the account with its API keys, log, filters, credits and members. This cannot be undone.`}</Text>
      <Button color="red" variant="outline" onClick={open}>{t`Delete this account`}</Button>
      <ConfirmDialog
        title={t`Delete ${name}?`}
        action={t`Delete permanently`}
        typed={name}
        password={by.provider === null}
        blocked={by.provider !== null && !by.confirmed}
        opened={opened}
        onClose={close}
        onConfirm={remove}
      >
        <Text inherit mb="xs">{t`This is deleted immediately and permanently:`}</Text>
        <List size="sm" spacing={4}>
          <List.Item>{t`All API keys. Requests that use them are rejected.`}</List.Item>
          <List.Item>{t`The verification log, the usage statistics and the audit log.`}</List.Item>
          <List.Item>{t`All filters. Download them first if you may need them again.`}</List.Item>
          <List.Item>
            <Trans>
              The remaining balance of{' '}
              <Plural value={credits.remaining + credits.locked} one="# credit" other="# credits" /> and the credit
              ledger.
            </Trans>
          </List.Item>
          <List.Item>
            <Trans>
              All memberships. Users who are not members of another account can no longer sign in
              {losesSignIn ? t`; this includes you` : ''}.
            </Trans>
          </List.Item>
        </List>
        {by.provider !== null && (
          <Box mt="sm">
            <ProviderConfirmation action="delete_account" by={by} />
          </Box>
        )}
      </ConfirmDialog>
    </Box>
  );
}

interface Change {
  readonly name: string;
  readonly days: number;
}

/** Name and retention. Editable by admins only. */
function Settings({ account }: { account: Account }) {
  const isAdmin = useHasRole('admin');
  return (
    <Box component="section" aria-labelledby="settings" maw={480}>
      <Title order={2} id="settings" mb="xs">{t`Name and retention`}</Title>
      {isAdmin ? (
        <SettingsForm key={`${account.name} ${account.retention_days}`} account={account} />
      ) : (
        <Text size="sm">
          <Trans>
            {account.name}. Verifications are kept for{' '}
            <Plural value={account.retention_days} one="# day" other="# days" />, then deleted. Only admins and owners
            can change this.
          </Trans>
        </Text>
      )}
    </Box>
  );
}

function SettingsForm({ account }: { account: Account }) {
  const { id, name, retention_days, retention_days_max } = account;
  const client = useQueryClient();
  const confirmation = useDialogState<Change>();

  async function save(change: Change) {
    // The maximum is stored as null, so that it follows the server's setting.
    const days = change.days === retention_days_max ? null : change.days;
    await changeAccount(id, {
      ...(change.name === name ? {} : { name: change.name }),
      ...(change.days === retention_days ? {} : { retention_days: days }),
    });
    void notify(t`Saved.`);
    await Promise.all([
      client.invalidateQueries({ queryKey: ['account', id] }),
      client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
    ]);
  }
  const submit = useSubmit(async (values) => {
    const change = {
      name: (values.name ?? '').trim(),
      days: parseInteger(values.retention_days ?? '', 'retention_days', RETENTION_DAYS.min),
    };
    if (change.name === name && change.days === retention_days) return void notify(t`No changes to save.`);
    if (change.days < retention_days) confirmation.open(change);
    else await save(change);
  });

  return (
    <>
      <Form submit={submit} action={t`Save`}>
        <TextInput
          {...submit.field('name')}
          label={t`Name`}
          defaultValue={name}
          maxLength={NAME_LENGTH.max}
          autoComplete="off"
        />
        <TextInput
          {...submit.field('retention_days')}
          label={t`Retention (days)`}
          description={t`${RETENTION_DAYS.min} to ${retention_days_max}. Reducing it deletes older verifications.`}
          defaultValue={String(retention_days)}
          inputMode="numeric"
          maxLength={6}
          autoComplete="off"
        />
      </Form>
      <ConfirmDialog
        title={t`Reduce the retention period?`}
        action={t`Delete older verifications`}
        opened={confirmation.opened}
        onClose={confirmation.close}
        onConfirm={async () => confirmation.item && save(confirmation.item)}
      >
        <Trans>
          Verifications older than{' '}
          <Plural value={confirmation.item?.days ?? retention_days} one="# day" other="# days" /> are deleted from the
          log within about a minute, including addresses and replies. Increasing the retention period later does not
          restore them. Charges and usage statistics are kept.
        </Trans>
      </ConfirmDialog>
    </>
  );
}

/** Plan, prices and balance. */
function PlanDetails({ account }: { account: Account }) {
  const { plan, rate_limit, smtp_available, upgrade_required, prices, credits, storage, created_at, id, role } =
    account;
  const { list_bytes, filters } = storage;
  return (
    <Box component="section" aria-labelledby="plan">
      <Title order={2} id="plan" mb="xs">{t`Plan and limits`}</Title>
      <DescriptionList>
        <DescriptionItem term={t`Plan`}>{planLabel(plan)}</DescriptionItem>
        <DescriptionItem term={t`Rate limit`}>
          <Trans>
            <Plural value={rate_limit} one="# request" other="# requests" /> per {RATE_WINDOW}, shared by all API keys
            and members. Requests over the limit get 429 until the next window starts.
          </Trans>
        </DescriptionItem>
        <DescriptionItem term={t`Storage`}>
          <Trans>
            {formatBytes(list_bytes.used)} of {formatBytes(list_bytes.limit)} for lists and their results, and{' '}
            {formatNumber(filters.used)} of <Plural value={filters.limit} one="# filter" other="# filters" />.
          </Trans>
        </DescriptionItem>
        <DescriptionItem term="mx">
          <Trans>
            <Plural value={prices.mx} one="# credit" other="# credits" /> per verification. Checks syntax, filters,
            disposable lists, domain and mail servers.
          </Trans>
        </DescriptionItem>
        <DescriptionItem term="smtp">
          {smtp_available
            ? t`${plural(prices.smtp, { one: '# credit', other: '# credits' })} if the mail server answers for the mailbox, otherwise ${plural(prices.unknown, { one: '# credit', other: '# credits' })}. Needs a balance of at least ${plural(heldPrice({ prices }, 'smtp', false), { one: '# credit', other: '# credits' })}.`
            : t`Not included in this plan.${availableWith(upgrade_required)}`}
        </DescriptionItem>
        <DescriptionItem term={t`Your filters`}>{t`0 credits for an address that a filter blocks.`}</DescriptionItem>
        <DescriptionItem term={t`Available`}>
          {credits.unlimited
            ? t`Unlimited credits`
            : plural(credits.remaining, { one: '# credit', other: '# credits' })}
          {credits.allowance > 0 && !credits.unlimited && ` (${creditParts(credits)})`}
          {credits.locked > 0 && t`, ${formatNumber(credits.locked)} more are held for running verifications`}.{' '}
          <Anchor component={Link} to="/account/ledger" inherit underline="always">{t`Credit ledger`}</Anchor>.
        </DescriptionItem>
        <DescriptionItem term={t`Created`}>{formatDate(created_at)}</DescriptionItem>
        <DescriptionItem term={t`Your role`}>{ROLE_LABELS[role]}</DescriptionItem>
        <DescriptionItem term="ID">
          <Text component="code" inherit ff="monospace" className="anywhere">
            {id}
          </Text>
        </DescriptionItem>
      </DescriptionList>
    </Box>
  );
}

/** Whether members need a second factor. Editable by admins only, and turned on only in a session begun with one. */
function SecondFactor({ account }: { account: Account }) {
  const { user } = useSession();
  const isAdmin = useHasRole('admin');
  const required = account.second_factor_required;
  return (
    <Box component="section" aria-labelledby="second-factor" maw={640}>
      <Title order={2} id="second-factor" mb="xs">{t`Second factor`}</Title>
      <Text size="sm" mb="sm">
        {required
          ? t`Members can use this account only after signing in with a code of an authenticator app or with a passkey.`
          : t`Members can use this account with a password alone.`}
        {!isAdmin && t` Only admins and owners can change this.`}
      </Text>
      {isAdmin &&
        (required || user?.with_second_factor ? (
          <SecondFactorChange account={account} />
        ) : (
          <Text size="sm">
            <Trans>
              To require a second factor of all members,{' '}
              <Anchor component={Link} to="/security" inherit underline="always">
                set up an authenticator app
              </Anchor>{' '}
              or sign in with a passkey first.
            </Trans>
          </Text>
        ))}
    </Box>
  );
}

function SecondFactorChange({ account: { id, name, second_factor_required: required } }: { account: Account }) {
  const client = useQueryClient();
  const [opened, { open, close }] = useDisclosure();
  async function change() {
    await changeAccount(id, { second_factor_required: !required });
    await Promise.all([
      client.invalidateQueries({ queryKey: ['account', id] }),
      client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
    ]);
    void notify(required ? t`The second factor is optional.` : t`A second factor is required.`);
  }
  const action = required ? t`Make it optional` : t`Require a second factor`;
  return (
    <>
      <Button onClick={open}>{action}</Button>
      <ConfirmDialog
        title={required ? t`Make the second factor optional?` : t`Require a second factor in ${name}?`}
        action={action}
        opened={opened}
        onClose={close}
        onConfirm={change}
      >
        {required
          ? t`Members can then use this account with a password alone.`
          : t`Members who signed in without one are locked out immediately, until they set one up and sign in with it. API keys keep working.`}
      </ConfirmDialog>
    </>
  );
}
