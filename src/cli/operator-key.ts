import { Command } from 'commander';
import { fromIso, toIso, toIsoOrNull } from '../kernel/clock.ts';
import { OPERATOR_KEY_DAYS } from '../kernel/facts/limits.ts';
import { OPERATOR_SCOPES, type OperatorScope } from '../kernel/facts/scopes.ts';
import { choice } from '../kernel/format.ts';
import type { OperatorKey } from '../store/store.ts';
import {
  CommandFailure,
  command,
  commandActor,
  optionsFrom,
  printResult,
  splitList,
  table,
  UsageError,
  withStore,
} from './command.ts';

/** Reads only the store. */
const OPTION_SCOPE = 'key';

const operatorKeyJson = (key: OperatorKey) => ({
  id: key.id,
  name: key.name,
  key: `mv_op_…${key.lastFour}`,
  allow_ips: key.allowIps,
  scopes: key.scopes,
  created_at: toIso(key.createdAt),
  expires_at: toIso(key.expiresAt),
  revoked_at: toIsoOrNull(key.revokedAt),
  last_used_at: toIsoOrNull(key.lastUsedAt),
  last_used_ip: key.lastUsedIp,
});

export function operatorKeyCommand(): Command {
  const group = new Command('operator-key').description('Manage keys of the operator API.');
  group.addCommand(createOperatorKeyCommand());
  group.addCommand(listOperatorKeysCommand());
  group.addCommand(revokeOperatorKeyCommand());
  return group;
}

function scopeNamed(name: string): OperatorScope {
  const known = OPERATOR_SCOPES.find((scope) => scope === name);
  if (known !== undefined) return known;
  throw new UsageError(`--scope must be ${choice(OPERATOR_SCOPES)}; it is ${JSON.stringify(name)}.`);
}

function instantOf(text: string): number {
  const at = fromIso(text);
  if (at !== null) return at;
  throw new UsageError(`--expires must be a date or an RFC 3339 date-time; it is ${JSON.stringify(text)}.`);
}

interface CreateOperatorKeyFlags {
  readonly json?: boolean;
  readonly name: string;
  readonly allowIp: string[];
  readonly scope: string[];
  readonly expires: string;
}

const createOperatorKeyCommand = () =>
  command('create', 'Create an operator key; it is shown only once.', OPTION_SCOPE)
    .requiredOption('--name <name>', 'display name')
    .requiredOption('--allow-ip <cidr...>', 'IP addresses and CIDR blocks that may use it')
    .requiredOption('--scope <scope...>', `what it may be used for: ${OPERATOR_SCOPES.join(', ')}`)
    .requiredOption(
      '--expires <date>',
      `a date (midnight UTC) or RFC 3339 date-time, at most ${OPERATOR_KEY_DAYS.max} days from now`,
    )
    .action(async (flags: CreateOperatorKeyFlags) => {
      const input = {
        name: flags.name,
        allowIps: splitList(flags.allowIp),
        scopes: splitList(flags.scope).map(scopeNamed),
        expiresAt: instantOf(flags.expires),
      };
      await withStore(optionsFrom(flags, OPTION_SCOPE), async (store) => {
        const { createOperatorKey } = await import('../service/operator-keys.ts');
        const { key, value } = await createOperatorKey(store, input, commandActor());
        printResult(
          flags,
          { id: key.id, key: value },
          `Created operator key ${key.id}. Save it now; it is not shown again:\n${value}`,
        );
      });
    });

function operatorKeyState({ revokedAt, expiresAt }: OperatorKey, now: number): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt <= now ? 'expired' : `until ${toIso(expiresAt)}`;
}

const listOperatorKeysCommand = () =>
  command('list', 'List operator keys, including revoked ones.', OPTION_SCOPE).action(
    async (flags: { json?: boolean }) => {
      await withStore(optionsFrom(flags, OPTION_SCOPE), async (store) => {
        const keys = await store.operatorKeys.list();
        const { now } = await store.clock.peek();
        const rows = keys.map((key) => {
          const { id, name, key: shown, allow_ips, scopes, last_used_at } = operatorKeyJson(key);
          return [id, name, shown, allow_ips.join(' '), scopes.join(' '), operatorKeyState(key, now), last_used_at];
        });
        const head = ['ID', 'NAME', 'KEY', 'ALLOWED', 'SCOPES', 'STATE', 'LAST USED'];
        printResult(flags, keys.map(operatorKeyJson), table(rows, head));
      });
    },
  );

const revokeOperatorKeyCommand = () =>
  command('revoke', 'Revoke an operator key immediately and permanently.', OPTION_SCOPE)
    .argument('<id>')
    .action(async (id: string, flags: { json?: boolean }) => {
      await withStore(optionsFrom(flags, OPTION_SCOPE), async (store) => {
        const key = await store.operatorKeys.revoke(id, commandActor());
        if (key === null)
          throw new CommandFailure(`there is no operator key ${JSON.stringify(id)}; see mailvet operator-key list.`);
        printResult(flags, operatorKeyJson(key), `Revoked operator key ${id}.`);
      });
    });
