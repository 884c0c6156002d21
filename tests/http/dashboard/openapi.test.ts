import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, it } from 'vitest';
import { buildDashboardApi } from '../../../src/http/dashboard/openapi.ts';
import { DASHBOARD_ROWS } from '../../../src/http/dashboard/table.ts';

it('describes every row of the table, without a finding of the linter', async () => {
  const document = buildDashboardApi() as { paths: Record<string, Record<string, { operationId: string }>> };
  const described = Object.values(document.paths).flatMap((path) => Object.values(path).map((row) => row.operationId));
  expect(described.sort()).toEqual(DASHBOARD_ROWS.map((row) => row.doc.operationId).sort());
  const config = await createConfig({ extends: ['recommended'] });
  const findings = await lintFromString({ source: JSON.stringify(document), config });
  expect(findings.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
});

it('has no two rows of one name or place', () => {
  const names = DASHBOARD_ROWS.map((row) => row.doc.operationId);
  const places = DASHBOARD_ROWS.map((row) => `${row.method} ${row.path}`);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(places).size).toBe(places.length);
});
