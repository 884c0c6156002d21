import type { operations } from '../../../../sdk/src/schema.ts';
import { javascript } from './literals.ts';

interface Code {
  readonly imports?: readonly string[];
  readonly lines: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/** What a call is given. */
interface Given {
  /** The parameters of the path, in its order. */
  readonly ids: readonly unknown[];
  readonly query: Fields;
  readonly body: Fields;
  /** The file that is sent, or addresses in its place. */
  readonly upload: string | readonly string[];
  /** Where a reply that is a file is written; undefined: it is printed. */
  readonly file: string | undefined;
  /** Options of the call itself, such as its idempotency key. */
  readonly options: Fields;
}

type Name = Exclude<keyof operations, `receive${string}`>;
type Call = (given: Given) => Code;

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** Arguments of a call, without empty objects. */
const literals = (...values: readonly unknown[]): string[] => values.filter((value) => !isEmpty(value)).map(javascript);

const listed = (...values: readonly unknown[]): string => literals(...values).join(', ');

const printed = (call: string): Code => ({ lines: [`console.log(await mailvet.${call});`] });

const silent = (call: string): Code => ({ lines: [`await mailvet.${call};`] });

/** A call whose first argument is a file that is read. */
const sent = (name: string, file: string, options: Fields): Code => ({
  imports: ["import { createReadStream } from 'node:fs';"],
  ...printed(`${name}(${[`createReadStream(${javascript(file)})`, ...literals(options)].join(', ')})`),
});

/** A call that returns a stream. */
const received = (call: string, file: string | undefined): Code =>
  file === undefined
    ? {
        imports: ["import { text } from 'node:stream/consumers';"],
        lines: [`console.log(await text(await mailvet.${call}));`],
      }
    : {
        imports: ["import { createWriteStream } from 'node:fs';", "import { pipeline } from 'node:stream/promises';"],
        lines: [`await pipeline(await mailvet.${call}, createWriteStream(${javascript(file)}));`],
      };

/** A call that is given the path's parameters, then the body or the query. */
const plain =
  (name: string): Call =>
  ({ ids, body, query }) =>
    printed(`${name}(${listed(...ids, body, query)})`);

/** The method of the client for each operation of the API. */
const CALLS: Readonly<Record<Name, Call>> = {
  verify: ({ body, options }) => printed(`verify(${listed(body, options)})`),
  createList: ({ upload, query, options }) =>
    typeof upload === 'string'
      ? sent('lists.create', upload, { name: upload, ...query, ...options })
      : printed(`lists.create(${listed(upload, { ...query, ...options })})`),
  lists: plain('lists.list'),
  getList: plain('lists.get'),
  readList: plain('lists.update'),
  removeList: plain('lists.remove'),
  startList: plain('lists.start'),
  pauseList: plain('lists.pause'),
  resumeList: plain('lists.resume'),
  cancelList: plain('lists.cancel'),
  listRows: ({ ids, query }) => ({
    lines: [
      `for await (const row of mailvet.lists.rows(${listed(...ids, query)})) {`,
      '  console.log(row.email, row.reason);',
      '}',
    ],
  }),
  listResults: ({ ids, query, file }) => received(`lists.results(${listed(...ids, query)})`, file),
  listVerifications: plain('verifications.list'),
  getVerification: plain('verifications.get'),
  forgetSeen: ({ query }) =>
    query.email === undefined
      ? printed(`seen.forgetScope(${javascript(query.scope)})`)
      : printed(`seen.forget(${javascript(query)})`),
  usage: plain('usage'),
  addFilter: plain('filters.add'),
  listFilters: plain('filters.list'),
  getFilter: plain('filters.get'),
  changeFilter: plain('filters.change'),
  removeFilter: plain('filters.remove'),
  importFilters: ({ upload, query }) => sent('filters.import', String(upload), query),
  exportFilters: ({ file }) => received('filters.export()', file),
  listPolicies: plain('policies.list'),
  getPolicy: plain('policies.get'),
  putPolicy: plain('policies.put'),
  deletePolicy: ({ ids }) => silent(`policies.remove(${listed(...ids)})`),
  reportOutcomes: ({ body }) => printed(`outcomes.report(${javascript(body.outcomes)})`),
  exportPerson: plain('privacy.export'),
  erasePerson: plain('privacy.erase'),
  listAccounts: plain('operator.accounts.list'),
  createAccount: plain('operator.accounts.create'),
  getAccount: plain('operator.accounts.get'),
  changeAccount: plain('operator.accounts.change'),
  suspendAccount: plain('operator.accounts.suspend'),
  resumeAccount: plain('operator.accounts.resume'),
  deleteAccount: ({ ids }) => silent(`operator.accounts.remove(${listed(...ids)})`),
  grantCredits: plain('operator.accounts.grant'),
  createAccountKey: plain('operator.accounts.createKey'),
  revokeAccountKey: plain('operator.accounts.revokeKey'),
  accountUsage: plain('operator.accounts.usage'),
  accountLedger: plain('operator.accounts.ledger'),
  reportOutcomeMessage: ({ upload, query }) => ({
    imports: ["import { readFile } from 'node:fs/promises';"],
    ...printed(`outcomes.reportMessage(${[`await readFile(${javascript(upload)})`, ...literals(query)].join(', ')})`),
  }),
  calibration: plain('calibration'),
  createWebhook: plain('webhooks.create'),
  listWebhooks: plain('webhooks.list'),
  getWebhook: plain('webhooks.get'),
  changeWebhook: plain('webhooks.change'),
  deleteWebhook: ({ ids }) => silent(`webhooks.remove(${listed(...ids)})`),
  rotateWebhookSecret: plain('webhooks.rotateSecret'),
  testWebhook: plain('webhooks.test'),
  listDeliveries: plain('webhooks.deliveries'),
  replayDelivery: plain('webhooks.replay'),
};

const isName = (name: string): name is Name => Object.hasOwn(CALLS, name);

/** Throws for an operation that the client does not have. */
export function callOf(operationId: string, given: Given): Code {
  if (!isName(operationId)) throw new Error(`The client has no method for ${operationId}.`);
  return CALLS[operationId](given);
}
