import { Command } from 'commander';
import { given } from '../kernel/facts/given.ts';
import { COMMAND_CREDITS_MAX, LOW_BALANCE, RATE_LIMIT, TRUST_BOUNCES_DAYS } from '../kernel/facts/limits.ts';
import { defaultPlan, isUnlimited, WINDOW_SECONDS } from '../kernel/facts/plans.ts';
import { counted } from '../kernel/format.ts';
import { parseAccountName, parseNote } from '../service/names.ts';
import type { Account, AccountChange, AccountId, Store } from '../store/store.ts';
import {
  CommandFailure,
  command,
  commandActor,
  optionsFrom,
  printable,
  printResult,
  table,
  UsageError,
  wholeNumber,
  withStore,
} from './command.ts';

const WINDOW = counted(WINDOW_SECONDS / 60, 'minute');

function checkPlan({ plans }: Store, plan: string): void {
  if (plans.has(plan)) return;
  throw new UsageError(`--plan must be one of ${[...plans.keys()].join(', ')}; it is ${JSON.stringify(plan)}.`);
}

const accountJson = (a: Account) => ({
  id: a.id,
  name: a.name,
  plan: a.plan,
  rate_limit: a.rateLimit,
  status: a.status,
  balance: a.balance,
  locked: a.locked,
  allowance: a.allowance,
  unlimited: isUnlimited(a.terms),
  low_balance: a.lowBalance,
  trust_bounces_days: a.trustBouncesDays,
  second_factor_required: a.secondFactorRequired,
  operator_events: a.operatorEvents,
});

export const creditsText = ({ terms, balance }: Account): string =>
  isUnlimited(terms) ? 'unlimited credits' : counted(balance, 'credit');

/** Shows all that `set` changes. */
function accountText({
  id,
  name,
  plan,
  rateLimit,
  status,
  lowBalance,
  secondFactorRequired,
  operatorEvents,
}: Account): string {
  const settings = [plan, `${counted(rateLimit, 'request')} per ${WINDOW}`, status];
  if (lowBalance !== null) settings.push(`alert below ${counted(lowBalance, 'credit')}`);
  if (secondFactorRequired) settings.push('second factor required');
  if (operatorEvents) settings.push('its webhooks get the events of all accounts');
  return `Account ${id} (${printable(name)}): ${settings.join(', ')}.`;
}

/** Throws if there is no such account. */
export async function requireAccount(store: Store, id: string): Promise<Account> {
  const account = await store.accounts.get(id);
  if (account?.testOf === null) return account;
  throw new CommandFailure(`there is no account ${JSON.stringify(id)}; see mailvet account list.`);
}

export function accountCommand(): Command {
  const group = new Command('account').description('Manage accounts, their plans and credits.');
  group.addCommand(createAccountCommand());
  group.addCommand(listAccountsCommand());
  group.addCommand(setAccountCommand());
  group.addCommand(grant());
  return group;
}

const createAccountCommand = () =>
  command('create', 'Create an account.', 'account')
    .requiredOption('--name <name>', 'display name')
    .option('--plan <plan>', 'one of those that mailvet plans prints (default: the first one)')
    .option('--credits <n>', 'opening balance', wholeNumber('--credits', 0, COMMAND_CREDITS_MAX), 0)
    .option(
      '--rate-limit <n>',
      `requests per ${WINDOW} (default: the plan's limit)`,
      wholeNumber('--rate-limit', RATE_LIMIT.min, RATE_LIMIT.max),
    )
    .action(async (flags: { json?: boolean; name: string; plan?: string; credits: number; rateLimit?: number }) => {
      const name = parseAccountName(flags.name);
      const use = async (store: Store) => {
        const { plan = defaultPlan(store.plans), credits, rateLimit = null } = flags;
        checkPlan(store, plan);
        const account = await store.accounts.create(
          { name, plan, credits, rateLimit, note: 'Opening balance' },
          commandActor(),
        );
        printResult(
          flags,
          accountJson(account),
          `Created account ${account.id} (${account.plan}, ${creditsText(account)}).`,
        );
      };
      await withStore(optionsFrom(flags, 'account'), use);
    });

const listAccountsCommand = () =>
  command('list', 'List the accounts.', 'account').action(async (flags: { json?: boolean }) => {
    await withStore(optionsFrom(flags, 'account'), async (store) => {
      const accounts = await store.accounts.list();
      const rows = accounts.map((a) => [
        a.id,
        a.name,
        a.plan,
        a.rateLimit,
        a.status,
        isUnlimited(a.terms) ? 'unlimited' : a.balance,
        a.locked,
      ]);
      printResult(
        flags,
        accounts.map(accountJson),
        table(rows, ['ID', 'NAME', 'PLAN', 'RATE LIMIT', 'STATUS', 'BALANCE', 'LOCKED']),
      );
    });
  });

