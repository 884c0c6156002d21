/**
 * Who runs which sample of the documentation. Shell commands, JavaScript and TypeScript that nobody claims are run by
 * docs-samples.test.ts as they stand; all other samples need a row.
 */
type Claim =
  /** The test file that reads this page and runs the sample. */
  | { readonly by: string }
  /** Why no test here can run it. */
  | { readonly not: string }
  /** JavaScript around the sample, and what the whole prints. */
  | { readonly before?: string; readonly after?: string; readonly prints?: string }
  /** JSON like all that the command before prints, or a part of what the request returns; values are others. */
  | { readonly shape: `GET /${string}` | 'of the command before' | 'valid' }
  /** JSON of the verdict on this address, or of its checks alone. */
  | { readonly verdict: string; readonly part?: 'checks' }
  /** Text whose first line the command before prints; numbers, IDs and times are others. */
  | { readonly printed: true };

const NET = 'it needs the Internet';
const CLIENT =
  "import { createMailvet } from '@mailvet/client'; const mailvet = createMailvet({ url: process.env.MAILVET_URL, key: process.env.MAILVET_KEY });";
const VENDOR =
  "import { createRequire } from 'node:module'; const require = createRequire(process.env.ROOT); const key = process.env.MAILVET_TEST_KEY;";
const FORGED =
  "await POST(new Request('http://service', { method: 'POST', body: '{}' })).catch(({ name }) => console.log(name));";
const PYTHON: Claim = { by: 'clients/python/tests/test_readme.py' };
const PHP: Claim = { by: 'clients/php/tests/ReadmeTest.php' };

