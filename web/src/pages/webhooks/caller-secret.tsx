import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Group, Radio, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { HOOK_GRACE_SECONDS } from '../../../../src/kernel/facts/limits.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { DialogForm } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import { useFields } from '../../parts/use-fields.ts';
import { SecretPanel } from './secret-panel.tsx';

/** What to enter at a caller. `secret`: ours, shown once; null: `then` says where theirs is entered. */
export function CallerUrl(props: {
  caller: string;
  url: string;
  secret: string | null;
  /** What to set beside the URL. */
  setting?: ReactNode;
  then: string;
  onClose: () => void;
}) {
  const { caller, url, secret, setting, then, onClose } = props;
  const place = (
    <div>
      <Text size="sm">
        <Trans>Let {caller} call this URL:</Trans>
      </Text>
      <CopyText label="URL" text={url} />
      {setting && (
        <Text size="sm" mt="xs">
          {setting}
        </Text>
      )}
    </div>
  );
  if (secret !== null)
    return (
      <SecretPanel
        secret={secret}
        about={t`This secret is shown only once. Copy it now into the settings of ${caller}: Mailvet recognizes its calls by it.`}
        onClose={onClose}
      >
        {place}
      </SecretPanel>
    );
  return (
    <Stack>
      {place}
      <Text size="sm">{then}</Text>
      <Group justify="flex-end">
        <Button variant="filled" onClick={onClose}>{t`Done`}</Button>
      </Group>
    </Stack>
  );
}

/** Of a caller in a table: its URL, and whether it may call. `refused`: why it may not, while there is no secret. */
export const CallerFacts = (props: {
  caller: string;
  of: { readonly url: string; readonly has_secret: boolean; readonly previous_secret_until: string | null };
  refused: ReactNode;
}) => (
  <>
    <Text size="xs">{props.caller}</Text>
    <Text size="xs" c="dimmed" style={{ wordBreak: 'break-all' }}>
      {props.of.url}
    </Text>
    {!props.of.has_secret && (
      <Text size="xs" c="red">
        {props.refused}
      </Text>
    )}
    {props.of.previous_secret_until !== null && (
      <Text size="xs">
        <Trans>
          The previous secret is accepted until <Timestamp at={props.of.previous_secret_until} />
        </Trans>
      </Text>
    )}
  </>
);

const GRACE = { day: HOOK_GRACE_SECONDS.default, none: 0 } as const;

/** A new secret, ours or that of the caller. */
export function RollSecret(props: {
  caller: string;
  /** The field of the caller's own secret; null: we make it. */
  theirs: { readonly label: string; readonly description: string; readonly maxLength: number } | null;
  /** Whether there is one before. */
  replaces: boolean;
  /** Returns our secret, if we made it. */
  onRoll: (body: { grace_seconds: number; secret?: string }) => Promise<string | null>;
  /** What is shown once, with our new secret. */
  shown: (secret: string) => ReactNode;
  onClose: () => void;
}) {
  const { caller, theirs, replaces, onRoll, shown, onClose } = props;
  const [entered, setEntered] = useState('');
  const [grace, setGrace] = useState<keyof typeof GRACE>('day');
  const [made, setMade] = useState<string | null>(null);
  const roll = async () => {
    const secret = await onRoll({
      grace_seconds: GRACE[grace],
      ...(theirs === null ? {} : { secret: entered.trim() }),
    });
    if (secret !== null) return setMade(secret);
    onClose();
    void notify(t`Secret saved.`);
  };
  const fields = useFields({ values: { secret: entered }, send: roll });
  if (made !== null) return shown(made);
  return (
    <DialogForm submit={fields} action={theirs === null ? t`Roll secret` : t`Save secret`} onCancel={onClose}>
      {theirs === null ? (
        <Text size="sm">
          <Trans>Creates a new secret, which is shown once. Then enter it in the settings of {caller}.</Trans>
        </Text>
      ) : (
        <TextInput
          type="password"
          {...theirs}
          required
          withAsterisk={false}
          autoComplete="off"
          data-autofocus
          value={entered}
          onChange={(event) => setEntered(event.currentTarget.value)}
          error={fields.errorOf('secret')}
        />
      )}
      {replaces && (
        <Radio.Group
          label={t`The secret before`}
          value={grace}
          onChange={(value) => setGrace(value === 'none' ? 'none' : 'day')}
        >
          <Stack gap="xs" mt={6}>
            <Radio value="day" label={t`is accepted for one more day`} />
            <Radio value="none" label={t`is refused from now on`} />
          </Stack>
        </Radio.Group>
      )}
    </DialogForm>
  );
}
