import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Button, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { CALIBRATION_LEAST, shareOf } from '../../../src/kernel/facts/calibration.ts';
import { CONTRADICTIONS_LISTED, OUTCOME_SOURCES_MAX, TRUST_BOUNCES_DAYS } from '../../../src/kernel/facts/limits.ts';
import { OUTCOMES } from '../../../src/kernel/facts/outcomes.ts';
import { accountQuery, changeAccount } from '../api/account.ts';
import type { Account, CalibratedVerdict, Calibration, OutcomeOrigin, OutcomeSource } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { SEGMENT_LABELS, type Segment } from '../parts/chart/bars.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { formatShare } from '../parts/delta.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Figures } from '../parts/figures.tsx';
import { Form } from '../parts/form.tsx';
import { formatNumber } from '../parts/format.ts';
import { notify } from '../parts/notify.tsx';
import { operatorName } from '../parts/operator-name.ts';
import { Page } from '../parts/page.tsx';
import { Panel } from '../parts/panel.tsx';
import { parseInteger } from '../parts/parse-integer.ts';
import { QueryResult } from '../parts/query-result.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useSearchOnce } from '../parts/use-search-once.ts';
import { useSubmit } from '../parts/use-submit.ts';
import type { LogSearch } from './log/search.ts';
import { type ConnectionDialog, ConnectionDialogs, Connections } from './outcomes/connections.tsx';
import { ContradictionsTable, type VerdictKind, VerdictOf } from './outcomes/contradictions.tsx';
import { calibrationQuery, outcomeSourcesQuery, REPORTED_BY } from './outcomes/queries.ts';
import { intervalOf, ReliabilityPanels, RowsLink, ShareOf } from './outcomes/reliability.tsx';

export function OutcomesPage() {
  const { id, test } = useAccount();
  const isAdmin = useHasRole('admin');
  const calibration = useQuery(calibrationQuery(id));
  const sources = useQuery(outcomeSourcesQuery(id));
  const [open, setOpen] = useState<ConnectionDialog | null>(null);
  const { create: isAsked } = route.useSearch();
  useSearchOnce('create', isAsked, () => isAdmin && setOpen({ what: 'create' }));
  const connected = sources.data?.sources ?? [];
  const connect = isAdmin && (
    <Button
      variant="filled"
      onClick={() => setOpen({ what: 'create' })}
      disabled={connected.length >= OUTCOME_SOURCES_MAX}
    >{t`Connect provider`}</Button>
  );
  const isEmpty = calibration.data?.verdicts.length === 0;
  return (
    <Page
      title={t`Outcomes`}
      about={t`What became of your mail, and how often each kind of verdict was right.`}
      action={isEmpty ? null : connect}
    >
      <QueryResult query={calibration}>
        {(data) => (isEmpty ? <Beginning connect={connect} /> : <Measured calibration={data} />)}
      </QueryResult>
      {isEmpty && connected.length === 0 && sources.data?.origins.length === 0 ? null : (
        <QueryResult query={sources}>
          {({ sources: rows, origins }) => (
            <>
              {origins.length > 0 && (
                <Panel
                  title={t`Reported outcomes`}
                  flush="table"
                  note={t`numbers lead to the verifications, as long as the log has them; those of providers are counted with their connections`}
                >
                  <DataTable
                    label={t`Reported outcomes`}
                    columns={ORIGIN_COLUMNS}
                    rows={origins}
                    rowKey={({ origin }) => origin}
                  />
                </Panel>
              )}
              <Sources rows={rows} onOpen={isAdmin ? setOpen : null} />
            </>
          )}
        </QueryResult>
      )}
      {!test && <TrustedBounces />}
      <ConnectionDialogs open={open} onClose={() => setOpen(null)} />
    </Page>
  );
}

const route = getRouteApi('/inside/outcomes');

const ReportLink = () => (
  <Anchor
    inherit
    underline="always"
    renderRoot={(props) => <Link {...props} to="/docs/$operation" params={{ operation: 'reportOutcomes' }} />}
  >
    POST /v1/outcomes
  </Anchor>
);

const Beginning = ({ connect }: { connect: ReactNode }) => (
  <EmptyState title={t`No outcomes yet`} action={connect}>
    {connect ? (
      <Trans>
        Connect the provider that sends your mail, or report what became of it with <ReportLink /> and a key that has
        the scope outcomes.
      </Trans>
    ) : (
      <Trans>
        An admin connects the provider that sends your mail, or you report what became of it with <ReportLink /> and a
        key that has the scope outcomes.
      </Trans>
    )}{' '}
    {t`An outcome counts for the latest verification of its address.`}
  </EmptyState>
);

