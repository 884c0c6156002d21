import { STATUS_CODES } from 'node:http';
import { type CatalogueRow, ERRORS } from '../../src/kernel/errors.ts';
import { table } from './markdown.ts';

/** docs/errors.md, from the catalogue. */
export function errorsPage(): string {
  const byStatus = Map.groupBy(Object.entries<CatalogueRow>(ERRORS), ([, row]) => row.status);
  const sections = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, rows]) => {
      const cells = rows.map(([code, row]) => [`\`${code}\``, row.sentence, row.fix]);
      return `## ${status} ${STATUS_CODES[status]}\n\n${table(['code', 'sentence', 'what to do'], cells)}`;
    });
  return `<!-- Made from src/kernel/errors.ts by \`npm run gen\`: change it there. -->
# Errors

Every refusal is JSON: \`{"error": "<one plain sentence>", "code": "<stable code>", "request_id": "req_…"}\`, plus the
fields that help to fix it (\`field\`, \`limit\`, \`retry_after\`, \`current_plan\`, \`upgrade_required\`, \`existing_id\`).
The sentence may become more precise; the code stays. Nothing that is refused is charged.

A malformed *address* is not an error: it is a verdict, with status 200. Its codes are on the
[page of syntax errors](syntax-errors.md).

${sections.join('\n')}`;
}
