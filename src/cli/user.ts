import { Command } from 'commander';
import { HOUR_MS, MINUTE_MS, systemClock } from '../kernel/clock.ts';
import { COMMAND_RESET_LINK_HOURS, SIGN_IN_LINK_MINUTES } from '../kernel/facts/lifetimes.ts';
import { UNLOCK_WITHIN_SECONDS } from '../kernel/facts/limits.ts';
import { ROLES, type Role } from '../kernel/facts/roles.ts';
import { counted } from '../kernel/format.ts';
import { sha256Hex } from '../kernel/ids.ts';
import { firstAccountInput } from '../service/first-account.ts';
import { parsePersonName, personNameOf } from '../service/names.ts';
import { COMMAND_LINE, createNotifyUser } from '../service/sign-in/notices.ts';
import type { UserAdmin } from '../service/sign-in/user-admin.ts';
import type { PasswordOwner } from '../service/sign-in/validate.ts';
import type { Account, AccountId, Store, User, UserChange } from '../store/store.ts';
import { requireAccount } from './account.ts';
import {
  CommandFailure,
  command,
  commandActor,
  optionsFrom,
  printResult,
  table,
  UsageError,
  withStore,
} from './command.ts';

/** Longer than any password may be. */
const STDIN_MAX = 1024;

function role(text: string): Role {
  const found = ROLES.find((one) => one === text);
  if (found) return found;
  throw new UsageError(`--role must be one of ${ROLES.join(', ')}; it is ${JSON.stringify(text)}.`);
}

type ListedUser = User & { readonly accounts: readonly { id: string; role: Role }[] };

const userJson = (user: ListedUser) => ({
  id: user.id,
  email: user.email,
  name: user.name,
  operator: user.operator,
  second_factor: user.secondFactor,
  accounts: user.accounts.map(({ id, role }) => ({ id, role })),
});

export function userCommand(): Command {
  const group = new Command('user').description('Manage dashboard users.');
  group.addCommand(createUserCommand());
  group.addCommand(resetPassword());
  group.addCommand(signIn());
  group.addCommand(unlink());
  group.addCommand(unlockUserCommand());
  group.addCommand(listUsersCommand());
  group.addCommand(setUserCommand());
  group.addCommand(removeUserCommand());
  return group;
}

interface UserContext {
  readonly store: Store;
  readonly userAdmin: UserAdmin;
  readonly publicUrl: string;
  /** A one-time link to choose a password, valid for a day. */
  linkFor(user: string, within?: (change: UserChange) => Promise<void>): Promise<string>;
  /** A link by which the owner of an address that is not confirmed takes its user over and joins the account. */
  inviteKnown(account: AccountId, email: string, role: Role): Promise<string>;
}

/** Opens the store and the user administration. Imported lazily, because the sign-in library is slow to load. */
async function withUserAdmin(flags: object, use: (context: UserContext) => Promise<void>): Promise<void> {
  const options = optionsFrom(flags, 'user');
  const [{ createLogger }, { clockOf }, { lazyLibrary }, { createUserAdmin, newToken }] = await Promise.all([
    import('../kernel/log.ts'),
    import('../service/store-clock.ts'),
    import('../service/sign-in/open.ts'),
    import('../service/sign-in/user-admin.ts'),
  ]);
  const logger = createLogger('silent');
  await withStore(options, async (store) => {
    const url = () => options.publicUrl;
    const clock = await clockOf(store, systemClock);
    const library = lazyLibrary({ store, secret: options.authSecret, url, clock, logger });
    const notify = createNotifyUser({ mail: options.mailUrl !== null, clock, url });
    const userAdmin = createUserAdmin({ store, library, clock, notify });
    const linkFor: UserContext['linkFor'] = async (user, within) => {
      const token = await userAdmin.passwordToken(user, COMMAND_RESET_LINK_HOURS * HOUR_MS, within);
      return `${options.publicUrl}/reset-password#token=${token}`;
    };
    const inviteKnown: UserContext['inviteKnown'] = async (account, email, role) => {
      const token = newToken();
      const expiresAt = clock.now() + COMMAND_RESET_LINK_HOURS * HOUR_MS;
      const invitation = { email, role, tokenHash: sha256Hex(token), expiresAt, provesAddress: true };
      await store.members.invite(account, invitation, commandActor());
      return `${options.publicUrl}/invitation#token=${token}`;
    };
    await use({ store, userAdmin, publicUrl: options.publicUrl, linkFor, inviteKnown });
  });
}

