import { Anchor, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { overviewQuery } from '../api/account.ts';
import { useAccount } from '../api/session.ts';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { formError } from '../parts/field-error.ts';
import { focusOnMount } from '../parts/focus.ts';
import { pluralize } from '../parts/format.ts';
import { Page } from '../parts/page.tsx';
import { useSearchOnce } from '../parts/use-search-once.ts';
import { Verdict } from '../parts/verdict/verdict.tsx';
import { Running } from './verify/running.tsx';
import { useVerification } from './verify/use-verification.ts';
import { VerifyForm } from './verify/verify-form.tsx';

const route = getRouteApi('/inside/verify');

export function VerifyPage() {
  const { id } = useAccount();
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
    <Page title="Verify" about="Verifies one address, as the API does. Charged to the account.">
      <VerifyForm verification={verification} overview={overview} input={input} />
      {state.is === 'running' && <Running question={state.question} onCancel={verification.cancel} />}
      {state.is === 'cancelled' && (
        <Text role="status" size="sm">
          Canceled. If the verification had already completed, it is charged and listed in the{' '}
          <Anchor component={Link} to="/log" underline="always">
            log
          </Anchor>
          .
        </Text>
      )}
      {state.is === 'failed' && <RequestError error={state.error} />}
      {state.is === 'done' && (
        <section aria-label="Verdict">
          <Title order={2} mb="sm" ref={focusOnMount} tabIndex={-1} style={{ outline: 'none' }}>
            Verdict
          </Title>
          <Verdict key={state.reply.result.id} reply={state.reply.result} onSuggestion={take}>
            <Stack gap={4}>
              <Text size="sm">
                Cost: {pluralize(state.reply.result.credits_used, 'credit')}.{' '}
                {pluralize(state.reply.credits_remaining, 'credit')} left.{' '}
                <Anchor
                  underline="always"
                  renderRoot={(props) => <Link {...props} to="/log/$id" params={{ id: state.reply.result.id }} />}
                >
                  View in the log
                </Anchor>
              </Text>
            </Stack>
          </Verdict>
        </section>
      )}
    </Page>
  );
}

function RequestError({ error }: { error: Error }) {
  const other = formError(error, ['email', 'validation_type']);
  return other && <ErrorAlert error={other} />;
}
