/** What the parts show on the page of all parts. */

import type { ComponentProps } from 'react';
import type { SavedView, Session, Verification } from '../../api/schema.ts';
import type { Bars } from '../../parts/chart/bars.ts';
import type { ChartData } from '../../parts/chart/series.ts';
import type { Figures } from '../../parts/figures.tsx';
import type { Outcome } from '../../parts/glyph.tsx';
import { keysOf } from '../../parts/keys-of.ts';

export const AT = '2026-11-20T10:00:00.000Z';

const day = (n: number): string => new Date(Date.UTC(2026, 9, 22 + n)).toISOString();
/** A month with a quiet end of each week, and one day of trouble. */
const volume = (n: number): number => (n % 7 > 4 ? 120 : 420 + ((n * 53) % 90)) + (n === 17 ? 380 : 0);

export const BARS: Bars = {
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

export const LINES: ChartData = {
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
export const OUTCOMES = keysOf(OUTCOME_LABELS).map((outcome) => [outcome, OUTCOME_LABELS[outcome]] as const);

type Judged = Pick<Verification, 'deliverability' | 'reason' | 'status' | 'validation_type'>;
export const JUDGED: readonly (Judged & { readonly email: string })[] = [
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

export const TOKENS: Readonly<Record<string, readonly string[]>> = {
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

export const FIGURES: ComponentProps<typeof Figures>['items'] = [
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

export const SESSION: Session = {
  user: null,
  accounts: [
    {
      id: 'acc_sample',
      name: 'Fabrikam',
      role: 'owner',
      plan: 'premium',
      status: 'active',
      second_factor_required: false,
      test_account: 'acc_sample_test',
    },
  ],
  needs_setup: false,
  signup: false,
  mail: false,
  ip: '192.0.2.1',
};

export const VIEWS: readonly SavedView[] = [
  { id: 'view_1', name: 'Rejected, last 24 hours', search: 'range=24h&status=rejected' },
  { id: 'view_2', name: 'Bounces of the newsletter', search: 'deliverability=undeliverable' },
];

export const VERIFICATION: Verification = {
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
  evidence: {
    mail_hosts: [{ host: 'mx1.fabrikam.example', priority: 10, addresses: ['192.0.2.25'] }],
    unusable_hosts: [{ host: 'mx2.fabrikam.example', why: 'no address' }],
    smtp: {
      host: 'mx1.fabrikam.example',
      address: '192.0.2.25',
      tls: true,
      rule: null,
      decided_by: null,
      probability: null,
      transcript: [
        { at: 12, from: 'server', text: '220 mx1.fabrikam.example ESMTP' },
        { at: 40, from: 'client', text: 'RCPT TO:<no.such.person@fabrikam.example>' },
        { at: 62, from: 'server', text: '550 5.1.1 No such user here' },
      ],
    },
  },
};
