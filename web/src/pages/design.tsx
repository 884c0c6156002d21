import { Alert, Badge, Button, Group, Modal, NativeSelect, Stack, Switch, Text, TextInput } from '@mantine/core';
import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { type ComponentProps, type ReactNode, useState } from 'react';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import type { SavedView, Session, Verification } from '../api/schema.ts';
import { sessionQuery } from '../api/session.ts';
import type { Bars } from '../parts/chart/bars.ts';
import { BarsChart } from '../parts/chart/bars-chart.tsx';
import { Chart } from '../parts/chart/chart.tsx';
import type { ChartData } from '../parts/chart/series.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { CodeField } from '../parts/code-field.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { DescriptionItem, DescriptionList } from '../parts/description-list.tsx';
import { Download } from '../parts/download.tsx';
import { DownloadMenu } from '../parts/download-menu.tsx';
import { Drawer, DrawerSteps } from '../parts/drawer.tsx';
import { Elapsed } from '../parts/elapsed.tsx';
import { EmailField, PersonNameField } from '../parts/email-field.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { Figures } from '../parts/figures.tsx';
import { FilterChip } from '../parts/filter-chip.tsx';
import { DialogForm, Form } from '../parts/form.tsx';
import { FormResult } from '../parts/form-result.tsx';
import { FreshBar } from '../parts/fresh-bar.tsx';
import { Glyph, type Outcome } from '../parts/glyph.tsx';
import { ICON_NAMES, Icon } from '../parts/icon.tsx';
import { InvalidLink } from '../parts/invalid-link.tsx';
import { InvitationForm } from '../parts/invitation-form.tsx';
import { LoadMore, useKeysetQuery } from '../parts/load-more.tsx';
import { Loading, LoadingPage } from '../parts/loading.tsx';
import { Wordmark } from '../parts/mark.tsx';
import { NotFound } from '../parts/not-found.tsx';
import { NotLoaded } from '../parts/not-loaded.tsx';
import { notify } from '../parts/notify.tsx';
import { OidcButton } from '../parts/oidc-button.tsx';
import { Page } from '../parts/page.tsx';
import { Pagination } from '../parts/pagination.tsx';
import { Pair, Panel } from '../parts/panel.tsx';
import { NewPasswordField, PasswordField } from '../parts/password-field.tsx';
import { Prose } from '../parts/prose.tsx';
import { ProviderConfirmation, type ProviderConfirmed } from '../parts/provider-confirmation.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Review } from '../parts/review.tsx';
import { BelowAddress, OpenableRow, RowGroups, RowLink, RowsTable } from '../parts/rows.tsx';
import { viewsKey } from '../parts/saved-views/queries.ts';
import { ViewsMenu } from '../parts/saved-views/views-menu.tsx';
import { SearchBar } from '../parts/search-bar.tsx';
import { SelectionBar, useSelection } from '../parts/selection.tsx';
import { SetupHint } from '../parts/setup-hint.tsx';
import { SignInLink } from '../parts/sign-in-link.tsx';
import { sortable } from '../parts/sorting.tsx';
import { SourceSwitch, WithoutSource } from '../parts/source-switch.tsx';
import { SuggestingEmailField } from '../parts/suggesting-email-field.tsx';
import { type TimeSearch, USUAL } from '../parts/time.ts';
import { TimePicker } from '../parts/time-picker.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useFields } from '../parts/use-fields.ts';
import { useSubmit } from '../parts/use-submit.ts';
import { Verdict } from '../parts/verdict/verdict.tsx';
import { Address, VerdictLine } from '../parts/verdict/verdict-line.tsx';
import { ColorSchemeToggle } from '../shell/color-scheme-toggle.tsx';
import css from './design/design.module.css';

const Sample = ({ title, children }: { title: string; children: ReactNode }) => (
  <Panel title={title}>
    <Stack>{children}</Stack>
  </Panel>
);

