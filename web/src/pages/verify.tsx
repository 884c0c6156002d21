import { Anchor, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { overviewQuery } from '../api/account.ts';
import { useAccount } from '../api/session.ts';
import { Failure } from '../parts/failure.tsx';
import { otherError } from '../parts/field-error.ts';
import { takeFocus } from '../parts/focus.ts';
import { Page } from '../parts/page.tsx';
import { Verdict } from '../parts/verdict/verdict.tsx';
import { counted } from '../parts/words.ts';
import { Ask } from './verify/ask.tsx';
import { Running } from './verify/running.tsx';
import { useVerification } from './verify/use-verification.ts';

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
  return (
    <Page title="Verify" about="One address, as the API would. It is charged to the account.">
      <Ask verification={verification} overview={overview} input={input} />
      {state.is === 'running' && <Running question={state.question} onCancel={verification.cancel} />}
      {state.is === 'cancelled' && (
        <Text role="status" size="sm">
          Cancelled. Where the answer was there already, it is charged and stands in the{' '}
          <Anchor component={Link} to="/log" underline="always">
            log
          </Anchor>
          .
        </Text>
      )}
      {state.is === 'failed' && <Other error={state.error} />}
      {state.is === 'done' && (
        <section aria-label="Verdict">
          <Title order={2} mb="sm" ref={takeFocus} tabIndex={-1} style={{ outline: 'none' }}>
            Verdict
          </Title>
          <Verdict key={state.reply.result.id} reply={state.reply.result} onSuggestion={take}>
            <Stack gap={4}>
              <Text size="sm">
                It cost {counted(state.reply.result.credits_used, 'credit')};{' '}
                {counted(state.reply.credits_remaining, 'credit')} left.{' '}
                <Anchor
                  underline="always"
                  renderRoot={(props) => <Link {...props} to="/log/$id" params={{ id: state.reply.result.id }} />}
                >
                  Open it in the log
                </Anchor>
              </Text>
            </Stack>
          </Verdict>
        </section>
      )}
    </Page>
  );
}

function Other({ error }: { error: Error }) {
  const other = otherError(error, ['email', 'validation_type']);
  return other && <Failure error={other} />;
}
