import { Command } from 'commander';
import { PLAN_NAMES, type Plan } from '../kernel/plans.ts';
import { usableName } from '../service/names.ts';
import type { Account, AccountId, Store } from '../store/store.ts';
import { command, commandActor, Failed, optionsFrom, say, table, WrongUse, whole, withStore } from './command.ts';

const MOST_CREDITS = 1_000_000_000_000;
const MOST_REQUESTS = 100_000_000;

function plan(text: string): Plan {
  if ((PLAN_NAMES as readonly string[]).includes(text)) return text as Plan;
  throw new WrongUse(`--plan must be one of ${PLAN_NAMES.join(', ')}; it is ${JSON.stringify(text)}.`);
}

const toJson = (a: Account) => ({
  id: a.id,
  name: a.name,
  plan: a.plan,
  rate_limit: a.rateLimit,
  status: a.status,
  balance: a.balance,
  locked: a.locked,
});

/** An account that has to be there. */
export async function accountNamed(store: Store, id: string): Promise<Account> {
  const account = await store.accounts.get(id);
  if (account) return account;
  throw new Failed(`there is no account ${JSON.stringify(id)}; mailvet account list shows them.`);
}

export function accountCommand(): Command {
  const group = new Command('account').description('Accounts, their plans and credits.');
  group.addCommand(create());
  group.addCommand(list());
  group.addCommand(set());
  group.addCommand(grant());
  return group;
}

const create = () =>
  command('create', 'Make an account.', 'account')
    .requiredOption('--name <name>', 'what to call it')
    .option('--plan <plan>', PLAN_NAMES.join(', '), plan, 'starter')
    .option('--credits <n>', 'credits to begin with', whole('--credits', 0, MOST_CREDITS), 0)
    .option(
      '--rate-limit <n>',
      "requests per 5 minutes; by default the plan's",
      whole('--rate-limit', 1, MOST_REQUESTS),
    )
    .action(async (flags: { json?: boolean; name: string; plan: Plan; credits: number; rateLimit?: number }) => {
      const name = usableName(flags.name);
      await withStore(optionsFrom(flags, 'account'), async (store) => {
        const { plan, credits, rateLimit = null } = flags;
        const account = await store.accounts.create(
          { name, plan, credits, rateLimit, note: 'Opening balance' },
          commandActor(),
        );
        say(flags, toJson(account), `Account ${account.id} (${account.plan}, ${account.balance} credits) was made.`);
      });
    });

const list = () =>
  command('list', 'Show the accounts.', 'account').action(async (flags: { json?: boolean }) => {
    await withStore(optionsFrom(flags, 'account'), async (store) => {
      const accounts = await store.accounts.list();
      const rows = accounts.map((a) => [a.id, a.name, a.plan, a.rateLimit, a.status, a.balance, a.locked]);
      say(
        flags,
        accounts.map(toJson),
        table(rows, ['ID', 'NAME', 'PLAN', 'RATE LIMIT', 'STATUS', 'BALANCE', 'LOCKED']),
      );
    });
  });

const set = () =>
  command('set', 'Change an account.', 'account')
    .argument('<id>')
    .option('--name <name>')
    .option('--plan <plan>', PLAN_NAMES.join(', '), plan)
    .option('--rate-limit <n>', 'requests per 5 minutes, or "plan" for what the plan has', (text: string) =>
      text === 'plan' ? null : whole('--rate-limit', 1, MOST_REQUESTS)(text),
    )
    .option('--suspend', 'refuse every request of its keys')
    .option('--resume', 'take its requests again')
    .action(
      async (
        id: string,
        flags: {
          json?: boolean;
          name?: string;
          plan?: Plan;
          rateLimit?: number | null;
          suspend?: boolean;
          resume?: boolean;
        },
      ) => {
        if (flags.suspend && flags.resume) throw new WrongUse('--suspend and --resume exclude each other.');
        const change = {
          ...(flags.name === undefined ? {} : { name: usableName(flags.name) }),
          ...(flags.plan === undefined ? {} : { plan: flags.plan }),
          ...(flags.rateLimit === undefined ? {} : { rateLimit: flags.rateLimit }),
          ...(flags.suspend ? { status: 'suspended' as const } : flags.resume ? { status: 'active' as const } : {}),
        };
        if (Object.keys(change).length === 0)
          throw new WrongUse('name what to change: --name, --plan, --rate-limit, --suspend or --resume.');
        await withStore(optionsFrom(flags, 'account'), async (store) => {
          const account = await store.accounts.set((await accountNamed(store, id)).id, change, commandActor());
          if (!account) throw new Failed(`account ${id} is gone.`);
          say(
            flags,
            toJson(account),
            `Account ${id}: ${account.plan}, ${account.rateLimit} requests per 5 minutes, ${account.status}.`,
          );
        });
      },
    );

const grant = () =>
  command('grant', 'Give credits to an account, or take some back with a negative number.', 'account')
    .argument('<id>')
    .argument('<credits>', 'whole number', whole('<credits>', -MOST_CREDITS, MOST_CREDITS))
    .requiredOption('--note <text>', 'why; stands in the ledger')
    .allowUnknownOption(false)
    .action(async (id: string, credits: number, flags: { json?: boolean; note: string }) => {
      if (credits === 0) throw new WrongUse('<credits> must not be 0.');
      await withStore(optionsFrom(flags, 'account'), async (store) => {
        const { id: account }: { id: AccountId } = await accountNamed(store, id);
        const changed = await store.accounts.grant(account, credits, usableName(flags.note), commandActor());
        if (!changed) throw new Failed(`account ${id} has fewer credits than that; nothing was changed.`);
        say(flags, toJson(changed), `Account ${id} now has ${changed.balance} credits.`);
      });
    });