/** Dialogs, the drawer and notifications. */
function Overlays() {
  const [opened, setOpened] = useState<'dialog' | 'question' | 'drawer' | null>(null);
  const close = () => setOpened(null);
  return (
    <Panel title="What opens">
      <Group>
        <Button onClick={() => setOpened('dialog')}>Dialog</Button>
        <Button onClick={() => setOpened('question')}>Question</Button>
        <Button onClick={() => setOpened('drawer')}>Drawer</Button>
        <Button onClick={() => void notify('Filter removed.', () => Promise.resolve())}>Notification</Button>
      </Group>
      <Modal opened={opened === 'dialog'} onClose={close} title="Dialog">
        Words.
      </Modal>
      <ConfirmDialog
        title="Revoke “CRM import”"
        action="Revoke"
        typed="CRM import"
        opened={opened === 'question'}
        onClose={close}
        onConfirm={() => Promise.resolve()}
      >
        Requests with this key are refused from now on.
      </ConfirmDialog>
      {opened === 'drawer' && (
        <Drawer label="Entry" title="Entry" actions={<DrawerSteps onStep={() => undefined} />} onClose={close}>
          Words.
        </Drawer>
      )}
    </Panel>
  );
}

/** An invitation that was mailed, and one whose link is shown. */
const Forms = () => (
  <Pair alike>
    <Sample title="Invitation">
      <InvitationForm
        send={() => Promise.resolve({ id: 'inv_1', mailed: true, link: null })}
        done={<Button>Done</Button>}
        onCancel={() => undefined}
      />
    </Sample>
    <Sample title="Invitation, without mail">
      <InvitationForm
        send={() =>
          Promise.resolve({ id: 'inv_2', mailed: false, link: 'https://verify.example.net/invitation#token=sample' })
        }
      />
    </Sample>
  </Pair>
);

// What the parts show on the page of all parts.

const AT = '2026-11-20T10:00:00.000Z';

const day = (n: number): string => new Date(Date.UTC(2026, 9, 22 + n)).toISOString();
/** A month with a quiet end of each week, and one day of trouble. */
const volume = (n: number): number => (n % 7 > 4 ? 120 : 420 + ((n * 53) % 90)) + (n === 17 ? 380 : 0);

const BARS: Bars = {
  bucket: 'day',
  bars: Array.from({ length: 30 }, (_, n) => {
    const total = volume(n);
    const part = (share: number) => Math.round(total * share);
    const [not_checked, unknown, risky, undeliverable] = [
      part(0.12),
      part(0.06),
      part(0.09),
      part(n === 17 ? 0.4 : 0.08),
    ];
    return {
      at: day(n),
      total,
      segments: {
        deliverable: total - not_checked - unknown - risky - undeliverable,
        not_checked,
        unknown,
        risky,
        undeliverable,
      },
      rejected: n === 17 ? 140 : n % 5,
      before: volume(n + 3) - 40,
    };
  }),
};

const LINES: ChartData = {
  at: BARS.bars.map(({ at }) => at),
  bucket: 'day',
  shape: 'lines',
  series: [
    { label: 'Median', tone: 'first', values: BARS.bars.map(({ total }) => total / 2) },
    { label: '95 %', tone: 'second', values: BARS.bars.map(({ total }) => total * 1.4), line: 'dashed' },
  ],
};

const OUTCOME_LABELS: Readonly<Record<Outcome, string>> = {
  deliverable: 'Deliverable',
  not_checked: 'Mailbox not checked',
  unknown: 'Unknown',
  risky: 'Risky',
  undeliverable: 'Undeliverable',
  rejected: 'Rejected request',
};
const OUTCOMES = keysOf(OUTCOME_LABELS).map((outcome) => [outcome, OUTCOME_LABELS[outcome]] as const);

type Judged = Pick<Verification, 'deliverability' | 'reason' | 'status' | 'validation_type'>;
const JUDGED: readonly (Judged & { readonly email: string })[] = [
  {
    email: 'ada.lind@fabrikam.example',
    deliverability: 'deliverable',
    reason: null,
    status: 'good',
    validation_type: 'smtp',
  },
  {
    email: 'bo.ek@fabrikam.example',
    deliverability: 'unknown',
    reason: null,
    status: 'good',
    validation_type: 'mx',
  },
  {
    email: 'ada.lind@contoso.example',
    deliverability: 'unknown',
    reason: 'greylisted',
    status: 'good',
    validation_type: 'smtp',
  },
  {
    email: 'office@contoso.example',
    deliverability: 'risky',
    reason: 'catch_all',
    status: 'good',
    validation_type: 'smtp',
  },
  {
    email: 'someone@mailinator.com',
    deliverability: 'risky',
    reason: 'disposable_domain',
    status: 'bad',
    validation_type: 'mx',
  },
  {
    email: 'no.such.person@fabrikam.example',
    deliverability: 'undeliverable',
    reason: 'mailbox_not_found',
    status: 'bad',
    validation_type: 'smtp',
  },
  {
    email: 'kim@no-such-domain.example',
    deliverability: 'undeliverable',
    reason: 'domain_not_found',
    status: 'bad',
    validation_type: 'mx',
  },
];

