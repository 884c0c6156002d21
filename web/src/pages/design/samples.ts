/** What the parts show on the page of all parts. */
import type { Verification } from '../../api/schema.ts';
import type { Bars } from '../../parts/chart/bars.ts';
import type { ChartData } from '../../parts/chart/series.ts';
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