const Measured = ({ calibration: { verdicts, reliability, contradictions } }: { calibration: Calibration }) => (
  <>
    <Rates verdicts={verdicts} />
    <Panel
      title={t`By verdict`}
      flush="table"
      note={t`whose mail arrived, or bounced for a reason of the recipient; numbers lead to them, as long as the log has them`}
    >
      <DataTable
        label={t`By verdict`}
        columns={verdictColumns(verdicts)}
        rows={verdicts}
        rowKey={({ deliverability, reason, validation_type, provider }) =>
          JSON.stringify([deliverability, reason, validation_type, provider])
        }
      />
    </Panel>
    {reliability.length > 0 ? (
      <ReliabilityPanels rows={reliability} />
    ) : (
      <Panel title={t`Reliability`}>
        <Trans>
          No outcome yet of a reply with a confidence. Replies have one once {CALIBRATION_LEAST} verdicts of their kind
          have outcomes.
        </Trans>
      </Panel>
    )}
    {contradictions.length > 0 ? (
      <Panel
        title={t`Contradictions`}
        footer={<RowsLink search={{ mail: 'contradicting' }}>{t`All that the log has`}</RowsLink>}
        flush="table"
        note={t`undeliverable and arrived, or deliverable and bounced; the latest ${CONTRADICTIONS_LISTED} at most`}
      >
        <ContradictionsTable
          rows={contradictions}
          rowKey={({ verification_id }) => verification_id}
          verdict={(row) => (
            <Anchor
              size="sm"
              renderRoot={(props) => <Link {...props} to="/log/$id" params={{ id: row.verification_id }} />}
            >
              <VerdictOf of={row} />
            </Anchor>
          )}
        />
      </Panel>
    ) : (
      <Panel title={t`Contradictions`}>{t`No outcome contradicts its verdict.`}</Panel>
    )}
  </>
);

/** How much bounced, by deliverability. */
function Rates({ verdicts }: { verdicts: readonly CalibratedVerdict[] }) {
  return (
    <Figures
      label={t`How much bounced`}
      items={OUTCOMES.map((deliverability) => {
        const rows = verdicts.filter((row) => segmentOf(row) === deliverability);
        const sent = rows.reduce((sum, row) => sum + row.sent, 0);
        const bounced = shareOf(
          rows.reduce((sum, row) => sum + row.bounced, 0),
          sent,
        );
        return {
          label: t`${SEGMENT_LABELS[deliverability]}, bounced`,
          value: formatShare(bounced?.share ?? null),
          ...(sent > 0 && { link: { to: '/log', search: { deliverability, mail: 'known' } } }),
          note: bounced
            ? t`${intervalOf(bounced)}, of ${formatNumber(sent)}`
            : t`Too few: ${formatNumber(sent)} of ${CALIBRATION_LEAST}`,
        };
      })}
    />
  );
}

const providerOf = ({ provider }: VerdictKind): string => (provider === null ? t`Not known` : operatorName(provider));

/** The verifications of a row in the log; `all`: the rows. Where no mail host was looked up, there is no operator. */
function logOf(of: VerdictKind, all: readonly VerdictKind[]): LogSearch {
  const found = { deliverability: segmentOf(of), reason: of.reason ?? ('none' as const), level: of.validation_type };
  const isAlike = (row: VerdictKind) =>
    [row.deliverability, row.reason, row.validation_type].join() ===
    [of.deliverability, of.reason, of.validation_type].join();
  if (!all.some((row) => row.provider !== null && isAlike(row))) return found;
  return { ...found, operator: of.provider ?? 'none' };
}
const segmentOf = ({ deliverability, reason }: Pick<VerdictKind, 'deliverability' | 'reason'>): Segment =>
  deliverability === 'unknown' && reason === null ? 'not_checked' : deliverability;

const Bounced = ({ of, all }: { of: CalibratedVerdict; all: readonly CalibratedVerdict[] }) =>
  of.bounced === 0 ? (
    '0'
  ) : (
    <RowsLink search={{ ...logOf(of, all), mail: 'bounced' }}>{formatNumber(of.bounced)}</RowsLink>
  );

