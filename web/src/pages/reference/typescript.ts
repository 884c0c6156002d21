import type { operations } from '../../../../sdk/src/schema.ts';
import { javascript } from './literals.ts';

interface Code {
  readonly imports?: readonly string[];
  readonly lines: readonly string[];
}
type Name = Exclude<keyof operations, `receive${string}`>;
/** `id`: as a literal. */
type Call = (id: string, body: Readonly<Record<string, unknown>>) => Code;

const result = (name: string, call: string): Code => ({
  lines: [`const ${name} = await mailvet.${call};`, `console.log(${name});`],
});

/** Ids of filters are numbers. */
const numberOf = (id: string): string => id.replaceAll("'", '');

/** The method of the client for each operation of the API. */
const CALLS: Readonly<Record<Name, Call>> = {
  verify: (_id, body) => result('verification', `verify(${javascript(body)})`),
  createList: () => ({
    imports: ["import { createReadStream } from 'node:fs';"],
    ...result('list', "lists.create(createReadStream('addresses.csv'), { name: 'addresses.csv' })"),
  }),
  lists: () => result('page', 'lists.list()'),
  getList: (id) => result('list', `lists.get(${id})`),
  readList: (id, body) => result('list', `lists.update(${id}, ${javascript(body)})`),
  removeList: (id) => result('removed', `lists.remove(${id})`),
  startList: (id) => result('list', `lists.start(${id})`),
  pauseList: (id) => result('list', `lists.pause(${id})`),
  resumeList: (id) => result('list', `lists.resume(${id})`),
  cancelList: (id) => result('list', `lists.cancel(${id})`),
  listRows: (id) => ({
    lines: [`for await (const row of mailvet.lists.rows(${id})) {`, '  console.log(row.email, row.reason);', '}'],
  }),
  listResults: (id) => ({
    imports: ["import { createWriteStream } from 'node:fs';", "import { pipeline } from 'node:stream/promises';"],
    lines: [
      `const results = await mailvet.lists.results(${id}, { format: 'csv' });`,
      "await pipeline(results, createWriteStream('results.csv'));",
    ],
  }),
  listVerifications: () => result('page', "verifications.list({ query: 'example.com' })"),
  getVerification: (id) => result('verification', `verifications.get(${id})`),
  forgetSeen: () => result('forgotten', "seen.forget({ scope: 'signup', email: 'jane.doe@example.com' })"),
  usage: () => result('usage', 'usage()'),
  addFilter: (_id, body) => result('filter', `filters.add(${javascript(body)})`),
  listFilters: () => ({
    lines: [
      'for await (const filter of mailvet.filters.all()) {',
      '  console.log(filter.filter_type, filter.value);',
      '}',
    ],
  }),
  getFilter: (id) => result('filter', `filters.get(${numberOf(id)})`),
  changeFilter: (id, body) => result('filter', `filters.change(${numberOf(id)}, ${javascript(body)})`),
  removeFilter: (id) => result('removed', `filters.remove(${numberOf(id)})`),
  importFilters: () => ({
    imports: ["import { createReadStream } from 'node:fs';"],
    ...result('imported', "filters.import(createReadStream('filters.csv'))"),
  }),
  exportFilters: () => ({
    imports: ["import { createWriteStream } from 'node:fs';", "import { pipeline } from 'node:stream/promises';"],
    lines: ["await pipeline(await mailvet.filters.export(), createWriteStream('filters.csv'));"],
  }),
  listPolicies: () => result('policies', 'policies.list()'),
  getPolicy: (name) => result('policy', `policies.get(${name})`),
  putPolicy: (name, body) => result('policy', `policies.put(${name}, ${javascript(body)})`),
  deletePolicy: (name) => ({ lines: [`await mailvet.policies.remove(${name});`] }),
  reportOutcomes: (_id, { outcomes }) => result('reported', `outcomes.report(${javascript(outcomes)})`),
  exportPerson: (_id, body) => result('held', `privacy.export(${javascript(body)})`),
  erasePerson: (_id, body) => result('erased', `privacy.erase(${javascript(body)})`),
  listAccounts: () => result('page', 'operator.accounts.list()'),
  createAccount: (_id, body) => result('account', `operator.accounts.create(${javascript(body)})`),
  getAccount: (id) => result('account', `operator.accounts.get(${id})`),
  changeAccount: (id, body) => result('account', `operator.accounts.change(${id}, ${javascript(body)})`),
  suspendAccount: (id) => result('account', `operator.accounts.suspend(${id})`),
  resumeAccount: (id) => result('account', `operator.accounts.resume(${id})`),
  deleteAccount: (id) => ({ lines: [`await mailvet.operator.accounts.remove(${id});`] }),
  grantCredits: (id, body) => result('grant', `operator.accounts.grant(${id}, ${javascript(body)})`),
  createAccountKey: (id, body) => result('key', `operator.accounts.createKey(${id}, ${javascript(body)})`),
  revokeAccountKey: (id) => result('key', `operator.accounts.revokeKey(${id}, 'key_0VkP3Zq1n7Jc2mQ9sT4bXd')`),
  accountUsage: (id) => result('usage', `operator.accounts.usage(${id})`),
  accountLedger: (id) => result('page', `operator.accounts.ledger(${id})`),
  reportOutcomeMessage: () => ({
    imports: ["import { readFile } from 'node:fs/promises';"],
    ...result('counted', "outcomes.reportMessage(await readFile('bounce.eml'))"),
  }),
  calibration: () => result('calibration', 'calibration()'),
  createWebhook: (_id, body) => result('webhook', `webhooks.create(${javascript(body)})`),
  listWebhooks: () => result('webhooks', 'webhooks.list()'),
  getWebhook: (id) => result('webhook', `webhooks.get(${id})`),
  changeWebhook: (id, body) => result('webhook', `webhooks.change(${id}, ${javascript(body)})`),
  deleteWebhook: (id) => ({ lines: [`await mailvet.webhooks.remove(${id});`] }),
  rotateWebhookSecret: (id) => result('webhook', `webhooks.rotateSecret(${id})`),
  testWebhook: (id) => result('delivery', `webhooks.test(${id})`),
  listDeliveries: (id) => result('page', `webhooks.deliveries(${id})`),
  replayDelivery: (id) => result('delivery', `webhooks.replay(${id})`),
};

const isName = (name: string): name is Name => Object.hasOwn(CALLS, name);

/** Throws for an operation that the client does not have. */
export function callOf(operationId: string, id: string, body: unknown): Code {
  if (!isName(operationId)) throw new Error(`The client has no method for ${operationId}.`);
  return CALLS[operationId](javascript(id), typeof body === 'object' && body !== null ? { ...body } : {});
}