const TOKENS: Readonly<Record<string, readonly string[]>> = {
  Grounds: ['paper', 'surface', 'sunken', 'hover', 'pressed'],
  Lines: ['line', 'line-strong', 'line-control'],
  Words: ['ink', 'ink-2', 'ink-3'],
  Accent: ['accent', 'accent-strong', 'accent-soft', 'accent-edge'],
  Buttons: ['solid', 'solid-hover', 'on-solid', 'cut', 'cut-hover'],
  ...Object.fromEntries(
    ['deliverable', 'risky', 'undeliverable', 'unknown', 'rejected'].map((name) => [
      `Verdict: ${name}`,
      [`v-${name}`, `v-${name}-ink`, `v-${name}-soft`],
    ]),
  ),
};

const FIGURES: ComponentProps<typeof Figures>['items'] = [
  { label: 'Verified', value: '12,480', link: { to: '/log' } },
  {
    label: 'Deliverable',
    value: '81.2',
    unit: '%',
    delta: { direction: 'up', change: '0.8 points', from: '80.4 %', tone: 'better' },
  },
  {
    label: 'Latency',
    value: '640',
    unit: 'ms',
    delta: { direction: 'up', change: '90 ms', from: '550 ms', tone: 'worse' },
  },
  { label: 'Credits', value: '1,204', note: 'about 12 days' },
];

const SESSION: Session = {
  user: null,
  accounts: [
    {
      id: 'acc_sample',
      name: 'Fabrikam',
      role: 'owner',
      plan: 'premium',
      prices: { mx: 1, smtp: 10, unknown: 1 },
      status: 'active',
      second_factor_required: false,
      test_account: 'acc_sample_test',
    },
  ],
  setup_command: 'bin/mailvet.mjs user create --email you@example.com --operator',
  signup: false,
  mail: false,
  oidc: null,
  mail_servers: null,
  ip: '192.0.2.1',
};

const VIEWS: readonly SavedView[] = [
  { id: 'view_1', name: 'Rejected, last 24 hours', search: 'range=24h&status=rejected' },
  { id: 'view_2', name: 'Bounces of the newsletter', search: 'deliverability=undeliverable' },
];

const VERIFICATION: Verification = {
  email: 'no.such.person+news@fabrikam.example',
  status: 'bad',
  validation_type: 'smtp',
  credits_used: 10,
  is_disposable: false,
  deliverability: 'undeliverable',
  reason: 'mailbox_not_found',
  did_you_mean: 'no.such.person@fabrikam.test',
  normalized_email: 'no.such.person@fabrikam.example',
  canonical_email: 'no.such.person@fabrikam.example',
  canonical_rule: 'tag',
  seen: null,
  history: null,
  confidence: null,
  local_part: 'no.such.person+news',
  domain: 'fabrikam.example',
  tag: 'news',
  is_role: false,
  is_free: false,
  is_relay: false,
  relay_provider: null,
  is_catch_all: false,
  is_mailbox_full: false,
  is_disabled: false,
  retry_after: null,
  checks: {
    syntax: { result: 'pass' },
    filter: { result: 'pass' },
    disposable: { result: 'pass', list_version: '2026-11-01' },
    domain: { result: 'pass' },
    mx: { result: 'pass', records: [{ host: 'mx1.fabrikam.example', priority: 10 }], provider: null },
    smtp: { result: 'fail', host: 'mx1.fabrikam.example', stage: 'rcpt', code: 550, enhanced_code: '5.1.1', tls: true },
    catch_all: { result: 'skipped' },
  },
  warnings: [],
  id: 'ver_sample',
  duration_ms: 412,
  verified_at: AT,
  decision: null,
  evidence: {
    mail_hosts: [{ host: 'mx1.fabrikam.example', priority: 10, addresses: ['192.0.2.25'] }],
    unusable_hosts: [{ host: 'mx2.fabrikam.example', why: 'no address' }],
    smtp: {
      host: 'mx1.fabrikam.example',
      address: '192.0.2.25',
      tls: true,
      rule: null,
      egress: 'default',
      decided_by: null,
      probability: null,
      attempts: [
        { host: 'mx1.fabrikam.example', address: '192.0.2.25', stage: 'rcpt', code: 550, rule: null, next: null },
      ],
      transcript: [
        { at: 12, from: 'server', text: '220 mx1.fabrikam.example ESMTP' },
        { at: 40, from: 'client', text: 'RCPT TO:<no.such.person@fabrikam.example>' },
        { at: 62, from: 'server', text: '550 5.1.1 No such user here' },
      ],
    },
    catch_all: null,
  },
};