/** `name` is an address or ID. Throws if there is no such user. */
async function requireUser(store: Store, name: string): Promise<User> {
  const user = (await store.users.byEmail(name.trim())) ?? (await store.users.get(name));
  if (user) return user;
  throw new CommandFailure(`there is no user ${JSON.stringify(name)}; see mailvet user list.`);
}

/** Operator rights are not for whoever used an address first. */
function requireProven({ email, emailVerified }: User): void {
  if (emailVerified) return;
  throw new CommandFailure(
    `nobody has confirmed ${email} yet: run mailvet user reset-password and use the link first.`,
  );
}

/**
 * The hash of a password from standard input, without the newline, to keep it out of the process list and shell
 * history.
 */
async function passwordFromInput(owner: PasswordOwner): Promise<string> {
  const { rejectWeakPassword } = await import('../service/sign-in/validate.ts');
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of process.stdin) {
    sizeBytes += chunk.length;
    if (sizeBytes > STDIN_MAX) throw new UsageError('standard input is longer than a password may be.');
    chunks.push(chunk);
  }
  const password = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  await rejectWeakPassword(password, owner);
  const { hashPassword } = await import('../service/sign-in/passwords.ts');
  return hashPassword(password);
}

const accountNames = async (store: Store, user: string): Promise<string[]> =>
  (await store.members.ofUser(user)).map(({ accountName }) => accountName);

const linkText = (link: string) =>
  `Link to choose a password, valid once within a day; it is not shown again:\n${link}`;

/** Changes the role of an existing member. */
async function addMember(store: Store, account: AccountId, { id, email }: User, role: Role): Promise<void> {
  const by = commandActor();
  if (await store.members.add(account, id, role, by)) return;
  if ((await store.members.setRole(account, id, role, by)) === 'last_owner')
    throw new CommandFailure(`${email} is the only owner of ${account}: add another owner first.`);
}

/** The account named, or the only one there is; where there is none, that of the first user. */
async function accountFor(store: Store, named: string | undefined, isFirst: boolean): Promise<Account> {
  if (named !== undefined) return requireAccount(store, named);
  const [only, ...others] = await store.accounts.list();
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined && isFirst) return store.accounts.create(firstAccountInput(store.plans), commandActor());
  throw new UsageError(`give --account: there are ${counted(others.length + 1, 'account')}; see mailvet account list.`);
}

interface CreateUserFlags {
  json?: boolean;
  email: string;
  account?: string;
  role?: Role;
  name?: string;
  operator?: boolean;
  passwordStdin?: boolean;
}

