import { expect, test } from 'vitest';
import { decideVerdict } from './decide-verdict.ts';
import type { Evidence } from './evidence.ts';
import { report, reportText } from './report.ts';
import { testEvidence } from './test-mode/evidence.ts';
import { OUTCOMES } from './test-mode/outcomes.ts';

const STAMP = { id: 'ver_1', durationMs: 3.4, at: 1_700_000_000_000 };

function expectSame(e: Evidence): void {
  const verdict = decideVerdict(e);
  if (verdict === null) throw new Error('There is no verdict.');
  for (const withEvidence of [false, true])
    expect(reportText(e, verdict, { ...STAMP, withEvidence })).toBe(
      JSON.stringify(report(e, verdict, { ...STAMP, withEvidence })),
    );
}

test('the text of a report is its JSON, whatever was found', () => {
  for (const level of ['mx', 'smtp'] as const)
    for (const outcome of Object.values(OUTCOMES))
      expectSame(testEvidence('ja"ne\u2028@mail.example', level, outcome, 'v1'));
});

test('addresses of a domain that share their evidence about it keep their own checks', () => {
  const first = testEvidence('jane@mail.example', 'mx', OUTCOMES.deliverable, 'v1');
  expectSame(first);
  expectSame({ ...first, email: 'omar@mail.example' });
  expectSame({ ...first, disposable: { result: 'unknown', matched: null, by: null } });
  expectSame({ ...first, disposable: { result: 'fail', matched: 'mail.example', by: 'mail_host' } });
  expectSame({ ...first, listVersion: 'v2' });
  expectSame(first);
  expectSame({ ...first, filter: { result: 'fail', filter: { id: 1, filter_type: 'email', value: first.email } } });
});
