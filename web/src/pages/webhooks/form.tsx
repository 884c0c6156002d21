import { t } from '@lingui/core/macro';
import { Checkbox, Radio, Stack, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ALERT_TYPES } from '../../../../src/kernel/facts/alerts.ts';
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '../../../../src/kernel/facts/events.ts';
import { WEBHOOK_DESCRIPTION_LENGTH, WEBHOOK_URL_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import type { Webhook } from '../../api/schema.ts';
import { DialogForm } from '../../parts/form.tsx';
import { useFields } from '../../parts/use-fields.ts';

type WebhookSettings = Pick<Webhook, 'url' | 'events' | 'description'>;

const EVENT_LABELS: Readonly<Record<WebhookEventType, string>> = {
  'list.completed': t`A list was completed`,
  'list.failed': t`A list failed because of an internal error`,
  'list.cancelled': t`A list was canceled`,
  'credits.low': t`The balance fell below the alert threshold`,
  'account.created': t`An account was created (for operators)`,
  'credits.granted': t`Credits were granted to an account (for operators)`,
  'credits.exhausted': t`An account has no credits left (for operators)`,
  'key.created': t`An API key was created`,
  'key.revoked': t`An API key was revoked`,
  'outcomes.contradiction': t`The outcome of mail contradicts verdicts`,
  'rejections.high': t`Far more requests than usual are rejected`,
  'unknowns.high': t`Far more results than usual are unknown`,
  'budget.low': t`An API key has nearly spent its budget`,
  'webhook.failing': t`A webhook is failing`,
  'smtp.unreachable': t`Mail servers cannot be reached`,
  ping: t`A test was sent`,
};

/** Settings of a new or existing webhook. */
export function WebhookForm(props: {
  initial: WebhookSettings;
  format: Webhook['format'];
  action: string;
  onSave: (settings: WebhookSettings) => Promise<unknown>;
  onCancel: () => void;
}) {
  const { initial, format, action, onSave, onCancel } = props;
  const isChat = format === 'slack';
  const types: readonly WebhookEventType[] = isChat ? ALERT_TYPES : WEBHOOK_EVENT_TYPES;
  const [url, setUrl] = useState(initial.url);
  const [description, setDescription] = useState(initial.description ?? '');
  const [all, setAll] = useState(initial.events.includes('*'));
  const [chosen, setChosen] = useState<readonly WebhookEventType[]>(
    types.filter((type) => initial.events.includes(type)),
  );
  const save = () =>
    onSave({ url: url.trim(), events: all ? ['*'] : [...chosen], description: description.trim() || null });
  const fields = useFields({
    values: { url, events: all || chosen, description },
    missing: {
      url: url.trim() === '' && t`Enter a URL.`,
      events: !all && chosen.length === 0 && t`Choose at least one event.`,
    },
    send: save,
  });
  return (
    <DialogForm submit={fields} action={action} onCancel={onCancel}>
      <TextInput
        label="URL"
        description={
          isChat
            ? t`Of an incoming webhook of Slack, or of another chat that takes ${'{"text": …}'}.`
            : t`Where events are sent: https, on a host that is reachable from the Internet. Redirects are not followed.`
        }
        placeholder={isChat ? 'https://hooks.slack.com/services/…' : 'https://example.com/webhooks'}
        type="url"
        required
        withAsterisk={false}
        maxLength={WEBHOOK_URL_LENGTH.max}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        error={fields.errorOf('url')}
      />
      <EventChoice
        types={types}
        isChat={isChat}
        all={all}
        onAll={setAll}
        chosen={chosen}
        onChosen={setChosen}
        error={fields.errorOf('events')}
      />
      <TextInput
        label={t`Description`}
        description={t`Optional, for your own use.`}
        maxLength={WEBHOOK_DESCRIPTION_LENGTH.max}
        autoComplete="off"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
        error={fields.errorOf('description')}
      />
    </DialogForm>
  );
}

/** All events, or some of them. */
function EventChoice(props: {
  types: readonly WebhookEventType[];
  isChat: boolean;
  all: boolean;
  onAll: (all: boolean) => void;
  chosen: readonly WebhookEventType[];
  onChosen: (chosen: readonly WebhookEventType[]) => void;
  error: ReactNode;
}) {
  const { types, isChat, all, onAll, chosen, onChosen, error } = props;
  return (
    <>
      <Radio.Group
        label={isChat ? t`Alerts` : t`Events`}
        value={all ? 'all' : 'some'}
        onChange={(value) => onAll(value === 'all')}
        error={error}
      >
        <Stack gap="xs" mt={6}>
          <Radio
            value="all"
            label={isChat ? t`All alerts, also those of later versions` : t`All events, also those of later versions`}
          />
          <Radio value="some" label={t`Only these`} />
        </Stack>
      </Radio.Group>
      {!all && (
        <Checkbox.Group
          aria-label={isChat ? t`Chosen alerts` : t`Chosen events`}
          value={[...chosen]}
          onChange={(values) => onChosen(types.filter((type) => values.includes(type)))}
        >
          <Stack gap="xs" pl="lg">
            {types.map((type) => (
              <Checkbox key={type} value={type} label={EVENT_LABELS[type]} description={type} />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
    </>
  );
}
