import { plural, t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Alert, Button, Checkbox, Group, Modal, Radio, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { createMailvet, type Verification } from '../../../../sdk/src/index.ts';
import { KEY_GRACE_SECONDS, KEY_MONTHLY_CREDITS, NAME_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import { DEFAULT_LEVEL, heldPrice } from '../../../../src/kernel/facts/plans.ts';
import { DEFAULT_SCOPES, KEY_SCOPES } from '../../../../src/kernel/facts/scopes.ts';
import { ipMatcher } from '../../../../src/kernel/ip.ts';
import { api, unwrap } from '../../api/client.ts';
import { rememberKey } from '../../api/remembered-key.ts';
import type { DashboardKey } from '../../api/schema.ts';
import { useAccount, useSession } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { curl } from '../../parts/curl.ts';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { focusOnMount } from '../../parts/focus.ts';
import { DialogForm } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { parseInteger } from '../../parts/parse-integer.ts';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { useFields } from '../../parts/use-fields.ts';
import { headline, wordsOf } from '../../parts/verdict/reasons.ts';
import { parseEntries } from './entries.ts';

/**
 * The IP allowlist of a key. Only warns if it excludes the user's own address, since the list of a server does so on
 * purpose.
 */
function AddressesField(props: { value: string; onChange: (value: string) => void; error: string | undefined }) {
  const { value, onChange, error } = props;
  const { ip } = useSession();
  const entries = parseEntries(value);
  const isIncluded = ipMatcher(entries)(ip);
  const add = () => onChange([...entries, ip].join('\n'));
  return (
    <div>
      <Textarea
        label={t`Allowed IP addresses`}
        description={t`IP addresses and CIDR blocks, separated by commas or new lines. Leave empty to allow any address.`}
        placeholder={'192.0.2.10\n2001:db8::/48'}
        autosize
        minRows={3}
        maxRows={10}
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={error}
      />
      <Group gap="xs" mt="xs">
        <Button size="xs" onClick={add} disabled={isIncluded}>{t`Add my IP`}</Button>
        <Text size="sm" c="dimmed" className="anywhere">
          {ip}
        </Text>
      </Group>
      <div role="status">
        {entries.length > 0 && !isIncluded && (
          <Alert color="yellow" variant="outline" mt="xs" title={t`Your own IP address is not on this list`}>
            <Trans>Requests with this key from {ip} would be rejected (403).</Trans>
          </Alert>
        )}
      </div>
    </div>
  );
}

type KeyLimits = Pick<DashboardKey, 'expires_at' | 'scopes' | 'budget'>;

/** As the fields have them. */
interface LimitDraft {
  readonly expires: string;
  readonly scopes: DashboardKey['scopes'];
  readonly credits: string;
}

const dateOf = (at: string | null): string => at?.slice(0, 10) ?? '';

const draftOf = ({ expires_at, scopes, budget }: KeyLimits): LimitDraft => ({
  expires: dateOf(expires_at),
  scopes,
  credits: budget === null ? '' : String(budget.monthly_credits),
});

/** For the request. An expiry that was not touched stays to the millisecond. Throws ApiError for the budget. */
const limitsOf = ({ expires, scopes, credits }: LimitDraft, { expires_at }: KeyLimits) => ({
  expires_at: expires === dateOf(expires_at) ? expires_at : expires || null,
  scopes,
  monthly_credits: credits.trim() === '' ? null : parseInteger(credits, 'monthly_credits', KEY_MONTHLY_CREDITS.min),
});

/** Expiry, scopes and monthly budget of a key. */
function LimitFields(props: {
  draft: LimitDraft;
  onChange: (draft: LimitDraft) => void;
  errorOf: (field: 'expires_at' | 'scopes' | 'monthly_credits') => string | undefined;
}) {
  const { draft, onChange, errorOf } = props;
  return (
    <>
      <TextInput
        type="date"
        label={t`Expiry date`}
        description={t`The key is rejected from the beginning of this day (UTC). Leave empty for a key that does not expire.`}
        value={draft.expires}
        onChange={(event) => onChange({ ...draft, expires: event.currentTarget.value })}
        error={errorOf('expires_at')}
      />
      <Checkbox.Group
        label={t`Scopes`}
        description={t`What the key may be used for.`}
        value={[...draft.scopes]}
        onChange={(chosen) => onChange({ ...draft, scopes: KEY_SCOPES.filter((scope) => chosen.includes(scope)) })}
        error={errorOf('scopes')}
      >
        <Group gap="md" mt={6}>
          {KEY_SCOPES.map((scope) => (
            <Checkbox key={scope} value={scope} label={scope} />
          ))}
        </Group>
      </Checkbox.Group>
      <TextInput
        label={t`Monthly budget`}
        description={t`Credits that the key may spend in a calendar month (UTC). Leave empty for no budget.`}
        inputMode="numeric"
        autoComplete="off"
        value={draft.credits}
        onChange={(event) => onChange({ ...draft, credits: event.currentTarget.value })}
        error={errorOf('monthly_credits')}
      />
    </>
  );
}

type KeySettings = Pick<DashboardKey, 'name' | 'allow_ips' | 'expires_at' | 'scopes' | 'budget'>;
type KeyRequest = Pick<KeySettings, 'name' | 'allow_ips'> & ReturnType<typeof limitsOf>;

/** Settings of a new or existing key. */
function SettingsForm(props: {
  initial: KeySettings;
  action: string;
  onSave: (settings: KeyRequest) => Promise<unknown>;
  onCancel: () => void;
}) {
  const { initial, action, onSave, onCancel } = props;
  const [name, setName] = useState(initial.name);
  const [addresses, setAddresses] = useState(initial.allow_ips.join('\n'));
  const [limits, setLimits] = useState(draftOf(initial));
  const values = {
    name,
    allow_ips: addresses,
    expires_at: limits.expires,
    scopes: limits.scopes,
    monthly_credits: limits.credits,
  };
  const fields = useFields({
    values,
    missing: { name: name.trim() === '' && t`Enter a name.` },
    send: async () => onSave({ name: name.trim(), allow_ips: parseEntries(addresses), ...limitsOf(limits, initial) }),
  });
  return (
    <DialogForm submit={fields} action={action} onCancel={onCancel}>
      <TextInput
        label={t`Name`}
        description={t`The application that uses the key, such as “Sign-up form, production”.`}
        required
        withAsterisk={false}
        maxLength={NAME_LENGTH.max}
        autoComplete="off"
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fields.errorOf('name')}
      />
      <AddressesField value={addresses} onChange={setAddresses} error={fields.errorOf('allow_ips')} />
      <LimitFields draft={limits} onChange={setLimits} errorOf={fields.errorOf} />
    </DialogForm>
  );
}

const DAY_SECONDS = 86_400;
const WEEK_SECONDS = 7 * DAY_SECONDS;
const LONGEST = t`${KEY_GRACE_SECONDS.max / DAY_SECONDS} days`;
/** How long the old key stays valid, in seconds. */
const GRACE_PERIODS = [
  [0, t`Immediately`, null],
  [3600, t`After 1 hour`, t`1 hour`],
  [DAY_SECONDS, t`After 1 day`, t`1 day`],
  [WEEK_SECONDS, t`After a week`, t`a week`],
  [KEY_GRACE_SECONDS.max, t`After ${LONGEST}`, LONGEST],
] as const;

/** Replaces a key. `onRoll` also gets the grace period as text, null for none. */
function RollForm(props: {
  name: string;
  onRoll: (seconds: number, grace: string | null) => Promise<unknown>;
  onCancel: () => void;
}) {
  const { name, onRoll, onCancel } = props;
  const [seconds, setSeconds] = useState<number>(KEY_GRACE_SECONDS.default);
  const grace = GRACE_PERIODS.find(([value]) => value === seconds)?.[2] ?? null;
  const fields = useFields({ values: {}, send: () => onRoll(seconds, grace) });
  return (
    <DialogForm submit={fields} action={t`Roll key`} onCancel={onCancel}>
      <Text size="sm">
        <Trans>
          Creates a new key with the settings of “{name}”. Both keys work until the old one is revoked, so that you can
          switch without downtime.
        </Trans>
      </Text>
      <Radio.Group
        label={t`Revoke the old key`}
        value={String(seconds)}
        onChange={(value) => setSeconds(Number(value))}
      >
        <Stack gap="xs" mt={4}>
          {GRACE_PERIODS.map(([grace, label]) => (
            <Radio key={grace} value={String(grace)} label={label} />
          ))}
        </Stack>
      </Radio.Group>
      {seconds === 0 && (
        <Text
          size="sm"
          role="status"
        >{t`Requests with the old key are rejected immediately. This cannot be undone.`}</Text>
      )}
    </DialogForm>
  );
}

/** What guards a key that is shown once. `leaving`: the user is about to close it. */
interface Once {
  readonly leaving: boolean;
  readonly onShown: () => void;
}

/** Shows the value of a new key, once. It exists only in the state of the dialog. */
function KeyCreatedPanel(props: {
  value: string;
  once: Once;
  children?: ReactNode;
  onTried: () => void;
  onClose: () => void;
}) {
  const { value, once, children, onTried, onClose } = props;
  const { onShown } = once;
  useEffect(onShown, []);
  const { user } = useSession();
  const { test } = useAccount();
  // A live key would make the samples of the API reference cost credits.
  useEffect(() => {
    if (test) rememberKey(value);
  }, [test, value]);
  const email = user?.email ?? 'someone@gmail.com';
  const request = { method: 'POST', url: `${location.origin}/v1/verify`, key: value, body: { email } };
  return (
    <Stack>
      <Text
        size="sm"
        ref={focusOnMount}
        tabIndex={-1}
        style={{ outline: 'none' }}
        fw={600}
      >{t`This key is shown only once, as the service stores only its hash. Copy it now and store it where your application reads its secrets.`}</Text>
      {children}
      <CopyText label={t`API key`} text={value} />
      <Text size="sm">{t`To send a first request, run:`}</Text>
      <CopyText label={t`curl command`} text={curl(request)} block />
      <TestRequest value={value} email={email} onTried={onTried} />
      {once.leaving ? (
        <Alert color="red" variant="outline" role="alert" title={t`Close without the key?`}>
          <Text
            size="sm"
            mb="xs"
          >{t`It cannot be shown again. If it is not stored anywhere, you have to create another one.`}</Text>
          <Group gap="xs">
            <Button onClick={onShown} data-autofocus ref={focusOnMount}>{t`Keep it open`}</Button>
            <Button color="red" variant="filled" onClick={onClose}>{t`Close`}</Button>
          </Group>
        </Alert>
      ) : (
        <Group justify="flex-end">
          <Button variant="filled" onClick={onClose}>{t`Done`}</Button>
        </Group>
      )}
    </Stack>
  );
}

/** Sends one request with the new key through the public API. */
function TestRequest({ value, email, onTried }: { value: string; email: string; onTried: () => void }) {
  const { test, prices } = useAccount();
  const [verdict, setVerdict] = useState<Verification | null>(null);
  const { run, busy, error } = useAsyncAction(async () => {
    setVerdict(null);
    setVerdict(await createMailvet({ url: location.origin, key: value }).verify({ email }));
    onTried();
  });
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Button onClick={run} loading={busy}>{t`Test key`}</Button>
        <Text size="sm" className="anywhere" flex={1}>
          <Trans>
            Verifies {email} with this key.{' '}
            {test
              ? t`Costs nothing.`
              : t`Costs at most ${plural(heldPrice({ prices }, DEFAULT_LEVEL, test), { one: '# credit', other: '# credits' })}.`}
          </Trans>
        </Text>
      </Group>
      <div role="status">
        {verdict && (
          <Text size="sm">
            <Trans>
              The key works. {headline(verdict)}. {wordsOf(verdict).meaning} Cost:{' '}
              <Plural value={verdict.credits_used} one="# credit" other="# credits" />.
            </Trans>
          </Text>
        )}
      </div>
      {error && <ErrorAlert error={error} />}
    </Stack>
  );
}

