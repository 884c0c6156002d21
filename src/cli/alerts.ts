import { Command } from 'commander';
import { toIso } from '../kernel/clock.ts';
import { ALERT_TYPES, type AlertType, isAlertType } from '../kernel/facts/alerts.ts';
import { createAlertService } from '../service/alerts.ts';
import type { AlertsOfAccount, Store } from '../store/store.ts';
import { requireAccount } from './account.ts';
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

export function alertsCommand(): Command {
  const group = new Command('alerts').description('Alerts of an account: which ones are mailed, and which go on.');
  group.addCommand(show());
  group.addCommand(set());
  group.addCommand(test());
  return group;
}

/** As the dashboard has them. */
const toJson = ({ mails, paused, open }: AlertsOfAccount) => ({
  mails,
  mails_paused: paused,
  open: open.map(({ since, ...one }) => ({ ...one, since: toIso(since) })),
});

function printAlerts(flags: { json?: boolean }, alerts: AlertsOfAccount): void {
  const { mails, paused, open } = alerts;
  const rows = ALERT_TYPES.map((type) => {
    const going = open.filter((one) => one.type === type).map(({ since }) => toIso(since));
    return [type, mails.includes(type) ? (paused ? 'paused' : 'yes') : 'no', going.join(', ') || null];
  });
  printResult(flags, toJson(alerts), table(rows, ['ALERT', 'MAILED', 'SINCE']));
}

const show = () =>
  command('show', 'Show which alerts are mailed, and since when those last that are not over.', 'alerts')
    .argument('<account>')
    .action(async (id: string, flags: { json?: boolean }) => {
      await withStore(optionsFrom(flags, 'alerts'), async (store) => {
        const account = await requireAccount(store, id);
        printAlerts(flags, await store.alerts.settings(account.id));
      });
    });

/** Reads the value of `--mail`: names, `all` or `none`. */
function typesNamed(texts: readonly string[]): readonly AlertType[] {
  const names = splitList(texts);
  if (names.length === 1 && names[0] === 'all') return ALERT_TYPES;
  if (names.length === 1 && names[0] === 'none') return [];
  const wrong = names.find((name) => !isAlertType(name));
  if (names.length === 0 || wrong !== undefined)
    throw new UsageError(
      `--mail must be of ${ALERT_TYPES.join(', ')}, or all, or none; ${wrong === undefined ? 'it is empty' : `one is ${JSON.stringify(wrong)}`}.`,
    );
  return ALERT_TYPES.filter((type) => names.includes(type));
}

const set = () =>
  command('set', 'Choose which alerts owners and admins are mailed, or pause these mails.', 'alerts')
    .argument('<account>')
    .option('--mail <types...>', `of ${ALERT_TYPES.join(', ')}; or all, or none`)
    .option('--pause', 'mail none for now; chats and webhooks go on')
    .option('--resume', 'mail them again')
    .action(
      async (id: string, flags: { json?: boolean; mail?: readonly string[]; pause?: boolean; resume?: boolean }) => {
        if (flags.pause && flags.resume) throw new UsageError('--pause and --resume cannot be combined.');
        const change = {
          ...(flags.mail === undefined ? {} : { mails: typesNamed(flags.mail) }),
          ...(flags.pause ? { paused: true } : flags.resume ? { paused: false } : {}),
        };
        if (Object.keys(change).length === 0)
          throw new UsageError('give at least one of --mail, --pause and --resume.');
        await withStore(optionsFrom(flags, 'alerts'), async (store) => {
          const account = await requireAccount(store, id);
          await store.alerts.change(account.id, change, commandActor());
          printAlerts(flags, await store.alerts.settings(account.id));
        });
      },
    );

const test = () =>
  command('test', 'Have the running service mail a test to a member of the account.', 'alerts')
    .argument('<account>')
    .requiredOption('--to <email>', 'address of a member')
    .action(async (id: string, flags: { json?: boolean; to: string }) => {
      const options = optionsFrom(flags, 'alerts');
      if (options.mailUrl === null)
        throw new UsageError('no mail is sent without MAILVET_MAIL_URL: set it to that of the service.');
      await withStore(options, async (store: Store) => {
        const account = await requireAccount(store, id);
        const members = await store.members.list(account.id);
        const member = members.find(({ email }) => email.toLowerCase() === flags.to.toLowerCase());
        if (member === undefined)
          throw new CommandFailure(`${JSON.stringify(flags.to)} is no member of the account; see mailvet user list.`);
        await createAlertService({ store, mail: true }).test(account.id, member.email);
        printResult(flags, { to: member.email }, `A test is on its way to ${member.email}.`);
      });
    });
