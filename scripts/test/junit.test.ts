import { expect, it } from 'vitest';
import { readJunit } from './junit.mjs';

const report = (cases: string) =>
  `<?xml version="1.0"?><testsuites><testsuite name="s">${cases}</testsuite></testsuites>`;

it('counts tests that passed, and names those that failed', () => {
  const xml = report(
    '<testcase classname="t.a" name="one" time="0.1" /><testcase classname="t.a" name="two"></testcase>' +
      '<testcase classname="t.a" name="three"><skipped message="x"/></testcase>' +
      '<testcase classname="t.b" name="a &lt; b"><failure message="1 &gt; 0&#10;more">text</failure></testcase>' +
      '<testcase classname="t.b" name="four"><error message="&quot;gone&quot;"/></testcase>',
  );
  expect(readJunit(xml, 'clients/x')).toEqual({
    passed: 2,
    failed: [
      { path: 'clients/x', title: 'clients/x: t.b a < b', message: '1 > 0' },
      { path: 'clients/x', title: 'clients/x: t.b four', message: '"gone"' },
    ],
  });
  expect(readJunit(report(''), 'clients/x')).toEqual({ passed: 0, failed: [] });
});

it('does not take something else for a report', () => {
  expect(() => readJunit('<html></html>', 'clients/x')).toThrow('not a JUnit report');
});
