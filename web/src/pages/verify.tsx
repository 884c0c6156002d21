import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Button, Group, Progress, Radio, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { ADDRESS_LENGTH, TIMEOUT_MS } from '../../../src/kernel/facts/limits.ts';
import { DEFAULT_LEVEL, heldPrice, LEVELS, type Level } from '../../../src/kernel/facts/plans.ts';
import { REASON_NAMES } from '../../../src/kernel/facts/reasons.ts';
import { overviewQuery } from '../api/account.ts';
import { api, unwrap } from '../api/client.ts';
import { handleApiError } from '../api/query-client.ts';
import type { DashboardVerification, Overview } from '../api/schema.ts';
import { useAccount } from '../api/session.ts';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { fieldError, formError } from '../parts/field-error.ts';
import { focusOnMount } from '../parts/focus.ts';
import { Page } from '../parts/page.tsx';
import { availableWith, planLabel } from '../parts/plans.ts';
import { useSearchOnce } from '../parts/use-search-once.ts';
import { Verdict } from '../parts/verdict/verdict.tsx';
import { MembersOnly } from './members/members-only.tsx';

export function VerifyPage() {
  const { id, test } = useAccount();
  const { data: overview } = useQuery(overviewQuery(id));
  const verification = useVerification(id);
  const { state } = verification;
  const input = useRef<HTMLInputElement>(null);
  const take = (email: string) => {
    verification.setEmail(email);
    input.current?.focus();
  };
  useSearchOnce('email', route.useSearch().email, take);
  return (
    <Page
      title={t`Verify`}
      about={t`Verifies one address, as the API does. ${test ? t`Test mode: nothing is charged.` : t`Charged to the account.`}`}
    >
      <MembersOnly>
        <VerifyForm verification={verification} overview={overview} input={input} />
        {state.is === 'running' && <Running question={state.question} onCancel={verification.cancel} />}
        {state.is === 'cancelled' && (
          <Text role="status" size="sm">
            <Trans>
              Canceled. If the verification had already completed, it is charged and listed in the{' '}
              <Anchor component={Link} to="/log" underline="always">
                log
              </Anchor>
              .
            </Trans>
          </Text>
        )}
        {state.is === 'failed' && <RequestError error={state.error} />}
        {state.is === 'done' && (
          <section aria-label={t`Verdict`}>
            <Title order={2} mb="sm" ref={focusOnMount} tabIndex={-1} style={{ outline: 'none' }}>{t`Verdict`}</Title>
            <Verdict key={state.reply.result.id} reply={state.reply.result} onSuggestion={take}>
              <Text size="sm">
                {!test &&
                  t`${plural(state.reply.credits_remaining, { one: '# credit', other: '# credits' })} available. `}
                <Anchor
                  underline="always"
                  renderRoot={(props) => <Link {...props} to="/log/$id" params={{ id: state.reply.result.id }} />}
                >{t`View in the log`}</Anchor>
              </Text>
            </Verdict>
          </section>
        )}
      </MembersOnly>
    </Page>
  );
}

interface VerificationRequest {
  readonly email: string;
  readonly validation_type: Level;
}

type VerificationState =
  | { readonly is: 'idle' }
  | { readonly is: 'running'; readonly question: VerificationRequest }
  | { readonly is: 'cancelled' }
  | { readonly is: 'failed'; readonly error: Error }
  | { readonly is: 'done'; readonly reply: DashboardVerification };

interface VerificationController {
  readonly state: VerificationState;
  readonly email: string;
  readonly setEmail: (email: string) => void;
  readonly verify: (level: VerificationRequest['validation_type']) => void;
  readonly cancel: () => void;
}

/** One verification at a time. Leaving the page cancels it. */
function useVerification(account: string): VerificationController {
  const client = useQueryClient();
  const [state, setState] = useState<VerificationState>({ is: 'idle' });
  const [email, setEmail] = useState('');
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  async function run(question: VerificationRequest) {
    const control = new AbortController();
    running.current = control;
    setState({ is: 'running', question });
    try {
      const call = { params: { path: { account } }, body: question, signal: control.signal };
      const reply = await unwrap(api.POST('/dashboard/accounts/{account}/verify', call));
      if (!control.signal.aborted) setState({ is: 'done', reply });
    } catch (failure) {
      if (control.signal.aborted) return;
      const error = failure instanceof Error ? failure : new Error(String(failure));
      handleApiError(error);
      setState({ is: 'failed', error });
    } finally {
      await client.invalidateQueries({ queryKey: ['account', account] });
    }
  }

  return {
    state,
    email,
    setEmail,
    verify: (validation_type) => {
      if (state.is !== 'running') void run({ email: email.trim(), validation_type });
    },
    cancel: () => {
      running.current?.abort();
      setState({ is: 'cancelled' });
    },
  };
}

