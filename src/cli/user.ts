import { Command } from 'commander';
import type { People } from '../service/sign-in/people.ts';
import type { AccountId, Role, Store, User } from '../store/store.ts';
import { accountNamed } from './account.ts';
import { command, commandActor, Failed, optionsFrom, say, table, WrongUse, withStore } from './command.ts';

const ROLES: readonly Role[] = ['owner', 'admin', 'member'];
const LINK_LIVES_MS = 24 * 3_600_000;
/** More than any password has. */
const STDIN_MAX = 1024;

function role(text: string): Role {
  const found = ROLES.find((one) => one === text);
  if (found) return found;
  throw new WrongUse(`--role must be one of ${ROLES.join(', ')}; it is ${JSON.stringify(text)}.`);
}

type ListedUser = User & { readonly accounts: readonly { id: string; role: Role }[] };

const toJson = (user: ListedUser) => ({
  id: user.id,
  email: user.email,
  name: user.name,
  operator: user.operator,
  second_factor: user.secondFactor,
  accounts: user.accounts.map(({ id, role }) => ({ id, role })),
});

export function userCommand(): Command {
  const group = new Command('user').description('People who sign in to the dashboard.');
  group.addCommand(create());
  group.addCommand(resetPassword());
  group.addCommand(list());
  group.addCommand(set());
  group.addCommand(remove());
  return group;
}

interface Tools {
  readonly store: Store;
  readonly people: People;
  /** A one-time link to choose a password, for a day; it works while the service runs. */
  linkFor(user: string): Promise<string>;
}

/** The store, and what makes and changes people in it: loaded with the sign-in library, at the first use of it. */
async function withPeople(flags: object, use: (tools: Tools) => Promise<void>): Promise<void> {
  const options = optionsFrom(flags, 'user');
  const [{ createLogger }, { systemClock: clock }, { lazyLibrary }, { createPeople }] = await Promise.all([
    import('../kernel/log.ts'),
    import('../kernel/clock.ts'),
    import('../service/sign-in/open.ts'),
    import('../service/sign-in/people.ts'),
  ]);
  const logger = createLogger('silent');
  await withStore(options, async (store) => {
    const url = () => options.publicUrl;
    const library = lazyLibrary({ store, secret: options.authSecret, url, clock, logger });
    const people = createPeople({ store, library, clock });
    const linkFor = async (user: string) =>
      `${options.publicUrl}/reset-password#token=${await people.passwordToken(user, LINK_LIVES_MS)}`;
    await use({ store, people, linkFor });
  });
}

/** A user who has to be there, by address or id. */
async function userNamed(store: Store, name: string): Promise<User> {
  const user = (await store.users.byEmail(name.trim())) ?? (await store.users.get(name));
  if (user) return user;
  throw new Failed(`there is no user ${JSON.stringify(name)}; mailvet user list shows them.`);
}

/** A password from standard input, without the end of its line: it stands in no process list and no history. */
async function passwordFor(email: string): Promise<string> {
  const { refuseWeak } = await import('../service/sign-in/usable.ts');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > STDIN_MAX) throw new WrongUse('standard input is longer than a password can be.');
    chunks.push(chunk);
  }
  const password = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  refuseWeak(password, email);
  return password;
}

const inHand = (link: string) =>
  `With this link they choose a password; it works once, within a day, and is shown only now:\n${link}`;

/** A member who is there already gets the role. */
async function makeMember(store: Store, account: AccountId, { id, email }: User, role: Role): Promise<void> {
  const by = commandActor();
  if (await store.members.add(account, id, role, by)) return;
  if ((await store.members.setRole(account, id, role, by)) === 'last_owner')
    throw new Failed(`${email} is the only owner of ${account}: make somebody else an owner of it first.`);
}

interface CreateFlags {
  json?: boolean;
  email: string;
  account: string;
  role: Role;
  name?: string;
  operator?: boolean;
  passwordStdin?: boolean;
}