const createUserCommand = () =>
  command('create', 'Create a user and add them to an account; an existing user is only added to the account.', 'user')
    .requiredOption('--email <address>', 'address to sign in with')
    .option(
      '--account <id>',
      'account to add them to (default: the only one there is; the first user makes it, if there is none)',
    )
    .option('--role <role>', `${ROLES.join(', ')} (default: owner of the first user, member of others)`, role)
    .option('--name <name>', 'display name (default: the part before the @)')
    .option('--operator', 'may view all accounts, change plans and grant credits')
    .option('--password-stdin', 'read the password from standard input instead of printing a link to choose one')
    .action((flags: CreateUserFlags) =>
      withUserAdmin(flags, async ({ store, userAdmin, linkFor, inviteKnown }) => {
        const { parseEmail } = await import('../service/sign-in/validate.ts');
        const email = parseEmail(flags.email);
        const isFirst = (await store.users.count()) === 0;
        const account = await accountFor(store, flags.account, isFirst);
        const { role = isFirst ? 'owner' : 'member' } = flags;
        const known = await store.users.byEmail(email);
        if (known && flags.passwordStdin)
          throw new UsageError(`${email} already has a password; use mailvet user reset-password.`);
        const name = flags.name === undefined ? personNameOf(email) : parsePersonName(flags.name);
        const password = flags.passwordStdin
          ? await passwordFromInput({ email, name, accounts: [account.name] })
          : null;
        if (known && flags.operator) requireProven(known);
        if (known && !known.emailVerified && (await store.members.role(account.id, known.id)) === null) {
          const url = await inviteKnown(account.id, email, role);
          const json = { id: known.id, email, account: account.id, role, created: false, url };
          const text = `Nobody has confirmed ${email} yet. Whoever uses this link takes the user over and becomes ${role} of ${account.name}.`;
          return printResult(flags, json, `${text}\n${linkText(url)}`);
        }
        const user = known ?? (await userAdmin.create({ email, name, password }));
        if (!user) throw new CommandFailure(`${email} has just been created by someone else; run the command again.`);
        await addMember(store, account.id, user, role);
        if (flags.operator) await store.users.setOperator(user.id, true, commandActor());
        const url = known || password !== null ? null : await linkFor(user.id);
        const json = { id: user.id, email, account: account.id, role, created: !known, url };
        const text = `${known ? 'Updated' : 'Created'} user ${email} (${user.id}), ${role} of ${account.name}.`;
        printResult(flags, json, url === null ? text : `${text}\n${linkText(url)}`);
      }),
    );

interface ResetFlags {
  json?: boolean;
  passwordStdin?: boolean;
  forgetSecondFactor?: boolean;
}

const resetPassword = () =>
  command('reset-password', 'Set a new password, or print a link to choose one.', 'user')
    .argument('<user>', 'address or id')
    .option(
      '--password-stdin',
      'read the password from standard input; ends all sessions and removes the passkeys of the user',
    )
    .option('--forget-second-factor', 'also remove the authenticator app and the passkeys')
    .action((named: string, flags: ResetFlags) =>
      withUserAdmin(flags, async ({ store, userAdmin, linkFor }) => {
        const user = await requireUser(store, named);
        const password = flags.passwordStdin
          ? await passwordFromInput({ ...user, accounts: await accountNames(store, user.id) })
          : null;
        const by = commandActor();
        if (password !== null) {
          const within = (change: UserChange) => change.record({ by, action: 'user.password_reset' });
          await userAdmin.setPassword(user.id, password, COMMAND_LINE, { within });
        }
        if (flags.forgetSecondFactor) {
          const event = { by, action: 'user.second_factor_disabled', detail: { passkeys: true } } as const;
          await userAdmin.forgetSecondFactor(user.id, COMMAND_LINE, (change) => change.record(event));
        }
        const created = (change: UserChange) => change.record({ by, action: 'user.password_link_created' });
        const url = password === null ? await linkFor(user.id, created) : null;
        const forgotten = flags.forgetSecondFactor ? ' The authenticator app and all passkeys were removed.' : '';
        const outcome =
          url === null
            ? 'has a new password; all sessions have ended, and the passkeys are removed.'
            : 'keeps the current password until the link is used.';
        const lines = `${user.email} ${outcome}${forgotten}`;
        printResult(
          flags,
          { id: user.id, email: user.email, url },
          url === null ? lines : `${lines}\n${linkText(url)}`,
        );
      }),
    );

const signIn = () =>
  command('sign-in', 'Print a link that signs a user in, also where only the OpenID provider does.', 'user')
    .argument('<user>', 'address or id')
    .action((named: string, flags: { json?: boolean }) =>
      withUserAdmin(flags, async ({ store, userAdmin, publicUrl }) => {
        const { id, email } = await requireUser(store, named);
        const token = await userAdmin.signInToken(id, SIGN_IN_LINK_MINUTES * MINUTE_MS, (change) =>
          change.record({ by: commandActor(), action: 'user.sign_in_link_created' }),
        );
        const url = `${publicUrl}/sign-in/link#token=${token}`;
        const text = `Link that signs in as ${email}, valid once within ${SIGN_IN_LINK_MINUTES} minutes; it is not shown again:`;
        printResult(flags, { id, email, url }, `${text}\n${url}`);
      }),
    );