/** A verification in full, with its evidence. */
const OneVerdict = () => (
  <Sample title="A verdict in full">
    <Verdict reply={VERIFICATION} onSuggestion={() => undefined} />
  </Sample>
);

/** What reads from the service gets what is written here: this page needs neither a session nor an account. */
const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, retry: false } } });
client.setQueryData(sessionQuery.queryKey, SESSION);
client.setQueryData(viewsKey(SESSION.accounts[0]!.id, 'log'), { views: VIEWS });

const ROWS = JUDGED.map((judged, id) => ({ ...judged, id }));
const keyOf = ({ id }: { id: number }) => id;
const by = sortable({ time: 'desc', address: 'asc' }, {}, () => ({ to: '.' }));

/** Figures, tables with all that belongs to them, and lists of terms. */
const Tables = () => (
  <QueryClientProvider client={client}>
    <SourceSwitch source="api" onChange={() => undefined} />
    <WithoutSource count={1_234} source="api" />
    <Figures label="Figures" items={FIGURES} />
    <SelectableTable />
    <Sample title="Rows that open">
      <OpenableRows />
    </Sample>
    <Sample title="Above and below rows">
      <Around />
    </Sample>
    <Sample title="Lists of terms">
      <DescriptionList>
        <DescriptionItem term="Mail server">mx1.fabrikam.example</DescriptionItem>
        <DescriptionItem term="Verified">
          <Timestamp at={AT} />
        </DescriptionItem>
      </DescriptionList>
      <Download path="/openapi" />
    </Sample>
  </QueryClientProvider>
);

function SelectableTable() {
  const [page, setPage] = useState(2);
  const selection = useSelection(ROWS, keyOf, ({ email }) => email);
  return (
    <>
      <SelectionBar of={selection}>
        <Button size="xs" color="red">
          Remove
        </Button>
      </SelectionBar>
      <DataTable
        label="A table"
        columns={[
          selection.column,
          {
            ...by('address', 'Address'),
            cell: (row) => (
              <>
                <Address email={row.email} of={row} />
              </>
            ),
          },
          { header: 'Verdict', cell: (row) => <VerdictLine of={row} />, folds: true },
          { ...by('time', 'Time'), cell: () => <Timestamp at={AT} />, folds: 'first' },
          { header: 'Credits', numeric: true, cell: ({ validation_type }) => (validation_type === 'smtp' ? 10 : 1) },
        ]}
        rows={ROWS}
        rowKey={keyOf}
      />
      <Pagination label="Pages" page={page} total={5} onTurn={setPage} />
    </>
  );
}

function OpenableRows() {
  const [open, setOpen] = useState(1);
  return (
    <RowsTable label="Rows">
      <thead>
        <tr>
          <th scope="col">Address</th>
        </tr>
      </thead>
      <RowGroups rows={ROWS}>
        {(row) => (
          <OpenableRow key={row.id} id={`row-${row.id}`} isOpen={row.id === open} onOpen={() => setOpen(row.id)}>
            <td>
              <RowLink href="#rows" label={row.email}>
                <Address email={row.email} of={row} />
              </RowLink>
              <BelowAddress>
                <VerdictLine of={row} />
              </BelowAddress>
            </td>
          </OpenableRow>
        )}
      </RowGroups>
    </RowsTable>
  );
}