const verdictColumns = (all: readonly CalibratedVerdict[]): readonly Column<CalibratedVerdict>[] => [
  {
    header: t`Verdict`,
    cell: (row) => (
      <>
        <VerdictOf of={row} />
      </>
    ),
  },
  { header: t`Deliverability`, folds: 'first', cell: ({ deliverability }) => SEGMENT_LABELS[deliverability] },
  { header: t`Mail provider`, folds: true, cell: providerOf },
  { header: t`Level`, folds: true, cell: ({ validation_type }) => validation_type },
  {
    header: t`Verdicts`,
    numeric: true,
    cell: (row) => <RowsLink search={{ ...logOf(row, all), mail: 'known' }}>{formatNumber(row.sent)}</RowsLink>,
  },
  { header: t`Bounced`, numeric: true, folds: true, cell: (row) => <Bounced of={row} all={all} /> },
  {
    header: t`Rate`,
    numeric: true,
    cell: ({ bounce_rate, low, high, sent }) => <ShareOf share={bounce_rate} low={low} high={high} n={sent} />,
  },
];

const ORIGIN_COLUMNS: readonly Column<OutcomeOrigin>[] = [
  { header: t`Reported by`, cell: ({ origin }) => <span className="anywhere">{REPORTED_BY[origin]}</span> },
  {
    header: t`Outcomes`,
    numeric: true,
    cell: ({ origin, received }) => <RowsLink search={{ reported: origin }}>{formatNumber(received)}</RowsLink>,
  },
  { header: t`Last one`, cell: ({ last_received_at }) => <Timestamp at={last_received_at} /> },
];

/** Where outcomes come from by themselves. */
const Sources = (props: { rows: readonly OutcomeSource[]; onOpen: ((dialog: ConnectionDialog) => void) | null }) => (
  <Stack>
    <Title order={2}>{t`Connections`}</Title>
    <Text size="sm">
      <Trans>
        {props.rows.length === 0 ? t`No provider is connected. ` : t`Providers that report on their own. `}
        Other systems report with <ReportLink />.
        {props.onOpen === null && t` Only admins and owners can connect providers.`}
      </Trans>
    </Text>
    {props.rows.length > 0 && <Connections sources={props.rows} onOpen={props.onOpen} />}
    {props.rows.length >= OUTCOME_SOURCES_MAX && (
      <Text size="sm" c="dimmed">
        <Trans>This account has all {formatNumber(OUTCOME_SOURCES_MAX)} connections that it can have.</Trans>
      </Text>
    )}
  </Stack>
);

/** Whether an address that bounced is undeliverable without a look-up. Changed by admins only. */
function TrustedBounces() {
  const { id } = useAccount();
  const isAdmin = useHasRole('admin');
  const query = useQuery(accountQuery(id));
  return (
    <Stack component="section" aria-labelledby="trust" maw={640}>
      <Title order={2} id="trust">{t`Trusted bounces`}</Title>
      <QueryResult query={query}>
        {(account) => (
          <>
            <Text size="sm">
              {account.trust_bounces_days === null
                ? t`Verdicts do not depend on your bounces.`
                : t`For ${plural(account.trust_bounces_days, { one: '# day', other: '# days' })}, an address that bounced for its own reason, with nothing delivered since, is undeliverable without a look-up, for 0 credits.`}
              {!isAdmin && t` Only admins and owners can change this.`}
            </Text>
            {isAdmin && <TrustForm key={account.trust_bounces_days} account={account} />}
          </>
        )}
      </QueryResult>
    </Stack>
  );
}

function TrustForm({ account: { id, trust_bounces_days: days } }: { account: Account }) {
  const client = useQueryClient();
  const submit = useSubmit(async ({ trust_bounces_days: text = '' }) => {
    const chosen = text.trim() === '' ? null : parseInteger(text, 'trust_bounces_days', TRUST_BOUNCES_DAYS.min);
    if (chosen === days) return void notify(t`No changes to save.`);
    await changeAccount(id, { trust_bounces_days: chosen });
    void notify(t`Saved.`);
    await client.invalidateQueries({ queryKey: accountQuery(id).queryKey });
  });
  return (
    <Form submit={submit} action={t`Save`}>
      <TextInput
        {...submit.field('trust_bounces_days')}
        required={false}
        label={t`Trust bounces (days)`}
        description={t`${TRUST_BOUNCES_DAYS.min} to ${TRUST_BOUNCES_DAYS.max}: for so long, an address that bounced is undeliverable at once. Leave empty to trust none.`}
        defaultValue={days === null ? '' : String(days)}
        inputMode="numeric"
        autoComplete="off"
      />
    </Form>
  );
}
