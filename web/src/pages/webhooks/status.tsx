import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Badge } from '@mantine/core';
import type { Webhook } from '../../api/schema.ts';
import { Timestamp } from '../../parts/timestamp.tsx';

type Reason = NonNullable<Webhook['disabled_reason']>;
const DISABLED: Readonly<Record<Reason, string>> = {
  manual: 'disabled',
  gone: t`disabled: it answered 410 (Gone)`,
  failing: t`disabled: every attempt failed for days`,
};

/** Whether events are sent, and why not. */
export function WebhookStatus({ of: { enabled, disabled_reason, failing_since } }: { of: Webhook }) {
  if (!enabled)
    return (
      <Badge variant="outline" color={disabled_reason === 'manual' ? 'gray' : 'red'} miw="max-content">
        {DISABLED[disabled_reason ?? 'manual']}
      </Badge>
    );
  if (failing_since === null) return t`Enabled`;
  return (
    <Trans>
      <Badge variant="outline" color="red" miw="max-content">
        failing
      </Badge>{' '}
      every attempt has failed since <Timestamp at={failing_since} />
    </Trans>
  );
}