/** The open dialog and its key. */
export type DialogState =
  | { readonly what: 'create' }
  | { readonly what: 'edit' | 'roll' | 'revoke'; readonly of: DashboardKey };

/** Closes without fading, so that a key's value disappears immediately. */
const NO_TRANSITION = { duration: 0 } as const;

export function Dialogs({ open, onClose }: { open: DialogState | null; onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: ['account', id] });
  // A key is shown once: Escape and the cross ask before they close it.
  const [key, setKey] = useState<'hidden' | 'shown' | 'leaving'>('hidden');
  const close = () => {
    setKey('hidden');
    onClose();
  };
  const once = { leaving: key === 'leaving', onShown: () => setKey('shown') };
  // An accidental click outside must not close a dialog that shows a key.
  const frame = {
    opened: true,
    onClose: () => (key === 'shown' ? setKey('leaving') : key === 'leaving' ? setKey('shown') : close()),
    transitionProps: NO_TRANSITION,
    closeOnClickOutside: false,
    size: 'lg',
  } as const;
  if (open === null) return null;
  if (open.what === 'create')
    return (
      <Modal {...frame} title={t`Create API key`}>
        <Create account={id} refresh={refresh} once={once} onClose={close} />
      </Modal>
    );
  const { name } = open.of;
  if (open.what === 'roll')
    return (
      <Modal {...frame} title={t`Roll “${name}”`}>
        <Roll account={id} of={open.of} refresh={refresh} once={once} onClose={close} />
      </Modal>
    );
  const path = { account: id, id: open.of.id };
  if (open.what === 'edit')
    return (
      <Modal {...frame} title={t`Edit “${name}”`}>
        <SettingsForm
          initial={open.of}
          action={t`Save`}
          onCancel={onClose}
          onSave={async (body) => {
            await unwrap(api.PATCH('/dashboard/accounts/{account}/keys/{id}', { params: { path }, body }));
            await refresh();
            onClose();
            void notify(t`“${body.name}” saved.`);
          }}
        />
      </Modal>
    );
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={t`Revoke “${name}”`}
      action={t`Revoke`}
      typed={name}
      onConfirm={async () => {
        await unwrap(api.POST('/dashboard/accounts/{account}/keys/{id}/revoke', { params: { path }, body: { name } }));
        await refresh();
        void notify(t`“${name}” revoked.`);
      }}
    >{t`Requests with this key are rejected immediately. This cannot be undone. The key stays on the list, marked as revoked. To switch to a new key without downtime, roll it instead.`}</ConfirmDialog>
  );
}

