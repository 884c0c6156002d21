import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Modal, NativeSelect, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { HOOK_FACTS, HOOK_KINDS, isHookKind } from '../../../../src/kernel/facts/hooks.ts';
import {
  HOOK_RATE_LIMIT,
  HOOK_SECRET_LENGTH,
  HOOK_TIMEOUT_MS,
  NAME_LENGTH,
  SEEN_SCOPE_LENGTH,
} from '../../../../src/kernel/facts/limits.ts';
import { WINDOW_SECONDS } from '../../../../src/kernel/facts/plans.ts';
import { api, unwrap } from '../../api/client.ts';
import type { Hook } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { DialogForm } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { parseInteger } from '../../parts/parse-integer.ts';
import { useFields } from '../../parts/use-fields.ts';
import { policiesQuery } from '../policies/queries.ts';
import { CallerUrl, RollSecret } from '../webhooks/caller-secret.tsx';
import { SECRET_DIALOG } from '../webhooks/create-dialog.tsx';

export type HookDialog =
  | { readonly what: 'create' }
  | { readonly what: 'edit' | 'roll' | 'delete'; readonly hook: Hook };

/** What admins do with hooks; one dialog at a time. */
export function HookDialogs({ open, onClose }: { open: HookDialog | null; onClose: () => void }) {
  const { id: account } = useAccount();
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: ['account', account, 'hooks'] });
  const isOpen = (what: HookDialog['what']) => open?.what === what;
  const hook = open !== null && open.what !== 'create' ? open.hook : null;
  return (
    <>
      <Modal opened={isOpen('create')} onClose={onClose} title={t`Create auth hook`} {...SECRET_DIALOG}>
        <Create onDone={refresh} onClose={onClose} />
      </Modal>
      <Modal opened={isOpen('edit')} onClose={onClose} title={t`Edit auth hook`} size="lg">
        {hook && <Edit hook={hook} onDone={refresh} onClose={onClose} />}
      </Modal>
      <Modal opened={isOpen('roll')} onClose={onClose} title={t`Secret of the auth hook`} {...SECRET_DIALOG}>
        {hook && <Roll hook={hook} onDone={refresh} onClose={onClose} />}
      </Modal>
      <ConfirmDialog
        opened={isOpen('delete')}
        onClose={onClose}
        title={t`Delete auth hook`}
        action={t`Delete`}
        onConfirm={async () => {
          if (hook === null) return;
          const params = { path: { account, id: hook.id } };
          await unwrap(api.DELETE('/dashboard/accounts/{account}/hooks/{id}', { params }));
          await refresh();
          void notify(t`Auth hook deleted.`);
        }}
      >
        <Trans>
          Calls of “{hook?.name}” are refused from now on. Turn the hook off in your auth server first: most of them let
          nobody sign up while a hook refuses their calls.
        </Trans>
      </ConfirmDialog>
    </>
  );
}

type Actions = { readonly onDone: () => Promise<unknown>; readonly onClose: () => void };

/** Mounted with the dialog, so that its state resets. */
function Create({ onDone, onClose }: Actions) {
  const { id: account } = useAccount();
  const [made, setMade] = useState<{ hook: Hook; secret: string | null } | null>(null);
  if (made !== null) return <Made {...made} onClose={onClose} />;
  return (
    <SettingsForm
      initial={null}
      action={t`Create auth hook`}
      onCancel={onClose}
      onSave={async (kind, settings) => {
        const call = { params: { path: { account } }, body: { kind, ...settings } };
        setMade(await unwrap(api.POST('/dashboard/accounts/{account}/hooks', call)));
        await onDone();
      }}
    />
  );
}

/** What to enter in the auth server. */
function Made({ hook, secret, onClose }: { hook: Hook; secret: string | null; onClose: () => void }) {
  const { name } = HOOK_FACTS[hook.kind];
  const then = t`${name} shows a secret once it knows the URL. Enter it here with “Enter secret”; calls are refused until then.`;
  return <CallerUrl caller={name} url={hook.url} secret={secret} then={then} onClose={onClose} />;
}

function Edit({ hook, onDone, onClose }: Actions & { hook: Hook }) {
  const { id: account } = useAccount();
  return (
    <SettingsForm
      initial={hook}
      action={t`Save`}
      onCancel={onClose}
      onSave={async (_, body) => {
        const params = { path: { account, id: hook.id } };
        await unwrap(api.PATCH('/dashboard/accounts/{account}/hooks/{id}', { params, body }));
        await onDone();
        onClose();
        void notify(t`Auth hook saved.`);
      }}
    />
  );
}

interface Settings {
  readonly name: string;
  readonly policy: string;
  readonly scope: string | null;
  readonly timeout_ms: number;
  readonly rate_limit: number | null;
}
const KINDS = HOOK_KINDS.map((kind) => ({ value: kind, label: HOOK_FACTS[kind].name }));

function KindSelect(props: { value: Hook['kind']; onChange: (kind: Hook['kind']) => void; error: ReactNode }) {
  const { value, onChange, error } = props;
  return (
    <NativeSelect
      label={t`Auth server`}
      data={KINDS}
      value={value}
      onChange={({ currentTarget }) => {
        if (isHookKind(currentTarget.value)) onChange(currentTarget.value);
      }}
      error={error}
    />
  );
}

