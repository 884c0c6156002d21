import { t } from '@lingui/core/macro';
import { Anchor, Checkbox, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import type { ResetLookup } from '../api/schema.ts';
import { useRefreshSession, useSession } from '../api/session.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { HiddenUsername } from '../parts/email-field.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { focusOnMount } from '../parts/focus.ts';
import { Form } from '../parts/form.tsx';
import { FormResult } from '../parts/form-result.tsx';
import { InvalidLink } from '../parts/invalid-link.tsx';
import { type OpenedLink, useLink } from '../parts/link-token.ts';
import { Loading } from '../parts/loading.tsx';
import { Page } from '../parts/page.tsx';
import { NewPasswordField } from '../parts/password-field.tsx';
import { SignInLink } from '../parts/sign-in-link.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useLookup } from '../parts/use-lookup.ts';
import { useSubmit } from '../parts/use-submit.ts';

export function ResetPasswordPage() {
  const link = useLink('/reset-password');
  const [done, setDone] = useState(false);
  if (done)
    return (
      <Page title={t`Password set`}>
        <FormResult
          action={<SignInLink />}
        >{t`Your sessions have ended and your passkeys are removed, except those that you kept. Sign in with the new password.`}</FormResult>
      </Page>
    );
  if (link.token === null) return <NoLink link={link} />;
  return <Reset key={link.token} token={link.token} link={link} onDone={() => setDone(true)} />;
}

type Passkey = ResetLookup['passkeys'][number];
type Session = ResetLookup['sessions'][number];

/** IDs of what the user chose to keep. */
interface Kept {
  readonly passkeys: string[];
  readonly sessions: string[];
}
const NOTHING_KEPT: Kept = { passkeys: [], sessions: [] };

interface KeepProps {
  readonly found: ResetLookup;
  readonly kept: Kept;
  readonly onChange: (kept: Kept) => void;
}

/** What a new password ends and removes, each with a box to keep it. */
function KeepTables({ found, kept, onChange }: KeepProps) {
  const { passkeys, sessions } = found;
  return (
    <>
      {passkeys.length > 0 && (
        <Stack gap="xs">
          <Title order={2}>{t`Passkeys`}</Title>
          <Text size="sm">{t`Keep only those that you know. All others are removed.`}</Text>
          <DataTable
            label={t`Passkeys`}
            rows={passkeys}
            rowKey={(row) => row.id}
            columns={[
              keepColumn(
                (row: Passkey) => row.name,
                kept.passkeys,
                (passkeys) => onChange({ ...kept, passkeys }),
              ),
              { header: t`Name`, cell: (row) => <span className="anywhere">{row.name}</span> },
              { header: t`Added`, folds: true, cell: (row) => <Timestamp at={row.created_at} /> },
              {
                header: t`Last used`,
                cell: (row) => (row.last_used_at === null ? t`Not yet` : <Timestamp at={row.last_used_at} />),
              },
            ]}
          />
        </Stack>
      )}
      {sessions.length > 0 && (
        <Stack gap="xs">
          <Title order={2}>{t`Sessions`}</Title>
          <Text size="sm">{t`Keep only browsers that you know. All others are signed out.`}</Text>
          <DataTable
            label={t`Sessions`}
            rows={sessions}
            rowKey={(row) => row.id}
            columns={[
              keepColumn(
                (row: Session) => `${row.device}, ${row.ip ?? t`unknown address`}`,
                kept.sessions,
                (sessions) => onChange({ ...kept, sessions }),
              ),
              { header: t`Device`, cell: (row) => row.device },
              { header: t`IP address`, cell: (row) => <span className="anywhere">{row.ip ?? t`Unknown`}</span> },
              { header: t`Last seen`, cell: (row) => <Timestamp at={row.last_seen_at} /> },
            ]}
          />
        </Stack>
      )}
    </>
  );
}

function keepColumn<Row extends { readonly id: string }>(
  nameOf: (row: Row) => string,
  kept: readonly string[],
  onChange: (ids: string[]) => void,
): Column<Row> {
  return {
    header: t`Keep`,
    cell: (row) => (
      <Checkbox
        aria-label={t`Keep ${nameOf(row)}`}
        checked={kept.includes(row.id)}
        onChange={({ currentTarget: { checked } }) =>
          onChange(checked ? [...kept, row.id] : kept.filter((id) => id !== row.id))
        }
      />
    ),
  };
}

interface Props {
  readonly token: string;
  readonly link: OpenedLink;
  readonly onDone: () => void;
}

function Reset(props: Props) {
  const { token, link } = props;
  const lookUp = () => unwrap(api.POST('/dashboard/password/reset/lookup', { body: { token } }));
  const { found, error, retry } = useLookup(link, lookUp);
  if (found !== null) return <ResetForm {...props} found={found} />;
  return <Page title={t`Choose a password`}>{error ? <ErrorAlert error={error} onRetry={retry} /> : <Loading />}</Page>;
}

function NoLink({ link }: { link: OpenedLink }) {
  const { mail } = useSession();
  return (
    <InvalidLink link={link}>
      {mail ? (
        <Anchor component={Link} to="/sign-in" hash="forgot">{t`Request a new link`}</Anchor>
      ) : (
        <Text>{t`Ask the operator of this service for a new link.`}</Text>
      )}
    </InvalidLink>
  );
}

function ResetForm({ link, onDone, found }: Props & { found: ResetLookup }) {
  const [keep, setKeep] = useState(NOTHING_KEPT);
  const refresh = useRefreshSession();
  const submit = useSubmit(({ password = '' }) =>
    link.use(
      (token) => unwrap(api.POST('/dashboard/password/reset', { body: { token, password, keep } })),
      () => refresh().then(onDone),
    ),
  );
  return (
    <Page
      title={t`Choose a password`}
      about={t`This ends all your sessions and removes all your passkeys, except those that you keep.`}
    >
      <Form submit={submit} action={t`Set password`} main>
        <HiddenUsername email={found.email} />
        <NewPasswordField label={t`New password`} {...submit.field('password')} ref={focusOnMount} />
        <KeepTables found={found} kept={keep} onChange={setKeep} />
      </Form>
    </Page>
  );
}