// Options that take a word beside numbers return it: commander replaces a null that a parser returns.
const setAccountCommand = () =>
  command('set', 'Change an account.', 'account')
    .argument('<id>')
    .option('--name <name>')
    .option('--plan <plan>', 'one of those that mailvet plans prints')
    .option('--rate-limit <n>', `requests per ${WINDOW}, or "plan" for the plan's limit`, (text: string) =>
      text === 'plan' ? text : wholeNumber('--rate-limit', RATE_LIMIT.min, RATE_LIMIT.max)(text),
    )
    .option(
      '--low-balance <credits>',
      'alert the admins and webhooks when the balance falls below, or "none"',
      (text: string) => (text === 'none' ? text : wholeNumber('--low-balance', LOW_BALANCE.min, LOW_BALANCE.max)(text)),
    )
    .option(
      '--trust-bounces <days>',
      'take an address whose mail bounced within so many days for bad, or "none"',
      (text: string) =>
        text === 'none' ? text : wholeNumber('--trust-bounces', TRUST_BOUNCES_DAYS.min, TRUST_BOUNCES_DAYS.max)(text),
    )
    .option('--suspend', 'reject all requests with its API keys')
    .option('--resume', 'lift the suspension')
    .option('--operator-events', 'tell its webhooks of events of all accounts')
    .option('--no-operator-events', 'tell them of its own alone')
    .option('--require-second-factor', 'let members in only with a second factor')
    .option('--no-require-second-factor', 'let members in with a password alone')
    .action(
      async (
        id: string,
        flags: {
          json?: boolean;
          name?: string;
          plan?: string;
          rateLimit?: number | 'plan';
          lowBalance?: number | 'none';
          trustBounces?: number | 'none';
          suspend?: boolean;
          resume?: boolean;
          requireSecondFactor?: boolean;
          operatorEvents?: boolean;
        },
      ) => {
        if (flags.suspend && flags.resume) throw new UsageError('--suspend and --resume cannot be combined.');
        const change: AccountChange = given({
          name: flags.name === undefined ? undefined : parseAccountName(flags.name),
          plan: flags.plan,
          rateLimit: flags.rateLimit === 'plan' ? null : flags.rateLimit,
          lowBalance: flags.lowBalance === 'none' ? null : flags.lowBalance,
          trustBouncesDays: flags.trustBounces === 'none' ? null : flags.trustBounces,
          operatorEvents: flags.operatorEvents,
          secondFactorRequired: flags.requireSecondFactor,
          status: flags.suspend ? 'suspended' : flags.resume ? 'active' : undefined,
        });
        if (Object.keys(change).length === 0)
          throw new UsageError(
            'give at least one of --name, --plan, --rate-limit, --low-balance, --trust-bounces, --suspend, --resume and --require-second-factor.',
          );
        await withStore(optionsFrom(flags, 'account'), async (store) => {
          if (change.plan !== undefined) checkPlan(store, change.plan);
          const account = await store.accounts.set((await requireAccount(store, id)).id, change, commandActor());
          if (!account) throw new CommandFailure(`account ${id} no longer exists.`);
          printResult(flags, accountJson(account), accountText(account));
        });
      },
    );

const grant = () =>
  command('grant', 'Grant credits to an account; a negative number takes credits back.', 'account')
    .argument('<id>')
    .argument('<credits>', 'whole number', wholeNumber('<credits>', -COMMAND_CREDITS_MAX, COMMAND_CREDITS_MAX))
    .requiredOption('--note <text>', 'the reason, recorded in the ledger')
    .action(async (id: string, credits: number, flags: { json?: boolean; note: string }) => {
      if (credits === 0) throw new UsageError('<credits> must not be 0.');
      await withStore(optionsFrom(flags, 'account'), async (store) => {
        const { id: account }: { id: AccountId } = await requireAccount(store, id);
        const changed = await store.accounts.grant(account, credits, parseNote(flags.note), commandActor());
        if (!changed) throw new CommandFailure(`account ${id} has fewer credits than that; nothing changed.`);
        printResult(flags, accountJson(changed), `Account ${id} now has ${counted(changed.balance, 'credit')}.`);
      });
    });