function PolicySelect(props: { value: string; onChange: (policy: string) => void; error: ReactNode }) {
  const { value, onChange, error } = props;
  const policies = useQuery(policiesQuery(useAccount().id)).data?.policies ?? [];
  return (
    <NativeSelect
      label={t`Policy`}
      description={t`Decides whether an address may sign up.`}
      // The chosen one is offered also while they are not loaded, and where it was deleted.
      data={[...new Set([value, ...policies.map(({ name }) => name)])]}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
    />
  );
}

/** Settings of a new or existing hook, whose kind stays. */
function SettingsForm(props: {
  initial: Hook | null;
  action: string;
  onSave: (kind: Hook['kind'], settings: Settings) => Promise<unknown>;
  onCancel: () => void;
}) {
  const { initial, action, onSave, onCancel } = props;
  const [kind, setKind] = useState<Hook['kind']>(initial?.kind ?? 'supabase');
  const [name, setName] = useState(initial?.name ?? '');
  const [policy, setPolicy] = useState(initial?.policy ?? 'signup');
  const [scope, setScope] = useState(initial?.scope ?? '');
  const [timeoutMs, setTimeoutMs] = useState(String(initial?.timeout_ms ?? HOOK_FACTS[kind].timeoutMs));
  const [rateLimit, setRateLimit] = useState(String(initial?.rate_limit ?? ''));
  const fields = useFields({
    values: { kind, name, policy, scope, timeout_ms: timeoutMs, rate_limit: rateLimit },
    missing: { name: name.trim() === '' && t`Enter a name.` },
    send: async () =>
      onSave(kind, {
        name: name.trim(),
        policy,
        scope: scope.trim() || null,
        timeout_ms: parseInteger(timeoutMs, 'timeout_ms', HOOK_TIMEOUT_MS.min),
        rate_limit: rateLimit.trim() === '' ? null : parseInteger(rateLimit, 'rate_limit', HOOK_RATE_LIMIT.min),
      }),
  });
  return (
    <DialogForm submit={fields} action={action} onCancel={onCancel}>
      {initial !== null && <CopyText label="URL" text={initial.url} />}
      {initial === null && (
        <KindSelect
          value={kind}
          onChange={(next) => {
            setKind(next);
            setTimeoutMs(String(HOOK_FACTS[next].timeoutMs));
          }}
          error={fields.errorOf('kind')}
        />
      )}
      <TextInput
        label={t`Name`}
        description={t`The project or realm that calls it, such as “Shop, production”.`}
        required
        withAsterisk={false}
        maxLength={NAME_LENGTH.max}
        autoComplete="off"
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fields.errorOf('name')}
      />
      <PolicySelect value={policy} onChange={setPolicy} error={fields.errorOf('policy')} />
      <TextInput
        label={t`Scope`}
        description={t`Such as “signup”: mailboxes are remembered under it, for the policy’s rule about mailboxes seen before. Leave empty to remember none.`}
        maxLength={SEEN_SCOPE_LENGTH.max}
        autoComplete="off"
        spellCheck={false}
        value={scope}
        onChange={(event) => setScope(event.currentTarget.value)}
        error={fields.errorOf('scope')}
      />
      <TextInput
        label={t`Time limit of the auth server`}
        description={t`Milliseconds that it waits. The answer is there half a second before.`}
        inputMode="numeric"
        autoComplete="off"
        value={timeoutMs}
        onChange={(event) => setTimeoutMs(event.currentTarget.value)}
        error={fields.errorOf('timeout_ms')}
      />
      <TextInput
        label={t`Rate limit`}
        description={t`Calls in ${WINDOW_SECONDS / 60} minutes; beyond it, the policy’s answer without a verdict counts. Leave empty for half of the account’s limit.`}
        inputMode="numeric"
        autoComplete="off"
        value={rateLimit}
        onChange={(event) => setRateLimit(event.currentTarget.value)}
        error={fields.errorOf('rate_limit')}
      />
    </DialogForm>
  );
}

/** A new secret, ours or that of the auth server. */
function Roll({ hook, onDone, onClose }: Actions & { hook: Hook }) {
  const { id: account } = useAccount();
  const { name, secretOf } = HOOK_FACTS[hook.kind];
  const description = t`What ${name} shows for the URL of this hook.`;
  return (
    <RollSecret
      caller={name}
      theirs={secretOf === 'caller' ? { label: t`Secret`, description, maxLength: HOOK_SECRET_LENGTH.max } : null}
      replaces={hook.has_secret}
      onRoll={async (body) => {
        const call = { params: { path: { account, id: hook.id } }, body };
        const { secret } = await unwrap(api.POST('/dashboard/accounts/{account}/hooks/{id}/roll', call));
        await onDone();
        return secret;
      }}
      shown={(secret) => <Made hook={hook} secret={secret} onClose={onClose} />}
      onClose={onClose}
    />
  );
}
