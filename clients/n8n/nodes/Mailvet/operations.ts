/** What each operation of the node does with an item. */
import { createHash, randomUUID } from 'node:crypto';
import {
  type IDataObject,
  type IExecuteFunctions,
  type INodeExecutionData,
  NodeOperationError,
  sleep,
} from 'n8n-workflow';
import { type Call, download, type FileStream, notOurs, send } from '../request';

/** The maximum of the service: of rows, and of filters and lists. */
const ROWS_PER_PAGE = 1000;
const PER_PAGE = 100;

export type Operation = (node: IExecuteFunctions, item: number) => Promise<INodeExecutionData[]>;

/** What is set, of a collection of optional fields. */
const fieldsOf = (node: IExecuteFunctions, name: string, item: number): IDataObject =>
  Object.fromEntries(
    Object.entries(node.getNodeParameter(name, item, {}) as IDataObject).filter(([, value]) => value !== ''),
  );

function limitsOf(node: IExecuteFunctions, item: number): Pick<Call, 'retries' | 'timeout' | 'itemIndex'> {
  const { retries, timeout } = node.getNodeParameter('request', item, {}) as { retries?: number; timeout?: number };
  return { retries, timeout, itemIndex: item };
}

/**
 * By default the same when n8n runs the node again in an execution (Retry On Fail), so that nothing is charged twice;
 * another one in each turn of a loop.
 */