interface NewKeyProps {
  account: string;
  refresh: () => Promise<void>;
  once: Once;
  onClose: () => void;
}

function Create({ account, refresh, once, onClose }: NewKeyProps) {
  const [value, setValue] = useState<string | null>(null);
  if (value !== null)
    return <KeyCreatedPanel value={value} once={once} onTried={() => void refresh()} onClose={onClose} />;
  return (
    <SettingsForm
      initial={{ name: '', allow_ips: [], expires_at: null, scopes: [...DEFAULT_SCOPES], budget: null }}
      action={t`Create key`}
      onCancel={onClose}
      onSave={async (body) => {
        const call = { params: { path: { account } }, body };
        setValue((await unwrap(api.POST('/dashboard/accounts/{account}/keys', call))).value);
        await refresh();
      }}
    />
  );
}

function Roll({ account, of, refresh, once, onClose }: NewKeyProps & { of: DashboardKey }) {
  const [rolled, setRolled] = useState<{ value: string; grace: string | null } | null>(null);
  if (rolled !== null)
    return (
      <KeyCreatedPanel value={rolled.value} once={once} onTried={() => void refresh()} onClose={onClose}>
        <Text size="sm">
          <Trans>
            The old key, {of.key}, {rolled.grace === null ? t`is revoked.` : t`remains valid for ${rolled.grace}.`}
          </Trans>
        </Text>
      </KeyCreatedPanel>
    );
  return (
    <RollForm
      name={of.name}
      onCancel={onClose}
      onRoll={async (grace_seconds, grace) => {
        const call = { params: { path: { account, id: of.id } }, body: { grace_seconds } };
        const { value } = await unwrap(api.POST('/dashboard/accounts/{account}/keys/{id}/roll', call));
        setRolled({ value, grace });
        await refresh();
      }}
    />
  );
}
