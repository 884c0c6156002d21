import { Anchor, Button, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { CALIBRATION_LEAST, shareOf } from '../../../src/kernel/facts/calibration.ts';
import { CONTRADICTIONS_TOLD, OUTCOME_SOURCES_MAX, TRUST_BOUNCES_DAYS } from '../../../src/kernel/facts/limits.ts';
import { accountQuery, changeAccount } from '../api/account.ts';
import type { Account, CalibratedVerdict, Calibration, ListedContradiction, OutcomeSource } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { SEGMENT_LABELS } from '../parts/chart/bars.ts';
import { type Column, DataTable, NarrowOnly } from '../parts/data-table.tsx';
import { formatShare } from '../parts/delta.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Figures } from '../parts/figures.tsx';
import { Form } from '../parts/form.tsx';
import { formatNumber, pluralize } from '../parts/format.ts';
import { notify } from '../parts/notify.tsx';
import { operatorName } from '../parts/operator-name.ts';
import { Page } from '../parts/page.tsx';
import { Panel } from '../parts/panel.tsx';
import { parseInteger } from '../parts/parse-integer.ts';
import { QueryResult } from '../parts/query-result.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useSearchOnce } from '../parts/use-search-once.ts';
import { useSubmit } from '../parts/use-submit.ts';
import { VerdictLine } from '../parts/verdict/verdict-line.tsx';
import { VERDICTS } from './lists/deliverability.ts';
import { type ConnectionDialog, ConnectionDialogs, Connections } from './outcomes/connections.tsx';
import { calibrationQuery, outcomeSourcesQuery } from './outcomes/queries.ts';
import { intervalOf, ReliabilityPanels, ShareOf } from './outcomes/reliability.tsx';

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
    >
      Connect provider
    </Button>
  );
  const isEmpty = calibration.data?.verdicts.length === 0;
  return (
    <Page
      title="Outcomes"
      about="What became of your mail, and how often each kind of verdict was right."
      action={isEmpty ? null : connect}
    >
      <QueryResult query={calibration}>
        {(data) => (isEmpty ? <Beginning connect={connect} /> : <Measured calibration={data} />)}
      </QueryResult>
      {isEmpty && connected.length === 0 ? null : (
        <QueryResult query={sources}>
          {({ sources: rows }) => <Sources rows={rows} onOpen={isAdmin ? setOpen : null} />}
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
  <EmptyState title="No outcomes yet" action={connect}>
    {connect
      ? 'Connect the provider that sends your mail, or report'
      : 'An admin connects the provider that sends your mail, or you report'}{' '}
    what became of it with <ReportLink /> and a key that has the scope outcomes. An outcome counts for the latest
    verification of its address.
  </EmptyState>
);

const Measured = ({ calibration: { verdicts, reliability, contradictions } }: { calibration: Calibration }) => (
  <>
    <Rates verdicts={verdicts} />
    <Panel title="By verdict" flush="table" note="whose mail arrived, or bounced for a reason of the recipient">
      <DataTable
        label="By verdict"
        columns={VERDICT_COLUMNS}
        rows={verdicts}
        rowKey={({ deliverability, reason, validation_type, provider }) =>
          JSON.stringify([deliverability, reason, validation_type, provider])
        }
      />
    </Panel>
    {reliability.length > 0 ? (
      <ReliabilityPanels rows={reliability} />
    ) : (
      <Panel title="Reliability">
        No outcome yet of a reply with a confidence. Replies have one once {CALIBRATION_LEAST} verdicts of their kind
        have outcomes.
      </Panel>
    )}
    {contradictions.length > 0 ? (
      <Panel
        title="Contradictions"
        flush="table"
        note={`undeliverable and arrived, or deliverable and bounced; the latest ${CONTRADICTIONS_TOLD} at most`}
      >
        <DataTable
          label="Contradictions"
          columns={CONTRADICTION_COLUMNS}
          rows={contradictions}
          rowKey={({ verification_id }) => verification_id}
        />
      </Panel>
    ) : (
      <Panel title="Contradictions">No outcome contradicts its verdict.</Panel>
    )}
  </>
);

/** How much bounced, by deliverability. */
function Rates({ verdicts }: { verdicts: readonly CalibratedVerdict[] }) {
  return (
    <Figures
      label="How much bounced"
      items={VERDICTS.map((deliverability) => {
        const rows = verdicts.filter((row) => row.deliverability === deliverability);
        const sent = rows.reduce((sum, row) => sum + row.sent, 0);
        const bounced = shareOf(
          rows.reduce((sum, row) => sum + row.bounced, 0),
          sent,
        );
        return {
          label: `${SEGMENT_LABELS[deliverability]}, bounced`,
          value: formatShare(bounced?.share ?? null),
          note: bounced
            ? `${intervalOf(bounced)}, of ${formatNumber(sent)}`
            : `Too few: ${formatNumber(sent)} of ${CALIBRATION_LEAST}`,
        };
      })}
    />
  );
}

type Verdict = Pick<CalibratedVerdict, 'deliverability' | 'reason' | 'validation_type' | 'provider'>;

/** Of verdicts that differ by it alone: a full mailbox that is risky may be used again. */
const statusOf = ({ deliverability }: Verdict) => (deliverability === 'undeliverable' ? 'bad' : 'good');
const providerOf = ({ provider }: Verdict): string => (provider === null ? 'Not known' : operatorName(provider));
/** In words, where there are no columns for it. */
const placeOf = (of: Verdict): string =>
  `${of.provider === null ? 'provider not known' : operatorName(of.provider)}, ${of.validation_type}`;
const VerdictOf = ({ of }: { of: Verdict }) => <VerdictLine of={{ ...of, status: statusOf(of) }} />;

const VERDICT_COLUMNS: readonly Column<CalibratedVerdict>[] = [
  {
    header: 'Verdict',
    cell: (row) => (
      <>
        <VerdictOf of={row} />
        <NarrowOnly>
          <Text size="xs">
            {placeOf(row)}; {formatNumber(row.bounced)} bounced
          </Text>
        </NarrowOnly>
      </>
    ),
  },
  { header: 'Deliverability', wideOnly: 'first', cell: ({ deliverability }) => SEGMENT_LABELS[deliverability] },
  { header: 'Mail provider', wideOnly: true, cell: providerOf },
  { header: 'Level', wideOnly: true, cell: ({ validation_type }) => validation_type },
  { header: 'Verdicts', numeric: true, cell: ({ sent }) => formatNumber(sent) },
  { header: 'Bounced', numeric: true, wideOnly: true, cell: ({ bounced }) => formatNumber(bounced) },
  {
    header: 'Rate',
    numeric: true,
    cell: ({ bounce_rate, low, high, sent }) => <ShareOf share={bounce_rate} low={low} high={high} n={sent} />,
  },
];

const OUTCOME_LABELS: Readonly<Record<ListedContradiction['outcome'], string>> = {
  delivered: 'Delivered',
  bounced: 'Bounced',
};
/** The codes of a bounce and its words. */
const bounceOf = ({ code, template }: ListedContradiction): string =>
  [code, template].filter((part) => part !== null).join(' ');

const CONTRADICTION_COLUMNS: readonly Column<ListedContradiction>[] = [
  {
    header: 'Verdict',
    cell: (row) => (
      <>
        <Anchor
          size="sm"
          renderRoot={(props) => <Link {...props} to="/log/$id" params={{ id: row.verification_id }} />}
        >
          <VerdictOf of={row} />
        </Anchor>
        <Text size="xs" c="dimmed">
          {placeOf(row)}
        </Text>
        <NarrowOnly>
          <Text size="xs" className="anywhere">
            {decidedBy(row)}
          </Text>
        </NarrowOnly>
      </>
    ),
  },
  { header: 'Decided by', wideOnly: true, cell: (row) => <span className="anywhere">{decidedBy(row)}</span> },
  {
    header: 'Outcome',
    cell: (row) => (
      <>
        <Text size="sm">{OUTCOME_LABELS[row.outcome]}</Text>
        <Text size="xs" className="anywhere">
          {bounceOf(row)}
        </Text>
        <NarrowOnly>
          <Text size="xs" component="div">
            <Timestamp at={row.at} />
          </Text>
        </NarrowOnly>
      </>
    ),
  },
  { header: 'At', wideOnly: true, cell: ({ at }) => <Timestamp at={at} /> },
];

/** The rule and the codes of the reply. */
function decidedBy({ rule, reply }: ListedContradiction): string {
  if (rule === null) return 'No mail server was asked';
  return reply === null ? rule : `${rule}, reply ${reply}`;
}

/** Where outcomes come from by themselves. */
const Sources = (props: { rows: readonly OutcomeSource[]; onOpen: ((dialog: ConnectionDialog) => void) | null }) => (
  <Stack>
    <Title order={2}>Connections</Title>
    <Text size="sm">
      {props.rows.length === 0 ? 'No provider is connected. ' : 'Providers that report on their own. '}
      Other systems report with <ReportLink />.
      {props.onOpen === null && ' Only admins and owners can connect providers.'}
    </Text>
    {props.rows.length > 0 && <Connections sources={props.rows} onOpen={props.onOpen} />}
    {props.rows.length >= OUTCOME_SOURCES_MAX && (
      <Text size="sm" c="dimmed">
        This account has all {formatNumber(OUTCOME_SOURCES_MAX)} connections that it can have.
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
      <Title order={2} id="trust">
        Trusted bounces
      </Title>
      <QueryResult query={query}>
        {(account) => (
          <>
            <Text size="sm">
              {account.trust_bounces_days === null
                ? 'Verdicts do not depend on your bounces.'
                : `For ${pluralize(account.trust_bounces_days, 'day')}, an address that bounced for its own reason, with nothing delivered since, is undeliverable without a look-up, for 0 credits.`}
              {!isAdmin && ' Only admins and owners can change this.'}
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
    if (chosen === days) return void notify('No changes to save.');
    await changeAccount(id, { trust_bounces_days: chosen });
    void notify('Saved.');
    await client.invalidateQueries({ queryKey: accountQuery(id).queryKey });
  });
  return (
    <Form submit={submit} action="Save">
      <TextInput
        {...submit.field('trust_bounces_days')}
        required={false}
        label="Trust bounces (days)"
        description={`${TRUST_BOUNCES_DAYS.min} to ${TRUST_BOUNCES_DAYS.max}: for so long, an address that bounced is undeliverable at once. Leave empty to trust none.`}
        defaultValue={days === null ? '' : String(days)}
        inputMode="numeric"
        autoComplete="off"
      />
    </Form>
  );
}
