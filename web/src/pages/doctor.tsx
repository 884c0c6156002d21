import { Button, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api, unwrap } from '../api/client.ts';
import type { Doctor } from '../api/schema.ts';
import { Elapsed } from '../parts/elapsed.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { Page } from '../parts/page.tsx';
import { Findings } from './doctor/findings.tsx';
import { OperatorOnly } from './operator/operator-only.tsx';

export const DoctorPage = () => (
  <OperatorOnly>
    <Examination />
  </OperatorOnly>
);

function Examination() {
  const { mutate, isPending, data, error } = useMutation({
    mutationFn: () => unwrap(api.POST('/dashboard/operator/doctor')),
  });
  return (
    <Page
      title="Doctor"
      about="Is this host fit to ask other people's mail servers? Looks at it as they do. No mailbox is asked about."
      action={
        <Button variant="filled" onClick={() => mutate()} loading={isPending}>
          {data ? 'Look again' : 'Look'}
        </Button>
      }
    >
      {isPending && <Elapsed label="Greeting mail servers, looking names up …" seconds={10} />}
      {error && <Failure error={error} />}
      {data && !isPending && (
        <Stack>
          <Text role="status" fw={600}>
            {verdict(data)}
          </Text>
          <Findings checks={data.checks} />
        </Stack>
      )}
      {!data && !isPending && !error && (
        <Empty title="Not looked yet">
          It greets the mail servers of four large operators, looks names up, and fetches the head of one web page. That
          takes ten seconds at most.
        </Empty>
      )}
    </Page>
  );
}

function verdict({ checks, took_ms }: Doctor): string {
  const took = ` It took ${(took_ms / 1000).toFixed(1)} seconds.`;
  if (checks.some(({ result }) => result === 'fail')) return `Not fit for the smtp level yet: mend what failed.${took}`;
  return `${checks.some(({ result }) => result === 'warn') ? 'Fit, with something to look at.' : 'Fit.'}${took}`;
}
