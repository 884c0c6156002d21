import {
  type IDataObject,
  type IHookFunctions,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  NodeApiError,
  NodeConnectionTypes,
} from 'n8n-workflow';
import { EVENTS } from '../fields';
import { send } from '../request';
import { checkWebhook, TOLERANCE_SECONDS } from '../webhook';

/** More events than that within the tolerance are not remembered: static data is a row of n8n's database. */
const MAX_REMEMBERED = 1000;

/** What n8n keeps of the trigger between runs. */
interface Kept extends IDataObject {
  webhookId?: string;
  secret?: string;
  /** IDs of events that were taken lately, each with the second. */
  taken?: Record<string, number>;
}
const keptOf = (caller: IHookFunctions | IWebhookFunctions): Kept => caller.getWorkflowStaticData('node');

const remove = (hook: IHookFunctions, id: string): Promise<unknown> =>
  send(hook, { method: 'DELETE', path: `webhooks/${encodeURIComponent(id)}` }).catch((error: unknown) => {
    // It is gone already.
    if (error instanceof NodeApiError && error.httpCode === '404') return null;
    throw error;
  });

/** Those of the account that send to this trigger: its URL is of this workflow and node alone. */
async function registered(hook: IHookFunctions): Promise<IDataObject[]> {
  const { webhooks } = await send(hook, { method: 'GET', path: 'webhooks', replyField: 'webhooks' });
  const url = hook.getNodeWebhookUrl('default');
  return (webhooks as IDataObject[]).filter((one) => one.url === url);
}

const eventsOf = (hook: IHookFunctions): string[] => hook.getNodeParameter('events') as string[];

/** Whether the event was not taken before; it is then remembered for as long as its signature is accepted. */
function isNew(kept: Kept, id: string): boolean {
  const now = Math.floor(Date.now() / 1000);
  const lately = Object.entries(kept.taken ?? {}).filter(([, at]) => now - at <= 2 * TOLERANCE_SECONDS);
  const isKnown = lately.some(([one]) => one === id);
  if (!isKnown) lately.push([id, now]);
  kept.taken = Object.fromEntries(lately.slice(-MAX_REMEMBERED));
  return !isKnown;
}

export class MailvetTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Mailvet Trigger',
    name: 'mailvetTrigger',
    icon: { light: 'file:../../icons/mailvet.svg', dark: 'file:../../icons/mailvet.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["events"].join(", ")}}',
    description: 'Starts the workflow when Mailvet has finished a list, or anything else happens in your account',
    defaults: { name: 'Mailvet Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    usableAsTool: undefined,
    credentials: [{ name: 'mailvetApi', required: true }],
    webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
    properties: [
      {
        displayName: 'Events',
        name: 'events',
        type: 'multiOptions',
        required: true,
        default: ['list.completed'],
        options: EVENTS,
      },
    ],
  };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const { webhookId, secret } = keptOf(this);
        const found = (await registered(this)).find(({ id }) => id === webhookId);
        if (found === undefined || secret === undefined || found.enabled !== true) return false;
        return [...(found.events as string[])].sort().join() === [...eventsOf(this)].sort().join();
      },
      async create(this: IHookFunctions): Promise<boolean> {
        // With other events, disabled, or of a workflow whose secret is lost: each event would come twice.
        for (const { id } of await registered(this)) await remove(this, String(id));
        const body = {
          url: this.getNodeWebhookUrl('default'),
          events: eventsOf(this),
          description: `n8n: ${this.getWorkflow().name ?? this.getWorkflow().id ?? ''}`.slice(0, 100),
        };
        const { id, secret } = await send(this, { method: 'POST', path: 'webhooks', body, replyField: 'secret' });
        Object.assign(keptOf(this), { webhookId: id, secret });
        return true;
      },
      async delete(this: IHookFunctions): Promise<boolean> {
        const kept = keptOf(this);
        if (kept.webhookId !== undefined) await remove(this, kept.webhookId);
        delete kept.webhookId;
        delete kept.secret;
        delete kept.taken;
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { rawBody } = this.getRequestObject();
    const kept = keptOf(this);
    const checked = checkWebhook(rawBody ?? Buffer.alloc(0), this.getHeaderData(), kept.secret ?? '');
    if ('forged' in checked) {
      this.getResponseObject().status(400).json({ error: checked.forged });
      return { noWebhookResponse: true };
    }
    // The service sends an event again when it saw no answer.
    if (!isNew(kept, checked.id)) return { webhookResponse: 'The event was received before.' };
    return { workflowData: [this.helpers.returnJsonArray(JSON.parse(String(rawBody)))] };
  }
}
