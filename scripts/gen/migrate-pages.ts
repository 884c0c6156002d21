import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KICKBOX } from '../../src/http/compat/kickbox.ts';
import { NEVERBOUNCE } from '../../src/http/compat/neverbounce.ts';
import { REACHER } from '../../src/http/compat/reacher.ts';
import { COMPAT_ROUTES } from '../../src/http/compat/table.ts';
import type { CompatVerdict } from '../../src/http/compat/vendor.ts';
import { ZEROBOUNCE } from '../../src/http/compat/zerobounce.ts';
import { COMPAT_VENDORS, type CompatVendor } from '../../src/kernel/compat-vendors.ts';
import { ROOT } from '../fresh.mjs';
import { table } from './markdown.ts';

const code = (text: string): string => (text === '' ? '(empty)' : `\`${text}\``);

const OURS: Readonly<Record<CompatVerdict, string>> = {
  mailbox_exists: 'the mailbox exists',
  domain_accepts_mail: 'mx level: the mailbox was not checked',
  mailbox_full_for_now: '`mailbox_full`, good',
  mailbox_full_permanently: '`mailbox_full`, bad',
  catch_all: '`catch_all`',
  disposable_domain: '`disposable_domain`',
  mailbox_not_found: '`mailbox_not_found`',
  mailbox_disabled: '`mailbox_disabled`',
  relay_denied: '`relay_denied`',
  blocked_by_filter: '`blocked_by_filter`',
  bounced_before: '`bounced_before`',
  invalid_format: '`invalid_format`',
  domain_not_found: '`domain_not_found`',
  no_mx_records: '`no_mx_records`',
  null_mx: '`null_mx`',
  mx_unusable: '`mx_unusable`',
  dns_failure: '`dns_failure`',
  greylisted: '`greylisted`',
  smtp_temporary_failure: '`smtp_temporary_failure`',
  smtp_timeout: '`smtp_timeout`',
  smtp_unreachable: '`smtp_unreachable`',
  smtp_blocked: '`smtp_blocked`',
  smtp_unverifiable: '`smtp_unverifiable`',
};

const isVerdict = (name: string): name is CompatVerdict => Object.hasOwn(OURS, name);
const VERDICTS = Object.keys(OURS).filter(isVerdict);

const verdicts = (head: readonly string[], cells: (verdict: CompatVerdict) => readonly string[]): string =>
  table(
    ['Mailvet', ...head],
    VERDICTS.map((verdict) => [OURS[verdict], ...cells(verdict)]),
  );

const smtpOf = (verdict: CompatVerdict): string => {
  const { smtp } = REACHER[verdict];
  if (smtp === null) return 'an error object';
  const set = Object.entries(smtp).flatMap(([name, value]) => (value ? [code(name)] : []));
  return set.length === 0 ? 'all false' : set.join(', ');
};

const TABLES: Readonly<Record<CompatVendor, () => string>> = {
  reacher: () => verdicts(['`is_reachable`', '`smtp`'], (v) => [code(REACHER[v].is_reachable), smtpOf(v)]),
  kickbox: () => verdicts(['`result`', '`reason`'], (v) => [code(KICKBOX[v].result), code(KICKBOX[v].reason)]),
  zerobounce: () =>
    verdicts(['`status`', '`sub_status`'], (v) => [code(ZEROBOUNCE[v].status), code(ZEROBOUNCE[v].sub_status)]),
  neverbounce: () => verdicts(['`result`'], (v) => [code(NEVERBOUNCE[v])]),
  emailable: () => verdicts(['`state`', '`reason`'], (v) => [code(KICKBOX[v].result), code(KICKBOX[v].reason)]),
};

const routesOf = (vendor: CompatVendor): string =>
  COMPAT_ROUTES.filter(({ path }) => path.startsWith(`/compat/${vendor}/`))
    .map(({ method, path }) => `- \`${method} ${path}\`\n`)
    .join('');

/** The generated parts; the text around them is written by hand. */
const BLOCK = /(<!-- (routes|verdicts): .*-->\n)[\s\S]*?(<!-- end -->)/g;

/** docs/migrate/<vendor>.md with the routes and the mapping of verdicts. */
export const migratePages = (): Record<string, string> =>
  Object.fromEntries(
    COMPAT_VENDORS.map((vendor) => {
      const name = `docs/migrate/${vendor}.md`;
      const parts = { routes: routesOf(vendor), verdicts: TABLES[vendor]() };
      const page = readFileSync(join(ROOT, name), 'utf8');
      const made = page.replaceAll(BLOCK, (_, open: string, part: keyof typeof parts, close: string) => {
        return `${open}\n${parts[part]}\n${close}`;
      });
      return [name, made];
    }),
  );
