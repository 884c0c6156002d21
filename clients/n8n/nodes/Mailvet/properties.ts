/** What the node asks for in n8n's editor. */
import type { INodeProperties } from 'n8n-workflow';
import {
  FILTER_FIELDS,
  FILTERS_FIELDS,
  LISTS_FIELDS,
  RESULT_FIELDS,
  ROW_FIELDS,
  UPLOAD_FIELDS,
  USAGE_FIELDS,
  VERIFY_FIELDS,
} from '../fields';

const OPERATIONS: INodeProperties[] = [
  {
    displayName: 'Resource',
    name: 'resource',
    type: 'options',
    noDataExpression: true,
    options: [
      { name: 'Address', value: 'address' },
      { name: 'Filter', value: 'filter' },
      { name: 'List', value: 'list' },
      { name: 'Usage', value: 'usage' },
    ],
    default: 'address',
  },
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['address'] } },
    options: [
      {
        name: 'Verify',
        value: 'verify',
        action: 'Verify an address',
        description: 'A malformed or dead address is a result, not an error',
      },
    ],
    default: 'verify',
  },
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['list'] } },
    options: [
      {
        name: 'Download Results',
        value: 'results',
        action: 'Download the results of a list',
        description: 'The file that was uploaded, with columns of the results',
      },
      { name: 'Get', value: 'get', action: 'Get a list', description: 'The list with its progress' },
      { name: 'Get Many', value: 'getAll', action: 'Get many lists', description: 'An item for each list' },
      { name: 'Get Rows', value: 'rows', action: 'Get the rows of a list', description: 'An item for each row' },
      {
        name: 'Upload',
        value: 'upload',
        action: 'Upload a list',
        description: 'Verify all items, or the addresses in a file, as one job',
      },
      {
        name: 'Wait',
        value: 'wait',
        action: 'Wait for a list',
        description: 'Go on when no address is left to verify',
      },
    ],
    default: 'upload',
  },
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['filter'] } },
    options: [
      { name: 'Add', value: 'add', action: 'Add a filter', description: 'Block or allow addresses' },
      { name: 'Get Many', value: 'getAll', action: 'Get many filters', description: 'An item for each filter' },
      { name: 'Remove', value: 'remove', action: 'Remove a filter', description: 'By the ID of the filter' },
    ],
    default: 'getAll',
  },
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['usage'] } },
    options: [{ name: 'Get', value: 'get', action: 'Get usage', description: 'Plan, credits and rate limits' }],
    default: 'get',
  },
];

const of = (resource: string, ...operation: string[]) => ({ show: { resource: [resource], operation } });
/** Optional fields. `name` differs so that those of another operation do not stay when the operation is changed. */
const collection = (name: string, displayOptions: object, options: INodeProperties[]): INodeProperties => ({
  displayName: 'Options',
  name,
  type: 'collection',
  placeholder: 'Add option',
  default: {},
  displayOptions,
  options,
});

/** How many are returned by *Get Many*. */
const limited = (resource: string): INodeProperties[] => [
  {
    displayName: 'Return All',
    name: 'returnAll',
    type: 'boolean',
    default: false,
    displayOptions: of(resource, 'getAll'),
    description: 'Whether to return all results or only up to a given limit',
  },
  {
    displayName: 'Limit',
    name: 'limit',
    type: 'number',
    typeOptions: { minValue: 1 },
    default: 50,
    displayOptions: { show: { ...of(resource, 'getAll').show, returnAll: [false] } },
    description: 'Max number of results to return',
  },
];

const IDEMPOTENCY_KEY: INodeProperties = {
  displayName: 'Idempotency Key',
  name: 'idempotency_key',
  type: 'string',
  typeOptions: { password: false },
  default: '',
  description: 'Calls with the same key take effect once. By default the same for an item when n8n retries the node.',
};

const ADDRESSES: INodeProperties[] = [
  {
    displayName: 'Email',
    name: 'email',
    type: 'string',
    placeholder: 'name@email.com',
    default: '={{ $json.email }}',
    required: true,
    displayOptions: of('address', 'verify'),
    description: 'The address to check',
  },
  collection('verifyOptions', of('address', 'verify'), [...VERIFY_FIELDS, IDEMPOTENCY_KEY]),
];

