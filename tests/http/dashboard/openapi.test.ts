import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, it } from 'vitest';
import { DASHBOARD_ROUTES } from '../../../src/http/dashboard/table.ts';
import { dashboardDocument } from '../../../src/http/openapi.ts';

it('describes every row of the table, without a finding of the linter', async () => {
  const document = dashboardDocument(DASHBOARD_ROUTES, 'http://127.0.0.1:8025') as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const described = Object.values(document.paths).flatMap((path) => Object.values(path).map((row) => row.operationId));
  expect(described.sort()).toEqual(DASHBOARD_ROUTES.map((row) => row.doc!.operationId).sort());
  const config = await createConfig({ extends: ['recommended'] });
  const findings = await lintFromString({ source: JSON.stringify(document), config });
  expect(findings.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
});

it('has no two rows of one name or place', () => {
  const names = DASHBOARD_ROUTES.map((row) => row.doc!.operationId);
  const places = DASHBOARD_ROUTES.map((row) => `${row.method} ${row.path}`);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(places).size).toBe(places.length);
});
