import { STATUS_CODES } from 'node:http';
import { type CatalogueRow, ERRORS } from '../../src/kernel/errors.ts';
import { table } from './markdown.ts';

const rows = Object.entries<CatalogueRow>(ERRORS);
const cells = ([code, row]: [string, CatalogueRow]) => [`\`${code}\``, row.sentence, row.fix];

/** docs/errors.md, from the catalogue. */
export function errorsPage(): string {
  const byStatus = Map.groupBy(
    rows.filter(([, row]) => !row.dashboard),
    ([, row]) => row.status,
  );
  const sections = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(
      ([status, of]) =>
        `## ${status} ${STATUS_CODES[status]}\n\n${table(['code', 'sentence', 'what to do'], of.map(cells))}`,
    );
  const ofDashboard = rows
    .filter(([, row]) => row.dashboard)
    .sort(([, a], [, b]) => a.status - b.status)
    .map((entry) => [String(entry[1].status), ...cells(entry)]);
  return `<!-- Made from src/kernel/errors.ts by \`npm run gen\`: change it there. -->
# Errors

Every refusal is JSON: \`{"error": "<one plain sentence>", "code": "<stable code>", "request_id": "req_…"}\`, plus the
fields that help to fix it (\`field\`, \`limit\`, \`retry_after\`, \`current_plan\`, \`upgrade_required\`, \`existing_id\`).
The sentence may become more precise; the code stays. Nothing that is refused is charged.

A malformed *address* is not an error: it is a verdict, with status 200. Its codes are on the
[page of syntax errors](syntax-errors.md).

${sections.join('\n')}
## Of the dashboard

The pages of the dashboard can also be told these; no API key ever meets them.

${table(['status', 'code', 'sentence', 'what to do'], ofDashboard)}`;
}