/** By page; each sample is named by how it begins. */
export const CLAIMS: Readonly<Record<string, Readonly<Record<string, Claim>>>> = {
  'README.md': {
    'npm run up': { by: 'tests/debian/fresh.test.ts' },
    'curl -s http://127.0.0.1:8025/v1/verify': { by: 'tests/flows/samples.test.ts' },
    '{': { by: 'tests/flows/samples.test.ts' },
    'import os': PYTHON,
    'use Mailvet': PHP,
  },
  'docs/alerts.md': { '{': { shape: 'valid' } },
  'docs/auth-hooks.md': {
    '': { by: 'tests/flows/auth-hooks-page.test.ts' },
    GOTRUE: { not: 'it needs Supabase' },
    'selfservice:': { not: 'it needs Ory Kratos' },
    'function(ctx)': { not: 'it needs Ory Kratos' },
    curl: { not: 'it needs ZITADEL' },
  },
  'docs/auth-servers.md': { '': { by: 'tests/flows/auth-servers-page.test.ts' } },
  'docs/backups.md': {
    'Backed up the store': { printed: true },
    '# /etc/litestream.yml': { not: 'it needs Litestream' },
    'litestream restore': { not: 'it needs Litestream' },
  },
  'docs/clients.md': {
    'npm pack': { not: 'tests/packages packs and installs it' },
    pip: PYTHON,
    'import os': PYTHON,
    'composer config': PHP,
    'use Mailvet': PHP,
    'import { verifyWebhook }': { after: FORGED, prints: 'WebhookVerificationError' },
  },
  'docs/charging.md': { 'RateLimit-Policy': { not: 'headers; tests/http/authorization.test.ts has them' } },
  'docs/moving.md': {
    'mailvet export-store': { by: 'tests/flows/move-store.test.ts' },
    Exported: { by: 'tests/flows/move-store.test.ts' },
  },
  'docs/oidc.md': {
    MAILVET_OIDC: { by: 'tests/flows/oidc-recipes.test.ts' },
    'mailvet user sign-in': { not: 'it needs that user; tests/flows/user-cli.test.ts uses such a link' },
  },
  'docs/recipes/authentik.md': {
    MAILVET_OIDC: { by: 'tests/flows/oidc-recipes.test.ts' },
    return: { not: 'it needs Authentik' },
  },
  'docs/recipes/entra-id.md': { MAILVET_OIDC: { by: 'tests/flows/oidc-recipes.test.ts' } },
  'docs/recipes/keycloak.md': { MAILVET_OIDC: { by: 'tests/flows/oidc-recipes.test.ts' } },
  'docs/recipes/okta.md': { MAILVET_OIDC: { by: 'tests/flows/oidc-recipes.test.ts' } },
  'docs/recipes/monthly.md': { '': { by: 'tests/flows/recipes.test.ts' } },
  'docs/recipes/slack.md': { '': { by: 'tests/flows/recipes.test.ts' } },
  'docs/recipes/stripe.md': { '': { by: 'tests/flows/stripe-page.test.ts' } },
  'docs/cli.md': {
    'mailvet serve': { not: 'it does not end by itself; every test of a process starts it' },
    'ADDRESS ': { printed: true },
    '{"id": "acc_': { shape: 'of the command before' },
    'Created key': { printed: true },
    'Created operator key': { printed: true },
    'mailvet relay': { not: 'it does not end by itself; tests/flows/relay.test.ts starts it' },
    'mailvet export-store': { not: 'the service has to be stopped; tests/flows/move-store.test.ts runs it' },
    'mailvet filters': { not: 'tests/flows/cli-filters.test.ts runs them, on files of several kinds' },
    'mailvet lists': { not: 'each needs a list in another state; tests/flows/cli-lists.test.ts makes them' },
    'mailvet disposable update': { not: NET },
    'Version 2026': { not: NET },
    'mail.mailinator.com:': { printed: true },
    'mailvet mcp': { not: 'it does not end by itself; tests/http/mcp.test.ts speaks with it' },
    'mailvet jobs retry': { not: 'they need a failed job; tests/flows/cli-jobs.test.ts makes one' },
    'ID ': { not: 'it needs a failed job' },
    'mailvet health': { by: 'tests/flows/cli-service.test.ts' },
    'mailvet usage': { not: 'it needs a receiver; tests/flows/cli-service.test.ts has one on loopback' },
  },
  'docs/dashboard.md': {
    'Dashboard: http': { not: 'npm run up prints it; tests/debian/fresh.test.ts uses it' },
    'mailvet user create': { not: 'it is for a new store; tests/packages/mailvet.test.ts runs it on one' },
    'mailvet user reset-password': { not: 'it needs that user; tests/flows/user-cli.test.ts has one' },
  },
  'docs/data-sources.md': {
    'mailvet disposable update': { not: NET },
    'npm run lists': { not: 'it rebuilds data/; the check stage runs it with --check' },
  },
  'docs/doctor.md': { '$ mailvet doctor': { not: NET }, '{': { shape: 'GET /readyz' } },
  'docs/egress.md': { '- name': { by: 'src/config/egress-file.test.ts' } },
  'docs/filters.md': {
    '{"id": 1': { shape: 'of the command before' },
    '{\n  "dry_run"': { shape: 'valid' },
    '{"checks"': { shape: 'valid' },
    '{"error"': { shape: 'valid' },
    '{"filters"': { shape: 'of the command before' },
    '{"status"': { shape: 'of the command before' },
  },
  'docs/plans.md': { 'free:': { by: 'src/config/plans-file.test.ts' } },
  'docs/policies.md': {
    '{"action"': { shape: 'valid' },
    'import os': PYTHON,
    'use Mailvet': PHP,
  },
  'docs/install.md': {
    'npm ci': { by: 'tests/packages/mailvet.test.ts' },
    node_modules: { by: 'tests/packages/mailvet.test.ts' },
    useradd: { by: 'tests/debian/unit.test.ts' },
    'mailvet()': { by: 'tests/debian/unit.test.ts' },
    'docker compose': { not: 'it needs a container engine; tests/debian/container.test.ts runs the image’s steps' },
  },
  'docs/laboratory.md': { curl: { not: 'it needs npm run lab; the debian stage verifies the same addresses' } },
  'docs/library.md': {
    'npm ci': { not: 'tests/packages packs and installs it' },
    'npm install': { not: 'tests/packages packs and installs it' },
  },
  'docs/licenses.md': { 'npm run': { not: 'tests/packages/release.test.ts makes one' } },
  'docs/lists.md': { '': { by: 'tests/flows/lists-page.test.ts' } },
  'docs/mcp.md': { '{': { shape: 'valid' } },
  'docs/migrate/emailable.md': {
    const: { before: VENDOR, after: "console.log((await emailable.verify('a@b.com')).state);", prints: 'deliverable' },
  },
  'docs/migrate/kickbox.md': {
    const: {
      before: VENDOR,
      after: "client.kickbox().verify('a@b.com', (error, { body }) => console.log(error, body.result));",
      prints: 'null deliverable',
    },
  },
  'docs/migrate/neverbounce.md': {
    const: { not: 'the client insists on HTTPS; tests/http/compat-clients.ts redirects it' },
  },
  'docs/migrate/zerobounce.md': {
    const: {
      before: `${VENDOR} const { ZeroBounceSDK } = await import(require.resolve('@zerobounce/zero-bounce-sdk/src/zero-bounce.js'));`,
      after: "console.log((await zerobounce.validateEmail('a@b.com')).status);",
      prints: 'valid',
    },
  },
  'docs/operating.md': {
    'CREATE ROLE': { not: 'it needs the superuser; tests/store/postgres-first-errors.test.ts runs what it is named' },
    'mailvet: MAILVET_PORT': { not: 'src/config has tests of each message' },
    'docker compose': { not: 'it needs a container engine; tests/debian/container.test.ts runs the image’s steps' },
    'docker pull': { not: 'it needs a container engine and a registry' },
    'location /': { by: 'tests/debian/proxies.test.ts' },
    '# /etc/unbound': { not: 'tests/debian/deploy.test.ts checks the one in deploy/unbound' },
    '{\n  "status"': { not: 'of a service without a resolver; src and tests/http have tests of it' },
    scrape_configs: { not: 'it needs Prometheus' },
    '{"level"': { shape: 'valid' },
  },
  'docs/quickstart.md': {
    'git clone': { by: 'tests/debian/fresh.test.ts' },
    'Mailvet is listening': { by: 'tests/debian/fresh.test.ts' },
    '"syntax": {': { not: 'a part of a reply; src/engine has tests of it' },
    'npm pack': { by: 'tests/debian/fresh.test.ts' },
    'npm install': { by: 'tests/debian/fresh.test.ts' },
    'import { guard }': { by: 'tests/flows/quickstart-form.test.ts' },
    'import os': PYTHON,
    'use Mailvet': PHP,
  },
  'docs/relay.md': {
    '': { by: 'tests/flows/relay.test.ts' },
    'docker compose': { not: 'it needs a container engine; tests/debian/container.test.ts runs the image’s steps' },
  },
  'docs/sign-ups.md': { '{\n  "email"': { shape: 'of the command before' } },
  'docs/testing.md': {
    '# .github': { by: 'tests/flows/test-only.test.ts' },
    'import { createMailvet, MailvetError }': { prints: 'mailbox_not_found' },
  },
  'docs/upgrading.md': { PENDING: { not: 'nothing is pending in a store of this version' } },
  'docs/verdicts.md': {
    '{\n  "email"': { verdict: 'someone@gmial.com' },
    '{\n  "syntax"': { verdict: 'someone@null-mx.com', part: 'checks' },
  },
  'docs/webhooks.md': {
    '': { by: 'tests/flows/webhooks-page.test.ts' },
    'import os': PYTHON,
    'use Mailvet': PHP,
  },
  'sdk/README.md': {
    "await mailvet.verify({ email: 'jane": { before: CLIENT, prints: 'a second account' },
    'npm ci': { not: 'tests/packages packs and installs it' },
    'npm install': { not: 'tests/packages packs and installs it' },
    'import { createMailvet, MailvetError }': { by: 'tests/flows/client.test.ts' },
    'import { createReadStream': { before: CLIENT },
    'const ready': { before: `import { createReadStream } from 'node:fs'; ${CLIENT}` },
    '// ': { by: 'tests/packages/frameworks.test.ts' },
    'import { verifyWebhook }': { after: FORGED, prints: 'WebhookVerificationError' },
  },
};
