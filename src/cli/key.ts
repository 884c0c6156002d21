import { Command } from 'commander';
import { fromIso, toIso, toIsoOrNull } from '../kernel/clock.ts';
import { given } from '../kernel/facts/given.ts';
import { KEY_MONTHLY_CREDITS } from '../kernel/facts/limits.ts';
import { DEFAULT_SCOPES, KEY_SCOPES, type KeyScope } from '../kernel/facts/scopes.ts';
import { choice, counted } from '../kernel/format.ts';
import { KEY_PREFIXES } from '../kernel/ids.ts';
import { modeOf } from '../service/keys.ts';
import { parseKeyName } from '../service/names.ts';
import type { Key, KeyLimits } from '../store/store.ts';
import { requireAccount } from './account.ts';
import {
  CommandFailure,
  command,
  commandActor,
  optionsFrom,
  printable,
  printResult,
  splitList,
  table,
  UsageError,
  wholeNumber,
  withStore,
} from './command.ts';

const keyJson = (k: Key) => ({
  id: k.id,
  account_id: k.testOf ?? k.accountId,
  mode: modeOf(k),
  name: k.name,
  key: `${KEY_PREFIXES[modeOf(k)]}…${k.lastFour}`,
  allow_ips: k.allowIps,
  scopes: k.scopes,
  monthly_credits: k.budget?.credits ?? null,
  expires_at: toIsoOrNull(k.expiresAt),
  created_at: toIso(k.createdAt),
  revoked_at: toIsoOrNull(k.revokedAt),
  last_used_at: toIsoOrNull(k.lastUsedAt),
  last_used_ip: k.lastUsedIp,
});

/** Shows all that `set` changes. */
function keyText({ id, name, allowIps, scopes, budget, expiresAt }: Key): string {
  const from = allowIps.join(', ') || 'anywhere';
  const named = scopesText(scopes);
  const what = named === null ? scopes.join(', ') : named === 'all' ? 'everything' : 'everything but privacy';
  const spends = budget === null ? 'any number of credits' : counted(budget.credits, 'credit');
  const end = expiresAt === null ? 'without an end' : `until ${toIso(expiresAt)}`;
  return `Key ${id} (${printable(name)}) may be used from ${from}, for ${what}, ${end}; it may spend ${spends} a month.`;
}

/** A key rolled in the dashboard stays valid until its grace period ends. */
function keyStateOf(revokedAt: string | null, expiresAt: string | null, now: string): string {
  if (revokedAt !== null && revokedAt <= now) return 'revoked';
  if (expiresAt !== null && expiresAt <= now) return 'expired';
  const ends = [revokedAt, expiresAt].filter((end) => end !== null).sort();
  return ends[0] === undefined ? 'active' : `until ${ends[0]}`;
}

interface LimitFlags {
  readonly expires?: string;
  readonly scope?: string[];
  readonly monthlyCredits?: string;
}

/** Null: neither all nor those of a key for which none were chosen. */
function scopesText(scopes: readonly KeyScope[]): 'all' | 'default' | null {
  if (scopes.length === KEY_SCOPES.length) return 'all';
  return scopes.join() === DEFAULT_SCOPES.join() ? 'default' : null;
}

const withLimits = (created: Command): Command =>
  created
    .option('--expires <date>', 'a date (midnight UTC) or RFC 3339 date-time, or "never"')
    .option(
      '--scope <scope...>',
      `what it may be used for: ${KEY_SCOPES.join(', ')}, "all", or "default": all but privacy`,
    )
    .option('--monthly-credits <n>', 'credits that it may spend in a calendar month (UTC), or "unlimited"');

/** What the flags limit; throws UsageError. */
function limitsOf({ expires, scope, monthlyCredits }: LimitFlags): KeyLimits {
  const budget = wholeNumber('--monthly-credits', KEY_MONTHLY_CREDITS.min, KEY_MONTHLY_CREDITS.max);
  return given({
    expiresAt: expires === 'never' ? null : expires === undefined ? undefined : instantOf(expires),
    scopes: scope && splitList(scope).flatMap(scopesNamed),
    budget: monthlyCredits === 'unlimited' ? null : monthlyCredits === undefined ? undefined : budget(monthlyCredits),
  });
}

function instantOf(text: string): number {
  const at = fromIso(text);
  if (at !== null) return at;
  throw new UsageError(`--expires must be a date or an RFC 3339 date-time, or "never"; it is ${JSON.stringify(text)}.`);
}

function scopesNamed(name: string): readonly KeyScope[] {
  if (name === 'all') return KEY_SCOPES;
  if (name === 'default') return DEFAULT_SCOPES;
  const known = KEY_SCOPES.find((scope) => scope === name);
  if (known !== undefined) return [known];
  throw new UsageError(`--scope must be ${choice([...KEY_SCOPES, 'all', 'default'])}; it is ${JSON.stringify(name)}.`);
}