function keyOf(node: IExecuteFunctions, item: number, given: unknown): string {
  if (typeof given === 'string' && given !== '') return given;
  const execution = node.getExecutionId() ?? randomUUID();
  const { $runIndex } = node.getWorkflowDataProxy(item);
  const parts = [node.getWorkflow().id, execution, node.getNode().id, $runIndex, item];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

const one = (json: IDataObject, item: number): INodeExecutionData[] => [{ json, pairedItem: { item } }];
const listPath = (node: IExecuteFunctions, item: number, below = ''): string =>
  `lists/${encodeURIComponent(String(node.getNodeParameter('list', item)))}${below}`;

const verify: Operation = async (node, item) => {
  const { idempotency_key, evidence, ...fields } = fieldsOf(node, 'verifyOptions', item);
  const reply = await send(node, {
    ...limitsOf(node, item),
    method: 'POST',
    path: 'verify',
    replyField: 'deliverability',
    ...(evidence === true ? { query: { evidence: '1' } } : {}),
    body: { email: node.getNodeParameter('email', item) as string, ...fields },
    idempotencyKey: keyOf(node, item, idempotency_key),
  });
  return one(reply, item);
};

const usage: Operation = async (node, item) => {
  const query = fieldsOf(node, 'usageOptions', item);
  return one(await send(node, { ...limitsOf(node, item), method: 'GET', path: 'usage', query }), item);
};

/** Of all items together: called for the first one. */
const uploadItems: Operation = async (node, item) => {
  const { idempotency_key, ...fields } = fieldsOf(node, 'uploadOptions', item);
  const items = node.getInputData();
  const emails = items.map((_, index) => String(node.getNodeParameter('email', index) ?? ''));
  const json = await send(node, {
    ...limitsOf(node, item),
    method: 'POST',
    path: 'lists',
    body: { emails, ...fields },
    idempotencyKey: keyOf(node, item, idempotency_key),
  });
  return [{ json, pairedItem: items.map((_, index) => ({ item: index })) }];
};

const uploadFile: Operation = async (node, item) => {
  const { idempotency_key, ...fields } = fieldsOf(node, 'uploadOptions', item);
  const file = node.helpers.assertBinaryData(item, node.getNodeParameter('binaryField', item) as string);
  const content: Buffer | FileStream =
    file.id === undefined ? Buffer.from(file.data, 'base64') : await node.helpers.getBinaryStream(file.id);
  const reply = await send(node, {
    ...limitsOf(node, item),
    method: 'POST',
    path: 'lists',
    query: { name: file.fileName, ...fields },
    upload: { type: file.mimeType, content },
    idempotencyKey: keyOf(node, item, idempotency_key),
  });
  return one(reply, item);
};

const getList: Operation = async (node, item) =>
  one(await send(node, { ...limitsOf(node, item), method: 'GET', path: listPath(node, item) }), item);

const wait: Operation = async (node, item) => {
  const minutes = Number(node.getNodeParameter('limit', item));
  const until = Date.now() + minutes * 60_000;
  const interval = Number(node.getNodeParameter('interval', item)) * 1000;
  for (;;) {
    const list = await send(node, { ...limitsOf(node, item), method: 'GET', path: listPath(node, item) });
    if (list.status !== 'running' && list.status !== 'paused') return one(list, item);
    if (Date.now() + interval > until || node.getExecutionCancelSignal()?.aborted)
      throw new NodeOperationError(node.getNode(), `The list is not finished after ${minutes} minutes`, {
        description: 'It goes on. Wait longer, or use the trigger.',
        itemIndex: item,
      });
    await sleep(interval);
  }
};

const rows: Operation = async (node, item) => {
  const query = fieldsOf(node, 'rowOptions', item);
  const found: INodeExecutionData[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const call: Call = {
      ...limitsOf(node, item),
      method: 'GET',
      path: listPath(node, item, '/rows'),
      replyField: 'rows',
      query: { limit: ROWS_PER_PAGE, ...query, after },
    };
    const page = await send(node, call);
    for (const json of page.rows as IDataObject[]) found.push({ json, pairedItem: { item } });
    const next = page.next as number | null;
    // A proxy that always sends the same page would be asked without end.
    if (next !== null && !(next > after)) throw notOurs(node, call);
    after = next;
  }
  return found;
};

const results: Operation = async (node, item) => {
  const query = fieldsOf(node, 'resultOptions', item);
  const path = listPath(node, item, '/results');
  const { body, type } = await download(node, { ...limitsOf(node, item), method: 'GET', path, query });
  const id = String(node.getNodeParameter('list', item));
  const name = `${id}.results.${String(query.format ?? 'csv')}`;
  const file = await node.helpers.prepareBinaryData(body, name, type);
  const field = node.getNodeParameter('outputField', item) as string;
  return [{ json: { id }, binary: { [field]: file }, pairedItem: { item } }];
};

const addFilter: Operation = async (node, item) => {
  const { idempotency_key, ...fields } = fieldsOf(node, 'filterOptions', item);
  const reply = await send(node, {
    ...limitsOf(node, item),
    method: 'POST',
    path: 'filters',
    idempotencyKey: keyOf(node, item, idempotency_key),
    body: { value: node.getNodeParameter('value', item) as string, ...fields },
  });
  return one(reply, item);
};

/** Everything, or up to a limit, of a path that sends pages; the field of the same name has the items of a page. */
const getMany =
  (path: string, options: string): Operation =>
  async (node, item) => {
    const query = fieldsOf(node, options, item);
    const all = node.getNodeParameter('returnAll', item);
    const limit = all ? Number.POSITIVE_INFINITY : Number(node.getNodeParameter('limit', item));
    // By id: what is added in the meantime shifts others to the next page, where they appear again.
    const found = new Map<unknown, IDataObject>();
    for (let page = 1; found.size < limit; page += 1) {
      const reply = await send(node, {
        ...limitsOf(node, item),
        method: 'GET',
        path,
        replyField: path,
        query: { ...query, page, per_page: PER_PAGE },
      });
      const items = reply[path] as IDataObject[];
      for (const one of items) found.set(one.id, one);
      if (items.length < PER_PAGE || page >= Number((reply.pagination as IDataObject).total_pages)) break;
    }
    return [...found.values()].slice(0, limit).map((json) => ({ json, pairedItem: { item } }));
  };

const removeFilter: Operation = async (node, item) => {
  const id = encodeURIComponent(String(node.getNodeParameter('filter', item)));
  return one(await send(node, { ...limitsOf(node, item), method: 'DELETE', path: `filters/${id}` }), item);
};

/** By resource and operation. `once`: for all items together. */
const OPERATIONS: Readonly<Record<string, { readonly run: Operation; readonly once?: true }>> = {
  'address.verify': { run: verify },
  'filter.add': { run: addFilter },
  'filter.getAll': { run: getMany('filters', 'filtersOptions') },
  'filter.remove': { run: removeFilter },
  'list.get': { run: getList },
  'list.getAll': { run: getMany('lists', 'listsOptions') },
  'list.results': { run: results },
  'list.rows': { run: rows },
  'list.upload.file': { run: uploadFile },
  'list.upload.items': { run: uploadItems, once: true },
  'list.wait': { run: wait },
  'usage.get': { run: usage },
};

/** Of the parameters of the first item: n8n has resource and operation once for all. Throws NodeOperationError. */
export function operationOf(node: IExecuteFunctions): { readonly run: Operation; readonly once?: true } {
  const [resource, operation] = ['resource', 'operation'].map((name) => node.getNodeParameter(name, 0) as string);
  const source = operation === 'upload' ? `.${String(node.getNodeParameter('source', 0))}` : '';
  const found = OPERATIONS[`${resource}.${operation}${source}`];
  if (found === undefined)
    throw new NodeOperationError(node.getNode(), `There is no operation ${operation} of ${resource}`);
  return found;
}