function Around() {
  const [search, setSearch] = useState(VIEWS[0]!.search);
  const pages = useKeysetQuery(['pages'], (before) =>
    Promise.resolve({ first: Number(before ?? 0) + 1, next: before === '20' ? null : Number(before ?? 0) + 10 }),
  );
  const failing = useQuery({
    queryKey: ['failing'],
    queryFn: () => Promise.reject<string>(new Error('The service is busy. Try again in a minute.')),
  });
  return (
    <>
      <Review title="2 keys to review" of={[]}>
        <span>Staging was never used.</span>
      </Review>
      <FreshBar icon="arrow-up" onShow={() => undefined}>
        3 new
      </FreshBar>
      <DownloadMenu
        label="Download"
        formats={{ csv: 'CSV', jsonl: 'JSON Lines' }}
        parts={[{ label: 'Undeliverable', icon: <Glyph of="undeliverable" />, count: 2, href: () => '#download' }]}
      />
      <div>
        <ViewsMenu page="log" builtIn={VIEWS} search={search} onChoose={setSearch} />
      </div>
      <LoadMore query={pages}>
        {(shown) => shown.map(({ first }) => <p key={first}>{`Rows ${first} to ${first + 9}`}</p>)}
      </LoadMore>
      <NotLoaded what="Your balance" query={failing} />
      <QueryResult query={failing}>{(text) => text}</QueryResult>
    </>
  );
}

/** Every part with its states. For development: it is not in the built dashboard. */
export const DesignPage = () => (
  <main className={css.main}>
    <Page title="Parts" about="Every part of the dashboard, with its states." action={<ColorSchemeToggle />}>
      <Tokens />
      <Verdicts />
      <OneVerdict />
      <Buttons />
      <Fields />
      <Forms />
      <Tables />
      <Charts />
      <Messages />
      <Overlays />
      <WholePages />
    </Page>
  </main>
);

const Tokens = () => (
  <Sample title="Tokens">
    {Object.entries(TOKENS).map(([group, names]) => (
      <Group key={group} gap="xs">
        <Text w={160}>{group}</Text>
        {names.map((name) => (
          <span key={name} className={css.token}>
            <span style={{ background: `var(--${name})` }} />
            {name}
          </span>
        ))}
      </Group>
    ))}
    <Wordmark />
    <Group gap="xs">
      {ICON_NAMES.map((name) => (
        <span key={name} className={css.icon}>
          <Icon name={name} /> {name}
        </span>
      ))}
    </Group>
  </Sample>
);

const Verdicts = () => (
  <Pair alike>
    <Sample title="Glyphs">
      {OUTCOMES.map(([outcome, label]) => (
        <Group key={outcome} gap="xs">
          <Glyph of={outcome} />
          <Glyph of={outcome} size={24} />
          {label}
        </Group>
      ))}
    </Sample>
    <Sample title="Verdicts in rows">
      {JUDGED.map((of) => (
        <div key={`${of.email} ${of.reason}`}>
          <Address email={of.email} of={of} />
          <br />
          <VerdictLine of={of} />
        </div>
      ))}
    </Sample>
  </Pair>
);

const LOOKS = [
  ['Default', {}],
  ['Primary', { variant: 'filled' }],
  ['Quiet', { variant: 'subtle' }],
  ['Final', { variant: 'filled', color: 'red' }],
] as const;

const Buttons = () => (
  <Sample title="Buttons">
    {LOOKS.map(([name, look]) => (
      <Group key={name}>
        <Button {...look}>{name}</Button>
        <Button {...look} size="xs">
          Small
        </Button>
        <Button {...look} disabled>
          Disabled
        </Button>
        <Button {...look} loading>
          Busy
        </Button>
      </Group>
    ))}
    <Group gap="xs">
      <Badge variant="default">Tag</Badge>
      {(['green', 'yellow', 'red', 'gray'] as const).map((color) => (
        <Badge key={color} variant="outline" color={color}>
          {color}
        </Badge>
      ))}
    </Group>
  </Sample>
);

