import { Button, Checkbox, Group, Radio, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ALERT_TYPES } from '../../../../src/kernel/facts/alerts.ts';
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '../../../../src/kernel/facts/events.ts';
import { WEBHOOK_DESCRIPTION_LENGTH, WEBHOOK_URL_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import type { Webhook } from '../../api/schema.ts';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { fieldError, formError } from '../../parts/field-error.ts';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { useFocusInvalid } from '../../parts/use-focus-invalid.ts';

type WebhookSettings = Pick<Webhook, 'url' | 'events' | 'description'>;

const EVENT_LABELS: Readonly<Record<WebhookEventType, string>> = {
  'list.completed': 'A list was completed',
  'list.failed': 'A list failed because of an internal error',
  'list.cancelled': 'A list was canceled',
  'credits.low': 'The balance fell below the alert threshold',
  'account.created': 'An account was created (for operators)',
  'credits.granted': 'Credits were granted to an account (for operators)',
  'credits.exhausted': 'An account has no credits left (for operators)',
  'key.created': 'An API key was created',
  'key.revoked': 'An API key was revoked',
  'outcomes.contradiction': 'The outcome of mail contradicts verdicts',
  'rejections.high': 'Far more requests than usual are rejected',
  'unknowns.high': 'Far more results than usual are unknown',
  'budget.low': 'An API key has nearly spent its budget',
  'webhook.failing': 'A webhook is failing',
  'smtp.unreachable': 'Mail servers cannot be reached (for operators)',
  ping: 'A test was sent',
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
  const [tried, setTried] = useState(false);
  const settings: WebhookSettings = {
    url: url.trim(),
    events: all ? ['*'] : [...chosen],
    description: description.trim() || null,
  };
  const isComplete = settings.url !== '' && settings.events.length > 0;
  const { run, busy, error } = useAsyncAction(() => onSave(settings));
  const other = formError(error, ['url', 'events', 'description']);
  const { form, onAttempt } = useFocusInvalid(error);
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onAttempt();
        setTried(true);
        if (isComplete) run();
      }}
    >
      <Stack>
        <TextInput
          label="URL"
          description={
            isChat
              ? 'Of an incoming webhook of Slack, or of another chat that takes {"text": …}.'
              : 'Where events are sent: https, on a host that is reachable from the Internet. Redirects are not followed.'
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
          error={tried && settings.url === '' ? 'Enter a URL.' : fieldError(error, 'url')}
        />
        <Radio.Group
          label={isChat ? 'Alerts' : 'Events'}
          value={all ? 'all' : 'some'}
          onChange={(value) => setAll(value === 'all')}
          error={tried && settings.events.length === 0 ? 'Choose at least one event.' : fieldError(error, 'events')}
        >
          <Stack gap="xs" mt={6}>
            <Radio
              value="all"
              label={isChat ? 'All alerts, also those of later versions' : 'All events, also those of later versions'}
            />
            <Radio value="some" label="Only these" />
          </Stack>
        </Radio.Group>
        {!all && (
          <Checkbox.Group
            aria-label={isChat ? 'Chosen alerts' : 'Chosen events'}
            value={[...chosen]}
            onChange={(values) => setChosen(types.filter((type) => values.includes(type)))}
          >
            <Stack gap="xs" pl="lg">
              {types.map((type) => (
                <Checkbox key={type} value={type} label={EVENT_LABELS[type]} description={type} />
              ))}
            </Stack>
          </Checkbox.Group>
        )}
        <TextInput
          label="Description"
          description="Optional, for your own use."
          maxLength={WEBHOOK_DESCRIPTION_LENGTH.max}
          autoComplete="off"
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
          error={fieldError(error, 'description')}
        />
        {other && <ErrorAlert error={other} />}
        <Group justify="flex-end">
          <Button onClick={onCancel}>Cancel</Button>
          <Button type="submit" variant="filled" loading={busy}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