const LISTS: INodeProperties[] = [
  {
    displayName: 'Source',
    name: 'source',
    type: 'options',
    options: [
      {
        name: 'Binary File',
        value: 'file',
        description: 'A list for each item with a file: CSV, XLSX, JSON lines or text',
      },
      { name: 'Items', value: 'items', description: 'One list of the addresses of all items' },
    ],
    default: 'items',
    displayOptions: of('list', 'upload'),
  },
  {
    displayName: 'Email',
    name: 'email',
    type: 'string',
    placeholder: 'name@email.com',
    default: '={{ $json.email }}',
    required: true,
    displayOptions: { show: { ...of('list', 'upload').show, source: ['items'] } },
    description: 'The address of each item',
  },
  {
    displayName: 'Input Binary Field',
    name: 'binaryField',
    type: 'string',
    default: 'data',
    required: true,
    displayOptions: { show: { ...of('list', 'upload').show, source: ['file'] } },
    description: 'Name of the field that has the file',
  },
  collection('uploadOptions', of('list', 'upload'), [...UPLOAD_FIELDS, IDEMPOTENCY_KEY]),
  {
    displayName: 'List ID',
    name: 'list',
    type: 'string',
    default: '={{ $json.id }}',
    placeholder: 'lst_…',
    required: true,
    displayOptions: of('list', 'get', 'wait', 'rows', 'results'),
  },
  {
    displayName: 'Look Every (Seconds)',
    name: 'interval',
    type: 'number',
    typeOptions: { minValue: 0.02 },
    default: 5,
    displayOptions: of('list', 'wait'),
  },
  {
    displayName: 'Wait at Most (Minutes)',
    name: 'limit',
    type: 'number',
    typeOptions: { minValue: 0 },
    default: 60,
    displayOptions: of('list', 'wait'),
    description: 'The node fails after it. For lists that take longer, use the trigger.',
  },
  ...limited('list'),
  collection('listsOptions', of('list', 'getAll'), LISTS_FIELDS),
  collection('rowOptions', of('list', 'rows'), ROW_FIELDS),
  {
    displayName: 'Output Binary Field',
    name: 'outputField',
    type: 'string',
    default: 'data',
    required: true,
    displayOptions: of('list', 'results'),
    description: 'Name of the field that the file goes to',
  },
  collection('resultOptions', of('list', 'results'), RESULT_FIELDS),
];

const FILTERS: INodeProperties[] = [
  {
    displayName: 'Value',
    name: 'value',
    type: 'string',
    default: '',
    required: true,
    displayOptions: of('filter', 'add'),
    description: 'An address, a domain (covers its sub-domains), an IP, a CIDR or a mail host',
  },
  collection('filterOptions', of('filter', 'add'), [...FILTER_FIELDS, IDEMPOTENCY_KEY]),
  {
    displayName: 'Filter ID',
    name: 'filter',
    type: 'number',
    default: 0,
    required: true,
    displayOptions: of('filter', 'remove'),
  },
  ...limited('filter'),
  collection('filtersOptions', of('filter', 'getAll'), FILTERS_FIELDS),
];

const REQUEST: INodeProperties = {
  displayName: 'Request Options',
  name: 'request',
  type: 'collection',
  placeholder: 'Add option',
  default: {},
  options: [
    {
      displayName: 'Retries',
      name: 'retries',
      type: 'number',
      typeOptions: { minValue: 0, maxValue: 10 },
      default: 2,
      description: 'How often a call is repeated that the service put off, after the time that it asked for',
    },
    {
      displayName: 'Timeout (Ms)',
      name: 'timeout',
      type: 'number',
      typeOptions: { minValue: 1 },
      default: 35000,
      description: 'Of a call with its retries. An upload has no limit.',
    },
  ],
};

export const PROPERTIES: INodeProperties[] = [
  ...OPERATIONS,
  ...ADDRESSES,
  ...LISTS,
  ...FILTERS,
  collection('usageOptions', of('usage', 'get'), USAGE_FIELDS),
  REQUEST,
];
