import { t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Anchor, Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ADDRESS_LENGTH, POLICY_TRIED_ON } from '../../../../src/kernel/facts/limits.ts';
import { heldPrice } from '../../../../src/kernel/facts/plans.ts';
import {
  type DecisionGround,
  decide,
  GROUND_ROWS,
  type JudgedReply,
  type PolicyAction,
} from '../../../../src/kernel/facts/policies.ts';
import { api, unwrap } from '../../api/client.ts';
import type { PolicyTrial, Verification } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { factText } from '../../parts/fact-text.ts';
import { formatNumber } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { escapeInvisible } from '../../parts/verdict/escape-invisible.ts';
import { VerdictLine } from '../../parts/verdict/verdict-line.tsx';
import { tryPolicy } from './queries.ts';
import type { Rules } from './sentences.ts';

/** What rules say, saved or not. */
export const TryOut = ({ rules }: { rules: Rules }) => (
  <Panel title={t`Try it`}>
    <Stack gap="lg">
      <TryAddress rules={rules} />
      <TryLog rules={rules} />
    </Stack>
  </Panel>
);

const COLORS: Readonly<Record<PolicyAction, string>> = { accept: 'green', review: 'yellow', reject: 'red' };
const ActionBadge = ({ of }: { of: PolicyAction }) => (
  <Badge variant="outline" color={COLORS[of]} miw="max-content">
    {of}
  </Badge>
);

const groundsText = (because: readonly DecisionGround[]): string =>
  because.map((ground) => factText(GROUND_ROWS[ground].subject)).join(', ');

/** As the service decides, from the same verdict. */
function decisionOf({ signals, validation_type, timeout_ms, on_outage, messages }: Rules, reply: JudgedReply) {
  const rules = { signals, level: validation_type, timeoutMs: timeout_ms, onOutage: on_outage, messages };
  return decide(rules, reply, navigator.language);
}

/** Verifies one address; what was found is decided again with every change of the rules. */
function TryAddress({ rules }: { rules: Rules }) {
  const { id: account, prices } = useAccount();
  const client = useQueryClient();
  const [email, setEmail] = useState('');
  const [reply, setReply] = useState<Verification | null>(null);
  const { run, busy, error } = useAsyncAction(async () => {
    const body = { email: email.trim(), validation_type: rules.validation_type, timeout_ms: rules.timeout_ms };
    const call = { params: { path: { account } }, body };
    const { result } = await unwrap(api.POST('/dashboard/accounts/{account}/verify', call));
    setReply(result);
    await client.invalidateQueries({ queryKey: ['account', account, 'log'] });
  });
  const decision = reply && decisionOf(rules, reply);
  return (
    <Stack gap="xs" component="section" aria-label={t`Try it on an address`}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (email.trim() !== '') run();
        }}
      >
        <Group align="flex-end">
          <TextInput
            label={t`Email address`}
            inputMode="email"
            placeholder="someone@example.com"
            autoComplete="off"
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            maxLength={ADDRESS_LENGTH.max}
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <Button type="submit" loading={busy} disabled={email.trim() === ''}>{t`Try this address`}</Button>
        </Group>
      </form>
      <Text size="xs" c="dimmed">
        <Trans>
          Verified as any other, for at most{' '}
          <Plural value={heldPrice({ prices }, rules.validation_type, false)} one="# credit" other="# credits" />.
        </Trans>
      </Text>
      {error && <ErrorAlert error={error} />}
      {reply && decision && (
        <div role="status">
          <Group gap="xs">
            <ActionBadge of={decision.action} />
            <Text size="sm" className="anywhere">
              {escapeInvisible(reply.email)}
            </Text>
            <Text size="sm" component="div">
              <VerdictLine of={reply} />
            </Text>
          </Group>
          {decision.because.length > 0 && (
            <Text size="sm">
              <Trans>Because of: {groundsText(decision.because)}.</Trans>
            </Text>
          )}
          {decision.message !== null && (
            <Text size="sm">
              <Trans>Message: “{escapeInvisible(decision.message)}”</Trans>
            </Text>
          )}
        </div>
      )}
    </Stack>
  );
}

type TrialItem = PolicyTrial['items'][number];

/** The newest verifications, each as these rules would have decided it. */
function TryLog({ rules }: { rules: Rules }) {
  const { id: account } = useAccount();
  const [trial, setTrial] = useState<{ readonly of: Rules; readonly found: PolicyTrial } | null>(null);
  const [shown, setShown] = useState<PolicyAction | null>(null);
  const { run, busy, error } = useAsyncAction(async () => {
    setTrial({ of: rules, found: await tryPolicy(account, rules) });
    setShown(null);
  });
  return (
    <Stack gap="xs" component="section" aria-label={t`Try it on the log`}>
      <div>
        <Button onClick={run} loading={busy}>
          <Trans>Try the last {formatNumber(POLICY_TRIED_ON)} verifications</Trans>
        </Button>
      </div>
      {error && <ErrorAlert error={error} />}
      {trial !== null && trial.of !== rules && (
        <Text size="sm">{t`The rules have changed since; try them again.`}</Text>
      )}
      {trial !== null && <Found of={trial.found} shown={shown} onShow={setShown} />}
    </Stack>
  );
}

/** `shown`: those of which action are listed. */
function Found(props: { of: PolicyTrial; shown: PolicyAction | null; onShow: (action: PolicyAction | null) => void }) {
  const { of, shown, onShow } = props;
  if (of.tried === 0) return <Text size="sm">{t`There are no verifications yet.`}</Text>;
  const { accept, review, reject } = of.decided;
  const items = of.items.filter(({ action }) => action === shown);
  return (
    <>
      <Text size="sm" role="status">
        <Trans>
          Of <Plural value={of.tried} one="# verification" other="# verifications" />, it would have rejected{' '}
          {formatNumber(reject)}
          <See action="reject" count={reject} {...props} />, accepted {formatNumber(review)} to be reviewed
          <See action="review" count={review} {...props} />, and accepted {formatNumber(accept)}.
        </Trans>
      </Text>
      <Text
        size="xs"
        c="dimmed"
      >{t`A verification says only what its level found out: at level mx, nothing of mailboxes.`}</Text>
      {shown !== null && (
        <>
          <DataTable
            label={shown === 'reject' ? t`Would have been rejected` : t`Would have been reviewed`}
            columns={COLUMNS}
            rows={items}
            rowKey={({ id }) => id}
          />
          <div>
            <Button size="xs" onClick={() => onShow(null)}>{t`Hide`}</Button>
          </div>
        </>
      )}
    </>
  );
}

const See = (props: {
  action: PolicyAction;
  count: number;
  shown: PolicyAction | null;
  onShow: (action: PolicyAction) => void;
}) =>
  props.count > 0 &&
  props.shown !== props.action && (
    <>
      {': '}
      <Anchor
        component="button"
        type="button"
        size="sm"
        underline="always"
        aria-label={t`see them: the ${formatNumber(props.count)} to ${props.action}`}
        onClick={() => props.onShow(props.action)}
      >{t`see them`}</Anchor>
    </>
  );

const COLUMNS: readonly Column<TrialItem>[] = [
  {
    header: t`Address`,
    cell: ({ id, email }) => (
      <Anchor size="sm" className="anywhere" renderRoot={(props) => <Link {...props} to="/log/$id" params={{ id }} />}>
        {escapeInvisible(email)}
      </Anchor>
    ),
  },
  { header: t`Because of`, cell: ({ because }) => groundsText(because) },
  { header: t`Time`, folds: true, cell: ({ created_at }) => <Timestamp at={created_at} /> },
];
