import { STATUS_CODES } from 'node:http';
import { DASHBOARD_ERRORS, type ErrorRow, HOOK_ERRORS, PUBLIC_ERRORS } from '../../src/kernel/errors.ts';

import { table } from './markdown.ts';

const HEAD = ['code', 'message', 'what to do'];
const cells = ([code, row]: [string, ErrorRow]) => [`\`${code}\``, row.message, row.fix];

/** docs/errors.md, from the catalog. */
export function errorsPage(): string {
  const byStatus = Map.groupBy(Object.entries<ErrorRow>(PUBLIC_ERRORS), ([, row]) => row.status);
  const sections = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, of]) => `## ${status} ${STATUS_CODES[status]}\n\n${table(HEAD, of.map(cells))}`);
  const ofHooks = Object.entries<ErrorRow>(HOOK_ERRORS).map((entry) => [String(entry[1].status), ...cells(entry)]);
  const ofDashboard = Object.entries<ErrorRow>(DASHBOARD_ERRORS)
    .sort(([, a], [, b]) => a.status - b.status)
    .map((entry) => [String(entry[1].status), ...cells(entry)]);
  return `<!-- Generated from src/kernel/errors.ts by \`npm run gen\`; edit it there. -->
# Errors

Every error is JSON: \`{"error": "<message>", "code": "<stable code>", "request_id": "req_…"}\`, plus the fields that help
to fix it (\`field\`, \`limit\`, \`retry_after\`, \`current_plan\`, \`upgrade_required\`, \`existing_id\`, \`scope\`,
\`expired_at\`, \`budget\`, \`resets_at\`).
Messages may become more precise; codes never change. Requests answered with an error are not charged.

A malformed *address* is not an error: it is a verdict, with status 200. Its codes are on the
[page of syntax errors](syntax-errors.md).

${sections.join('\n')}
## Hooks of auth servers

A [hook](auth-hooks.md) whose signature fits always gets an answer in the form of its caller. Codes other than
\`invalid_signature\` are in the log alone: they say why there was no verdict. So do \`insufficient_credits\`,
\`rate_limit_exceeded\`, \`verification_unavailable\` and others from above.

${table(['status', ...HEAD], ofHooks)}
## Dashboard only

The dashboard's private API also returns these. Requests with an API key never get them.

${table(['status', ...HEAD], ofDashboard)}`;
}