const create = () =>
  command('create', 'Make a user and a member of an account; a known address only becomes a member.', 'user')
    .requiredOption('--email <address>', 'to sign in with')
    .requiredOption('--account <id>', 'the account to be a member of')
    .option('--role <role>', ROLES.join(', '), role, 'member')
    .option('--name <name>', 'what to call them; by default what stands before the @')
    .option('--operator', 'may see all accounts, set plans and grant credits')
    .option('--password-stdin', 'take the password from standard input; without it, a link to choose one is printed')
    .action((flags: CreateFlags) =>
      withPeople(flags, async ({ store, people, linkFor }) => {
        const { usableEmail, usablePersonName } = await import('../service/sign-in/usable.ts');
        const email = usableEmail(flags.email);
        const account = await accountNamed(store, flags.account);
        const known = await store.users.byEmail(email);
        if (known && flags.passwordStdin)
          throw new WrongUse(`${email} has a password already; mailvet user reset-password changes it.`);
        const name = usablePersonName(flags.name ?? email.split('@')[0]!);
        const password = flags.passwordStdin ? await passwordFor(email) : null;
        const user = known ?? (await people.create({ email, name, password: null }));
        if (!user) throw new Failed(`${email} was made by somebody else at this moment; run the command again.`);
        if (password !== null) await people.setPassword(user.id, password);
        await makeMember(store, account.id, user, flags.role);
        if (flags.operator) await store.users.setOperator(user.id, true);
        const url = known || password !== null ? null : await linkFor(user.id);
        const json = { id: user.id, email, account: account.id, role: flags.role, created: !known, url };
        const made = `${email} (${user.id}) ${known ? 'is known, and now' : 'was made, and'} is ${flags.role} of ${account.name}.`;
        say(flags, json, url === null ? made : `${made}\n${inHand(url)}`);
      }),
    );

interface ResetFlags {
  json?: boolean;
  passwordStdin?: boolean;
  forgetSecondFactor?: boolean;
}

const resetPassword = () =>
  command('reset-password', 'Give somebody a new password, or a link to choose one.', 'user')
    .argument('<user>', 'address or id')
    .option('--password-stdin', 'take the password from standard input; every session of the user ends')
    .option('--forget-second-factor', 'also remove the authenticator app and the passkeys')
    .action((named: string, flags: ResetFlags) =>
      withPeople(flags, async ({ store, people, linkFor }) => {
        const user = await userNamed(store, named);
        const password = flags.passwordStdin ? await passwordFor(user.email) : null;
        if (password !== null) await people.setPassword(user.id, password);
        if (flags.forgetSecondFactor) await people.forgetSecondFactor(user.id);
        const url = password === null ? await linkFor(user.id) : null;
        const forgot = flags.forgetSecondFactor ? ' No code is asked any more, and no passkey is known.' : '';
        const said =
          url === null ? 'has a new password; every session has ended.' : 'keeps the password until it is changed.';
        const lines = `${user.email} ${said}${forgot}`;
        say(flags, { id: user.id, email: user.email, url }, url === null ? lines : `${lines}\n${inHand(url)}`);
      }),
    );

const list = () =>
  command('list', 'Show the users.', 'user').action(async (flags: { json?: boolean }) => {
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
      say(flags, users.map(toJson), table(rows, ['ID', 'EMAIL', 'NAME', 'OPERATOR', 'SECOND FACTOR', 'ACCOUNTS']));
    });
  });

const set = () =>
  command('set', 'Make somebody an operator, or no longer one.', 'user')
    .argument('<user>', 'address or id')
    .option('--operator', 'may see all accounts, set plans and grant credits')
    .option('--no-operator', 'may not')
    .action(async (named: string, flags: { json?: boolean; operator?: boolean }) => {
      if (flags.operator === undefined) throw new WrongUse('name what to change: --operator or --no-operator.');
      await withStore(optionsFrom(flags, 'user'), async (store) => {
        const { id, email } = await userNamed(store, named);
        const operator = flags.operator === true;
        await store.users.setOperator(id, operator);
        say(flags, { id, email, operator }, `${email} is ${operator ? 'an operator' : 'no operator'} now.`);
      });
    });

const remove = () =>
  command('remove', 'Remove a user, with their sessions and memberships.', 'user')
    .argument('<user>', 'address or id')
    .action(async (named: string, flags: { json?: boolean }) => {
      await withStore(optionsFrom(flags, 'user'), async (store) => {
        const { id, email } = await userNamed(store, named);
        if (!(await store.users.remove(id, commandActor())))
          throw new Failed(`${email} is the only owner of an account: make somebody else an owner of it first.`);
        say(flags, { id, email }, `${email} is removed.`);
      });
    });