export function keyCommand(): Command {
  const group = new Command('key').description('Manage API keys.');
  group.addCommand(createKeyCommand());
  group.addCommand(listKeysCommand());
  group.addCommand(setKeyCommand());
  group.addCommand(revokeKeyCommand());
  return group;
}

const createKeyCommand = () =>
  withLimits(command('create', 'Create an API key; it is shown only once.', 'key'))
    .requiredOption('--account <id>', 'the account it belongs to')
    .requiredOption('--name <name>', 'display name')
    .option('--test', 'a key for test mode: no DNS or SMTP query is made, and nothing is charged')
    .option('--allow-ip <cidr...>', 'IP addresses and CIDR blocks that may use it (default: any)')
    .action(async (flags: CreateKeyFlags) => {
      const limits = limitsOf(flags);
      await withStore(optionsFrom(flags, 'key'), async (store) => {
        const live = await requireAccount(store, flags.account);
        const account = flags.test ? await store.accounts.testAccount(live.id) : live;
        const allowIps = splitList(flags.allowIp ?? []);
        const { createKey } = await import('../service/keys.ts');
        const settings = { ...limits, name: flags.name, allowIps };
        const { key, value } = await createKey(store, account.id, settings, commandActor());
        printResult(
          flags,
          { id: key.id, key: value },
          `Created ${flags.test ? 'test ' : ''}key ${key.id}. Save it now; it is not shown again:\n${value}`,
        );
      });
    });

interface CreateKeyFlags extends LimitFlags {
  readonly json?: boolean;
  readonly account: string;
  readonly name: string;
  readonly test?: boolean;
  readonly allowIp?: string[];
}

const listKeysCommand = () =>
  command('list', 'List API keys of live and test mode, including revoked ones.', 'key')
    .option('--account <id>', 'only keys of this account')
    .action(async (flags: { json?: boolean; account?: string }) => {
      await withStore(optionsFrom(flags, 'key'), async (store) => {
        const account = flags.account === undefined ? null : (await requireAccount(store, flags.account)).id;
        const keys = (await store.keys.list(account, { withTest: true })).map(keyJson);
        const now = toIso((await store.clock.peek()).now);
        const rows = keys.map((k) => [
          k.id,
          k.account_id,
          k.mode,
          k.name,
          k.key,
          k.allow_ips.join(' ') || 'any',
          scopesText(k.scopes) ?? k.scopes.join(' '),
          k.monthly_credits ?? 'unlimited',
          keyStateOf(k.revoked_at, k.expires_at, now),
          k.last_used_at,
        ]);
        const head = [
          'ID',
          'ACCOUNT',
          'MODE',
          'NAME',
          'KEY',
          'ALLOWED',
          'SCOPES',
          'CREDITS/MONTH',
          'STATE',
          'LAST USED',
        ];
        printResult(flags, keys, table(rows, head));
      });
    });

const setKeyCommand = () =>
  withLimits(command('set', 'Change the settings of an API key; the key itself cannot be changed.', 'key'))
    .argument('<id>')
    .option('--name <name>', 'display name')
    .option('--allow-ip <cidr...>', 'new list of IP addresses and CIDR blocks that may use it')
    .option('--allow-any', 'allow use from any address')
    .action(async (id: string, flags: SetFlags) => {
      if (flags.allowAny && flags.allowIp) throw new UsageError('--allow-ip and --allow-any cannot be combined.');
      const { canonicalAllowlist } = await import('../service/keys.ts');
      const allowIps = flags.allowAny ? [] : flags.allowIp && canonicalAllowlist(splitList(flags.allowIp));
      const name = flags.name === undefined ? undefined : parseKeyName(flags.name);
      const change = { ...limitsOf(flags), ...given({ name, allowIps }) };
      if (Object.keys(change).length === 0)
        throw new UsageError(
          'give at least one of --name, --allow-ip, --allow-any, --expires, --scope and --monthly-credits.',
        );
      await withStore(optionsFrom(flags, 'key'), async (store) => {
        const key = await store.keys.get(id);
        const changed = key && (await store.keys.update(key.accountId, id, change, commandActor()));
        if (!changed) throw new CommandFailure(`there is no key ${JSON.stringify(id)}; see mailvet key list.`);
        printResult(flags, keyJson(changed), keyText(changed));
      });
    });

interface SetFlags extends LimitFlags {
  readonly json?: boolean;
  readonly name?: string;
  readonly allowIp?: string[];
  readonly allowAny?: boolean;
}

const revokeKeyCommand = () =>
  command('revoke', 'Revoke an API key immediately and permanently.', 'key')
    .argument('<id>')
    .action(async (id: string, flags: { json?: boolean }) => {
      await withStore(optionsFrom(flags, 'key'), async (store) => {
        const key = await store.keys.revoke(id, commandActor());
        if (!key) throw new CommandFailure(`there is no key ${JSON.stringify(id)}; see mailvet key list.`);
        printResult(flags, keyJson(key), `Revoked key ${id}.`);
      });
    });
