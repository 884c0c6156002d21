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

/** What needs escapes in JSON, and what does not. */
const LOCAL_PARTS = ['jane', 'jane+news', '"a b"', String.raw`"a\\"b"`, 'zoë', '\u2028', "o'hara", 'info', 'a\u007fb'];

test('reports of one verdict differ in all that is of the address', () => {
  const { dns, ...first } = testEvidence('jane@mail.example', 'mx', OUTCOMES.deliverable, 'v1');
  const found = decideVerdict({ ...first, dns });
  if (first.syntax.result === 'fail' || found === null) throw new Error('It is deliverable.');
  const { address } = first.syntax;
  for (const localPart of LOCAL_PARTS)
    for (const tag of [null, localPart.slice(1)])
      for (const flag of [true, false])
        for (const warnings of [undefined, [], ['The field "x" is unknown.']]) {
          const email = ` ${localPart}@Mail.example`;
          const didYouMean = flag ? `${localPart}@gmail.com` : null;
          const own = { ...address, raw: email, localPart, tag, normalized: `${localPart}@mail.example` };
          const flags = { role: flag, free: !flag, relay: flag };
          const e: Evidence = { ...first, dns, email, didYouMean, flags, syntax: { result: 'pass', address: own } };
          const stamp = { id: `ver_${localPart.length}`, durationMs: localPart.length / 3, at: STAMP.at, warnings };
          for (const verdict of [found, { ...found, credits: 0 }])
            expect(reportText(e, verdict, stamp)).toBe(JSON.stringify(report(e, verdict, stamp)));
        }
});
