import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Box, Button, List, Stack, Text, Title } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { api, unwrap } from '../api/client.ts';
import type { Doctor } from '../api/schema.ts';
import { Elapsed } from '../parts/elapsed.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { formatDateTime, formatDecimal } from '../parts/format.ts';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { useAsyncAction } from '../parts/use-async-action.ts';
import { OperatorOnly } from './operator/operator-only.tsx';
import { OPERATOR_KEY } from './operator/queries.ts';

type CheckResult = Doctor['checks'][number];

/** Worst first. Each group has a symbol and a title in addition to its color. */
const GROUPS: Readonly<Record<CheckResult['result'], { sign: string; title: string; color: string }>> = {
  fail: { sign: '✕', title: t`Failed`, color: 'var(--mantine-color-error)' },
  warn: { sign: '!', title: t`Warnings`, color: 'var(--mantine-color-yellow-outline)' },
  skip: { sign: '–', title: t`Not checked`, color: 'var(--ink-2)' },
  pass: { sign: '✓', title: t`Passed`, color: 'var(--mantine-color-green-outline)' },
};

const CHECK_LABELS: Readonly<Record<CheckResult['check'], string>> = {
  resolver: t`DNS resolver`,
  port: t`Outbound port 25`,
  helo: t`HELO name`,
  egress: t`Egress IP address`,
  ptr: t`Reverse DNS (PTR)`,
  spf: t`Sender SPF`,
  blocklists: t`Blocklists`,
  lists: t`Disposable list`,
  store: t`Database`,
  clock: t`Clock`,
  url: t`Public URL`,
  proxies: t`Trusted proxies`,
  downloads: t`Downloads`,
  mail: t`Mail server`,
};

function CheckResults({ checks, isOne }: { checks: readonly CheckResult[]; isOne: boolean }) {
  return (
    <Stack>
      {keysOf(GROUPS).map((result) => {
        const { sign, title, color } = GROUPS[result];
        const found = checks.filter((check) => check.result === result);
        if (found.length === 0) return null;
        return (
          <Box component="section" key={result} aria-labelledby={`checks-${result}`}>
            <Title order={2} id={`checks-${result}`} mb="xs" style={{ color }}>
              <span aria-hidden="true">{sign}</span>{' '}
              {t`${title}: ${plural(found.length, { one: '# check', other: '# checks' })}`}
            </Title>
            <List listStyleType="none" spacing="sm" withPadding={false}>
              {together(found).map(([first, ...others]) => (
                // A host with several addresses has one result each.
                <List.Item key={`${first.check} ${first.egress} ${first.found}`}>
                  <Check of={[first, ...others]} isOne={isOne} />
                </List.Item>
              ))}
            </List>
          </Box>
        );
      })}
    </Stack>
  );
}

/** Checks of which the same is to be said: what one cause keeps from being checked is one entry. */
function together(checks: readonly CheckResult[]) {
  const groups = new Map<string, [CheckResult, ...CheckResult[]]>();
  for (const one of checks) {
    const alike = JSON.stringify([one.egress, one.found, one.fix]);
    const group = groups.get(alike);
    if (group === undefined) groups.set(alike, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}

function Check({ of: [first, ...others], isOne }: { of: [CheckResult, ...CheckResult[]]; isOne: boolean }) {
  const { found, fix, egress } = first;
  const labels = [first, ...others].map(({ check }) => CHECK_LABELS[check]).join(', ');
  return (
    <>
      <Text size="sm" fw={600}>
        {isOne || egress === null ? labels : t`${labels} of ${egress}`}
      </Text>
      <Text size="sm" className="anywhere">
        {found}
      </Text>
      {fix !== null && (
        <Text size="sm" className="anywhere">
          <strong>{t`Fix:`}</strong> {fix}
        </Text>
      )}
    </>
  );
}

export const DoctorPage = () => (
  <OperatorOnly>
    <Checks />
  </OperatorOnly>
);

const lastQuery = queryOptions({
  queryKey: [...OPERATOR_KEY, 'doctor'],
  queryFn: () => unwrap(api.GET('/dashboard/operator/doctor')),
});

function Checks() {
  const client = useQueryClient();
  const query = useQuery(lastQuery);
  const { run, busy, error } = useAsyncAction(async () => {
    client.setQueryData(lastQuery.queryKey, { last: await unwrap(api.POST('/dashboard/operator/doctor')) });
  });
  return (
    <Page
      title={t`Doctor`}
      about={t`Checks whether this host is ready for SMTP verification. No mailbox is probed.`}
      action={
        <Button variant="filled" onClick={run} loading={busy}>
          {query.data?.last ? t`Run again` : t`Run checks`}
        </Button>
      }
    >
      {busy && <Elapsed label={t`Connecting to mail servers and looking up DNS records…`} seconds={10} />}
      {error && <ErrorAlert error={error} />}
      {!busy && (
        <QueryResult query={query}>
          {({ last }) => (last === null ? error === null && <NoResults /> : <Results of={last} />)}
        </QueryResult>
      )}
    </Page>
  );
}

const NoResults = () => (
  <EmptyState
    title={t`No results yet`}
  >{t`The checks connect to the mail servers of four large providers, look up DNS records and send a HEAD request to one website. They take at most ten seconds.`}</EmptyState>
);

const Results = ({ of }: { of: Doctor }) => (
  <Stack>
    <Text role="status" fw={600}>
      <Trans>
        {verdict(of)} Checked at {formatDateTime(of.checked_at)}.
      </Trans>
    </Text>
    <FirstToMend advice={of.advice} />
    <CheckResults checks={of.checks} isOne={of.advice.length === 1} />
  </Stack>
);

/** Of each egress, what would improve its answers most. */
function FirstToMend({ advice }: { advice: Doctor['advice'] }) {
  const found = advice.filter(({ first }) => first !== null);
  if (found.length === 0) return null;
  return (
    <Box component="section" aria-labelledby="first-to-fix">
      <Title order={2} id="first-to-fix" mb="xs">{t`What improves the answers most`}</Title>
      <List listStyleType="none" spacing="sm" withPadding={false}>
        {found.map(({ egress, first }) => (
          <List.Item key={egress}>
            <Text size="sm" className="anywhere">
              {advice.length > 1 && <strong>{egress}: </strong>}
              {first?.fix}
            </Text>
          </List.Item>
        ))}
      </List>
    </Box>
  );
}

function verdict({ checks, took_ms }: Doctor): string {
  const has = (wanted: CheckResult['result']): boolean => checks.some(({ result }) => result === wanted);
  const found = has('fail')
    ? t`Not ready for the smtp level: fix the failed checks.`
    : has('warn')
      ? t`Ready, with warnings.`
      : t`Ready.`;
  return `${found} ${t`Took ${formatDecimal(took_ms / 1000)} seconds.`}`;
}
