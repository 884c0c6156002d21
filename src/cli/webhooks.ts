import { Command } from 'commander';
import type { Webhook } from '../../sdk/src/index.ts';
import { EVERY_EVENT, WEBHOOK_EVENT_TYPES, type WebhookSubscription } from '../kernel/facts/events.ts';
import { command, printResult, splitList, table, UsageError } from './command.ts';
import { withServer } from './server-error.ts';

const EVENTS: WebhookSubscription = [...WEBHOOK_EVENT_TYPES, EVERY_EVENT];

function eventNamed(text: string): WebhookSubscription[number] {
  const named = EVENTS.find((event) => event === text);
  if (named !== undefined) return named;
  throw new UsageError(`--events must be of ${EVENTS.join(', ')}; one is ${JSON.stringify(text)}.`);
}

export function webhooksCommand(): Command {
  const group = new Command('webhooks').description('Where events of an account are sent, on a server.');
  group.addCommand(createWebhookCommand());
  group.addCommand(listWebhooksCommand());
  group.addCommand(test());
  group.addCommand(listDeliveriesCommand());
  group.addCommand(replay());
  group.addCommand(enable());
  group.addCommand(disableWebhookCommand());
  group.addCommand(removeWebhookCommand());
  return group;
}

const WEBHOOK_HEADER = ['ID', 'URL', 'EVENTS', 'STATE'];
const webhookRow = ({ id, url, events, enabled, disabled_reason: why }: Webhook) => [
  id,
  url,
  events.join(','),
  enabled ? 'enabled' : `disabled${why === null ? '' : ` (${why})`}`,
];

const createWebhookCommand = () =>
  command(
    'create',
    'Send events to an address; prints the secret that signs them, which is not shown again.',
    'webhooks',
  )
    .argument('<url>')
    .requiredOption('--events <names...>', 'events, such as list.completed, or * for all')
    .option('--description <text>', 'for people')
    .action(async (url: string, flags: { json?: boolean; events: readonly string[]; description?: string }) => {
      await withServer(flags, 'webhooks', async ({ webhooks }) => {
        const { description } = flags;
        const events = splitList(flags.events).map(eventNamed);
        const made = await webhooks.create({ url, events, ...(description === undefined ? {} : { description }) });
        printResult(flags, made, `Created webhook ${made.id}.\nSecret, not shown again: ${made.secret}`);
      });
    });

const listWebhooksCommand = () =>
  command('list', 'List the webhooks, oldest first.', 'webhooks').action(async (flags: { json?: boolean }) => {
    await withServer(flags, 'webhooks', async ({ webhooks }) => {
      const all = await webhooks.list();
      printResult(flags, all, table(all.map(webhookRow), WEBHOOK_HEADER));
    });
  });

const test = () =>
  command('test', 'Send a ping and wait for its outcome; exit with 1 if it was not delivered.', 'webhooks')
    .argument('<id>')
    .action(async (id: string, flags: { json?: boolean }) => {
      await withServer(flags, 'webhooks', async ({ webhooks }) => {
        const delivery = await webhooks.test(id);
        const last = delivery.attempts.at(-1);
        printResult(flags, delivery, `${delivery.status}: ${last?.status ?? last?.error ?? 'not attempted'}`);
        if (delivery.status !== 'delivered') process.exitCode = 1;
      });
    });

const listDeliveriesCommand = () =>
  command('deliveries', 'List what was sent to a webhook, newest first.', 'webhooks')
    .argument('<id>')
    .action(async (id: string, flags: { json?: boolean }) => {
      await withServer(flags, 'webhooks', async ({ webhooks }) => {
        const page = await webhooks.deliveries(id);
        const rows = page.deliveries.map((one) => [
          one.id,
          one.event,
          one.status,
          one.attempts.length,
          one.created_at,
          one.next_attempt_at,
        ]);
        printResult(flags, page, table(rows, ['ID', 'EVENT', 'STATUS', 'ATTEMPTS', 'CREATED', 'NEXT ATTEMPT']));
      });
    });

const replay = () =>
  command('replay', 'Send the event of a delivery again.', 'webhooks')
    .argument('<delivery>')
    .action(async (id: string, flags: { json?: boolean }) => {
      await withServer(flags, 'webhooks', async ({ webhooks }) => {
        const delivery = await webhooks.replay(id);
        printResult(flags, delivery, `Delivery ${delivery.id} will be sent.`);
      });
    });

const switched = (name: 'enable' | 'disable', description: string) => () =>
  command(name, description, 'webhooks')
    .argument('<id>')
    .action(async (id: string, flags: { json?: boolean }) => {
      await withServer(flags, 'webhooks', async ({ webhooks }) => {
        const changed = await webhooks.change(id, { enabled: name === 'enable' });
        printResult(flags, changed, table([webhookRow(changed)], WEBHOOK_HEADER));
      });
    });
const enable = switched('enable', 'Send events again.');
const disableWebhookCommand = switched('disable', 'Send no events for now.');

const removeWebhookCommand = () =>
  command('remove', 'Delete a webhook.', 'webhooks')
    .argument('<id>')
    .action(async (id: string, flags: { json?: boolean }) => {
      await withServer(flags, 'webhooks', async ({ webhooks }) => {
        await webhooks.remove(id);
        printResult(flags, { id }, `Removed webhook ${id}.`);
      });
    });