const unlink = () =>
  command('unlink', 'Remove what links a user to a person at the OpenID provider, and end those sessions.', 'user')
    .argument('<user>', 'address or id')
    .action(async (named: string, flags: { json?: boolean }) => {
      await withStore(optionsFrom(flags, 'user'), async (store) => {
        const { id, email } = await requireUser(store, named);
        const unlinked = await store.signIns.change({ user: id }, async (change) => {
          const removed = await change.unlinkIdentities();
          await change.endOidcSessions('all');
          if (removed > 0) await change.record({ by: commandActor(), action: 'user.oidc_unlinked' });
          return removed > 0;
        });
        printResult(flags, { id, email, unlinked }, `${email} is ${unlinked ? 'no longer' : 'not'} linked.`);
      });
    });

const unlockUserCommand = () =>
  command('unlock', 'Lift the limits on sign-in attempts, codes and reset mails of a user.', 'user')
    .argument('<user>', 'address or id')
    .action(async (named: string, flags: { json?: boolean }) => {
      const limits = await import('../service/sign-in/limits.ts');
      await withStore(optionsFrom(flags, 'user'), async (store) => {
        const { id, email } = await requireUser(store, named);
        await store.signIns.change({ user: id }, async (change) => {
          await limits.unlock(change, { id, email });
          await change.record({ by: commandActor(), action: 'user.unlocked' });
        });
        printResult(flags, { id, email }, `${email} can try again within ${UNLOCK_WITHIN_SECONDS} seconds.`);
      });
    });

const listUsersCommand = () =>
  command('list', 'List the users.', 'user').action(async (flags: { json?: boolean }) => {
    await withStore(optionsFrom(flags, 'user'), async (store) => {
      const users = await store.users.list();
      const rows = users.map((user) => [
        user.id,
        user.email,
        user.name,
        user.operator ? 'operator' : '-',
        user.secondFactor ? 'on' : 'off',
        user.accounts.map(({ id, role }) => `${role}:${id}`).join(' ') || null,
      ]);
      printResult(
        flags,
        users.map(userJson),
        table(rows, ['ID', 'EMAIL', 'NAME', 'OPERATOR', 'SECOND FACTOR', 'ACCOUNTS']),
      );
    });
  });

const setUserCommand = () =>
  command('set', 'Grant or withdraw operator rights.', 'user')
    .argument('<user>', 'address or id')
    .option('--operator', 'may view all accounts, change plans and grant credits')
    .option('--no-operator', 'withdraw operator rights')
    .action(async (named: string, flags: { json?: boolean; operator?: boolean }) => {
      if (flags.operator === undefined) throw new UsageError('give --operator or --no-operator.');
      await withStore(optionsFrom(flags, 'user'), async (store) => {
        const user = await requireUser(store, named);
        const { id, email } = user;
        const operator = flags.operator === true;
        if (operator) requireProven(user);
        await store.users.setOperator(id, operator, commandActor());
        printResult(flags, { id, email, operator }, `${email} is ${operator ? 'now' : 'no longer'} an operator.`);
      });
    });

const removeUserCommand = () =>
  command('remove', 'Remove a user with all sessions and memberships.', 'user')
    .argument('<user>', 'address or id')
    .action(async (named: string, flags: { json?: boolean }) => {
      await withStore(optionsFrom(flags, 'user'), async (store) => {
        const { id, email } = await requireUser(store, named);
        if (!(await store.users.remove(id, commandActor())))
          throw new CommandFailure(`${email} is the only owner of an account: add another owner first.`);
        printResult(flags, { id, email }, `Removed user ${email}.`);
      });
    });
