import { Command } from 'commander';
import { systemClock, toIso } from '../kernel/clock.ts';
import { KEY_PREFIX } from '../kernel/ids.ts';
import { usableName } from '../service/names.ts';
import type { Key } from '../store/store.ts';
import { accountNamed } from './account.ts';
import { command, commandActor, Failed, optionsFrom, say, table, WrongUse, withStore } from './command.ts';

const toJson = (k: Key) => ({
  id: k.id,
  account_id: k.accountId,
  name: k.name,
  key: `${KEY_PREFIX}…${k.lastFour}`,
  allow_ips: k.allowIps,
  created_at: toIso(k.createdAt),
  revoked_at: k.revokedAt === null ? null : toIso(k.revokedAt),
  last_used_at: k.lastUsedAt === null ? null : toIso(k.lastUsedAt),
  last_used_ip: k.lastUsedIp,
});

/** A key that was rolled in the dashboard is valid until its time has come. */
const stateOf = (revokedAt: string | null): string =>
  revokedAt === null ? 'active' : revokedAt > toIso(systemClock.now()) ? `until ${revokedAt}` : 'revoked';

export function keyCommand(): Command {
  const group = new Command('key').description('API keys.');
  group.addCommand(create());
  group.addCommand(list());
  group.addCommand(set());
  group.addCommand(revoke());
  return group;
}

const create = () =>
  command('create', 'Make a key; its value is shown once.', 'key')
    .requiredOption('--account <id>', 'the account it belongs to')
    .requiredOption('--name <name>', 'what to call it')
    .option('--allow-ip <cidr...>', 'addresses and CIDRs that may use it; without any, all may')
    .action(async (flags: { json?: boolean; account: string; name: string; allowIp?: string[] }) => {
      await withStore(optionsFrom(flags, 'key'), async (store) => {
        const account = await accountNamed(store, flags.account);
        const allowIps = addressesIn(flags.allowIp ?? []);
        const { createKey } = await import('../service/keys.ts');
        const { key, value } = await createKey(store.keys, account.id, { name: flags.name, allowIps }, commandActor());
        say(flags, { id: key.id, key: value }, `Key ${key.id} was made. It is shown only now:\n${value}`);
      });
    });

const list = () =>
  command('list', 'Show the keys; revoked ones stay listed.', 'key')
    .option('--account <id>', 'of this account only')
    .action(async (flags: { json?: boolean; account?: string }) => {
      await withStore(optionsFrom(flags, 'key'), async (store) => {
        const account = flags.account === undefined ? null : (await accountNamed(store, flags.account)).id;
        const keys = (await store.keys.list(account)).map(toJson);
        const rows = keys.map((k) => [
          k.id,
          k.account_id,
          k.name,
          k.key,
          k.allow_ips.join(' ') || 'any',
          stateOf(k.revoked_at),
          k.last_used_at,
        ]);
        say(flags, keys, table(rows, ['ID', 'ACCOUNT', 'NAME', 'KEY', 'ALLOWED', 'STATE', 'LAST USED']));
      });
    });

const set = () =>
  command('set', 'Change the name or the allowed addresses of a key; its value can never be changed.', 'key')
    .argument('<id>')
    .option('--name <name>', 'what to call it')
    .option('--allow-ip <cidr...>', 'the addresses and CIDRs that may use it from now on')
    .option('--allow-any', 'let all addresses use it')
    .action(async (id: string, flags: { json?: boolean; name?: string; allowIp?: string[]; allowAny?: boolean }) => {
      if (flags.allowAny && flags.allowIp) throw new WrongUse('--allow-ip and --allow-any exclude each other.');
      const { canonicalAllowlist } = await import('../service/keys.ts');
      const allowIps = flags.allowAny ? [] : flags.allowIp && canonicalAllowlist(addressesIn(flags.allowIp));
      const change = {
        ...(flags.name === undefined ? {} : { name: usableName(flags.name) }),
        ...(allowIps === undefined ? {} : { allowIps }),
      };
      if (Object.keys(change).length === 0)
        throw new WrongUse('name what to change: --name, --allow-ip or --allow-any.');
      await withStore(optionsFrom(flags, 'key'), async (store) => {
        const key = await store.keys.get(id);
        const changed = key && (await store.keys.update(key.accountId, id, change, commandActor()));
        if (!changed) throw new Failed(`there is no key ${JSON.stringify(id)}; mailvet key list shows them.`);
        say(
          flags,
          toJson(changed),
          `Key ${id} (${changed.name}) may be used from ${changed.allowIps.join(', ') || 'anywhere'}.`,
        );
      });
    });

const addressesIn = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => text.split(',')).filter((text) => text.trim() !== '');

const revoke = () =>
  command('revoke', 'Revoke a key, at once and for good.', 'key')
    .argument('<id>')
    .action(async (id: string, flags: { json?: boolean }) => {
      await withStore(optionsFrom(flags, 'key'), async (store) => {
        const key = await store.keys.revoke(id, commandActor());
        if (!key) throw new Failed(`there is no key ${JSON.stringify(id)}; mailvet key list shows them.`);
        say(flags, toJson(key), `Key ${id} is revoked.`);
      });
    });