function Fields() {
  const [chip, setChip] = useState<string | null>('staging');
  const [name, setName] = useState('');
  const [time, setTime] = useState<TimeSearch>({});
  const send = () => Promise.reject(new Error('The service is busy. Try again in a minute.'));
  const submit = useSubmit(send);
  const fields = useFields({ values: { name }, missing: { name: name === '' && 'Enter a name.' }, send });
  return (
    <Pair alike>
      <Sample title="Fields">
        <TextInput label="Text" description="What it is for." placeholder="placeholder" />
        <TextInput label="Wrong" defaultValue="tomorrow" error="Enter a date, such as 2026-11-20." />
        <TextInput label="Disabled" disabled defaultValue="fixed" />
        <NativeSelect label="Choice" data={['Starter', 'Premium']} />
        <Switch label="Switch" defaultChecked />
        <SearchBar
          label="Rows"
          search={{ label: 'Search', placeholder: 'Address', maxLength: 64, value: '', onSearch: () => undefined }}
          count="17 rows"
        >
          <TimePicker time={time} onChange={setTime} />
        </SearchBar>
        <Group>
          <FilterChip name="Key" options={[{ value: 'staging', label: 'Staging' }]} value={chip} onChange={setChip} />
          <FilterChip name="Reason" options={[]} value={null} onChange={() => undefined} />
          <TimePicker time={time} usual={USUAL} onChange={setTime} />
        </Group>
      </Sample>
      <Sample title="Form">
        <Form submit={submit} action="Save" main>
          <PersonNameField defaultValue="Ada" />
          <EmailField {...submit.field('email')} />
          <SuggestingEmailField {...submit.field('invited')} label="Invited" />
          <PasswordField {...submit.field('password')} />
          <NewPasswordField {...submit.field('next')} label="New password" />
          <CodeField {...submit.field('code')} />
        </Form>
        <DialogForm submit={fields} action="Save" onCancel={() => undefined}>
          <TextInput
            label="Name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fields.errorOf('name')}
          />
        </DialogForm>
      </Sample>
    </Pair>
  );
}

const Charts = () => (
  <>
    <BarsChart
      title="Bars"
      data={BARS}
      beforeLabel="30 days before"
      linkOf={() => ({ to: '/log' })}
      linkOfSegment={() => ({ to: '/log' })}
      rejected
    />
    <Sample title="Lines">
      <Chart
        title="Latency"
        summary="Median and 95 % by day."
        unit=" ms"
        data={LINES}
        linkOf={() => ({ to: '/log' })}
      />
    </Sample>
  </>
);

const Messages = () => (
  <>
    <Pair alike>
      <Sample title="Notes">
        <ErrorAlert error={new Error('The service is busy. Try again in a minute.')} onRetry={() => undefined} />
        <ErrorAlert error={new TypeError('x is undefined')} />
        <Alert variant="outline">Parts of this URL are not valid and were ignored: page.</Alert>
        <FormResult action={<Button>Done</Button>}>The invitation was mailed.</FormResult>
        <Loading />
        <Elapsed label="Verifying" seconds={20} />
      </Sample>
      <Sample title="Empty">
        <EmptyState title="No webhooks" action={<Button variant="filled">Create webhook</Button>}>
          Events of this account are sent to your server.
        </EmptyState>
        <SetupHint />
        <NotFound inside />
      </Sample>
    </Pair>
    <Pair alike>
      <Sample title="Texts to copy">
        <CopyText label="API key" text="mv_test_0123456789abcdef" />
        <Text>
          <Prose text="`1` adds the evidence." />
        </Text>
      </Sample>
      <CodeBlock
        label="sample"
        header="Code"
        code={'curl -sS https://verify.example.net/v1/usage \\\n  -H "Authorization: Bearer $MAILVET_KEY"'}
      />
    </Pair>
  </>
);

const NONE = () => undefined;
const EXPIRED = {
  token: null,
  rejection: 'The link has expired.',
  onError: NONE,
  discard: NONE,
  use: async () => NONE(),
};

const NOT_CONFIRMED: ProviderConfirmed = { provider: 'Example ID', confirmed: false, use: () => ({ oidc: true }) };

/** What stands in place of a page. */
const WholePages = () => (
  <>
    <Sample title="A page that loads">
      <LoadingPage />
    </Sample>
    <Sample title="A link that is no longer valid">
      <InvalidLink link={EXPIRED}>Ask for a new one, or sign in.</InvalidLink>
      <SignInLink />
      <OidcButton name="Example ID" next="/" />
      <ProviderConfirmation action="add_passkey" by={NOT_CONFIRMED} />
      <ProviderConfirmation action="add_passkey" by={{ ...NOT_CONFIRMED, confirmed: true }} />
    </Sample>
  </>
);
