import { Button, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api, unwrap } from '../api/client.ts';
import type { Doctor as DoctorReport } from '../api/schema.ts';
import { Elapsed } from '../parts/elapsed.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { Page } from '../parts/page.tsx';
import { CheckResults } from './doctor/check-results.tsx';
import { OperatorOnly } from './operator/operator-only.tsx';

export const DoctorPage = () => (
  <OperatorOnly>
    <Doctor />
  </OperatorOnly>
);

function Doctor() {
  const { mutate, isPending, data, error } = useMutation({
    mutationFn: () => unwrap(api.POST('/dashboard/operator/doctor')),
  });
  return (
    <Page
      title="Doctor"
      about="Checks whether this host is ready for SMTP verification. No mailbox is probed."
      action={
        <Button variant="filled" onClick={() => mutate()} loading={isPending}>
          {data ? 'Run again' : 'Run checks'}
        </Button>
      }
    >
      {isPending && <Elapsed label="Connecting to mail servers and looking up DNS records…" seconds={10} />}
      {error && <ErrorAlert error={error} />}
      {data && !isPending && (
        <Stack>
          <Text role="status" fw={600}>
            {verdict(data)}
          </Text>
          <CheckResults checks={data.checks} />
        </Stack>
      )}
      {!data && !isPending && !error && (
        <EmptyState title="No results yet">
          The checks connect to the mail servers of four large providers, look up DNS records and send a HEAD request to
          one website. They take at most ten seconds.
        </EmptyState>
      )}
    </Page>
  );
}

function verdict({ checks, took_ms }: DoctorReport): string {
  const took = ` Took ${(took_ms / 1000).toFixed(1)} seconds.`;
  if (checks.some(({ result }) => result === 'fail'))
    return `Not ready for the smtp level: fix the failed checks.${took}`;
  return `${checks.some(({ result }) => result === 'warn') ? 'Ready, with warnings.' : 'Ready.'}${took}`;
}