/** What a verification costs at most, and what there is to pay it. */
function Cost({ level, overview }: { level: Level; overview: Overview | undefined }) {
  const { test, prices } = useAccount();
  if (test) return <Text size="sm">{t`Costs nothing in test mode.`}</Text>;
  return (
    <Text size="sm">
      {t`Costs at most ${plural(heldPrice({ prices }, level, false), { one: '# credit', other: '# credits' })}.`}
      {overview &&
        !overview.credits.unlimited &&
        t` ${plural(overview.credits.remaining, { one: '# credit', other: '# credits' })} available.`}
    </Text>
  );
}

function VerifyForm(props: {
  verification: VerificationController;
  overview: Overview | undefined;
  input: RefObject<HTMLInputElement | null>;
}) {
  const { verification, overview, input } = props;
  const { prices, test } = useAccount();
  const { state, email, setEmail, verify: ask } = verification;
  const [level, setLevel] = useState<Level>(DEFAULT_LEVEL);
  const [missing, setMissing] = useState(false);
  const error = state.is === 'failed' ? state.error : null;
  useEffect(() => {
    if (state.is === 'cancelled' || state.is === 'failed') input.current?.focus();
  }, [state, input]);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setMissing(email.trim() === '');
        if (email.trim() === '') input.current?.focus();
        else ask(level);
      }}
    >
      <Stack maw={640}>
        <TextInput
          ref={input}
          label={t`Email address`}
          // Not `type="email"`: browsers normalize the value and reject addresses that we accept.
          inputMode="email"
          placeholder="someone@example.com"
          autoComplete="off"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          maxLength={ADDRESS_LENGTH.max}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={(missing && email.trim() === '' && t`Enter an email address.`) || fieldError(error, 'email')}
        />
        {test && <TestAddresses onChoose={setEmail} />}
        <Radio.Group
          label={t`Level`}
          value={level}
          onChange={(value) => setLevel(LEVELS.find((one) => one === value) ?? level)}
          error={fieldError(error, 'validation_type')}
        >
          <Stack gap="xs" mt={4}>
            <Radio
              value="mx"
              label={t`mx: ${plural(prices.mx, { one: '# credit', other: '# credits' })}`}
              description={t`Checks syntax, your filters, disposable lists, domain and mail servers.`}
            />
            <Radio
              value="smtp"
              label={t`smtp: ${plural(prices.smtp, { one: '# credit', other: '# credits' })}`}
              disabled={overview?.smtp_available === false}
              description={
                overview?.smtp_available === false
                  ? t`Not included in the ${planLabel(overview.account.plan)} plan.${availableWith(overview.upgrade_required)}`
                  : t`Everything in mx, then asks the mail server whether the mailbox exists. Costs ${plural(prices.unknown, { one: '# credit', other: '# credits' })} if it does not answer.`
              }
            />
          </Stack>
        </Radio.Group>
        <Cost level={level} overview={overview} />
        <div>
          <Button type="submit" variant="filled" loading={state.is === 'running'}>{t`Verify`}</Button>
        </div>
      </Stack>
    </form>
  );
}

/** What test mode finds is chosen by the local part (docs/testing.md). */
const TEST_ADDRESSES = ['deliverable', 'typo', ...REASON_NAMES].map((outcome) => `${outcome}@example.com`);

const TestAddresses = ({ onChoose }: { onChoose: (email: string) => void }) => (
  <Group gap={4} role="group" aria-label={t`Test addresses`}>
    {TEST_ADDRESSES.map((email) => (
      <Button key={email} size="compact-xs" radius="xl" className="mono" onClick={() => onChoose(email)}>
        {email}
      </Button>
    ))}
  </Group>
);

const BUDGET_SECONDS = TIMEOUT_MS.default / 1000;

/** Elapsed time of a running verification, with a cancel button. */
function Running({ question, onCancel }: { question: VerificationRequest; onCancel: () => void }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <Stack gap="xs">
      <Progress value={Math.min(95, (seconds / BUDGET_SECONDS) * 100)} animated aria-label={t`Elapsed time`} />
      <Group>
        <Text size="sm" className="anywhere" role="status">
          <Trans>
            Verifying {question.email}.
            <span aria-hidden className="numbers">
              {t` ${seconds} s of at most ${BUDGET_SECONDS} s.`}
            </span>
          </Trans>
        </Text>
        <Button onClick={onCancel}>{t`Cancel`}</Button>
      </Group>
    </Stack>
  );
}

const route = getRouteApi('/inside/verify');

function RequestError({ error }: { error: Error }) {
  const other = formError(error, ['email', 'validation_type']);
  return other && <ErrorAlert error={other} />;
}
