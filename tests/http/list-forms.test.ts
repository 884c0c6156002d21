/** Forms as clients send them, byte by byte as each of them writes the parts: all are the same upload. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Lab, Member } from '../lab/service.ts';
import { send, startListLab } from './list-lab.ts';

let lab: Lab;
let owner: Member;
beforeAll(async () => {
  lab = await startListLab();
  owner = await lab.member({ rateLimit: 100_000 });
});
afterAll(() => lab.close());

const FILE = 'email,name\r\na@good.com,Ann\r\nb@good.com,Bob\r\n';
const FIELD_FIRST = ['start', 'false'] as const;

/** How a client writes a part: the lines of its head. */
interface Writer {
  readonly boundary: string;
  /** As in Content-Type. */
  readonly quoted?: boolean;
  readonly field: (name: string) => string[];
  readonly file: string[];
  /** File name that the service is to see. */
  readonly named?: string;
  readonly before?: string;
  readonly padding?: string;
  readonly after?: string;
}

const plainField = (name: string) => [`Content-Disposition: form-data; name="${name}"`];
const usual = (fileName = 'list.csv', type = 'text/csv') => [
  `Content-Disposition: form-data; name="file"; filename="${fileName}"`,
  `Content-Type: ${type}`,
];
const HEX = 'c2f5a1b09d7e4f6a8b3c2d1e0f9a8b7c';

const CLIENTS: Readonly<Record<string, Writer>> = {
  '.NET HttpClient': {
    boundary: '0b1f3a52-7c54-4c9b-b8f4-d3a4ddc0ff33',
    quoted: true,
    field: (name) => ['Content-Type: text/plain; charset=utf-8', `Content-Disposition: form-data; name=${name}`],
    file: [
      'Content-Type: text/csv',
      "Content-Disposition: form-data; name=file; filename=list.csv; filename*=utf-8''list.csv",
    ],
    after: '\r\n',
  },
  '.NET HttpClient, a name beyond ASCII': {
    boundary: '0b1f3a52-7c54-4c9b-b8f4-d3a4ddc0ff34',
    quoted: true,
    field: (name) => ['Content-Type: text/plain; charset=utf-8', `Content-Disposition: form-data; name=${name}`],
    file: [`Content-Disposition: form-data; name=file; filename="=?utf-8?B?w6kuY3N2?="; filename*=utf-8''%C3%A9.csv`],
    named: 'é.csv',
    after: '\r\n',
  },
  'Dart http': {
    boundary: 'dart-http-boundary-tkGq8H6vsmXwWnR7bQ+p.o_YcZ.aFNDvK8uLr2hJ3x4yM1S',
    field: (name) => [`content-disposition: form-data; name="${name}"`],
    file: ['content-type: text/csv; charset=utf-8', 'content-disposition: form-data; name="file"; filename="list.csv"'],
    after: '\r\n',
  },
  'Dart dio': {
    boundary: '--dio-boundary-3788773561',
    field: (name) => [`content-disposition: form-data; name="${name}"`],
    file: ['content-disposition: form-data; name="file"; filename="list.csv"', 'content-type: text/csv'],
    after: '\r\n',
  },
  'Python requests': { boundary: HEX, field: plainField, file: usual(), after: '\r\n' },
  'Python requests, a name beyond ASCII': {
    boundary: HEX,
    field: plainField,
    file: ['Content-Disposition: form-data; name="file"; filename*=utf-8\'\'%C3%A9.csv'],
    named: 'é.csv',
    after: '\r\n',
  },
  'Python aiohttp': {
    boundary: HEX,
    field: (name) => ['Content-Type: text/plain; charset=utf-8', `Content-Disposition: form-data; name="${name}"`],
    file: ['Content-Type: text/csv', 'Content-Disposition: form-data; name="file"; filename="list.csv"'],
    after: '\r\n',
  },
  'Go mime/multipart': {
    boundary: `${HEX}${HEX.slice(4)}`,
    field: plainField,
    file: usual('list.csv', 'application/octet-stream'),
    after: '\r\n',
  },
  'PHP Guzzle': {
    boundary: HEX.slice(0, 40),
    field: (name) => [...plainField(name), `Content-Length: ${FIELD_FIRST[1].length}`],
    file: [
      'Content-Disposition: form-data; name="file"; filename="list.csv"',
      `Content-Length: ${FILE.length}`,
      'Content-Type: text/csv',
    ],
    after: '\r\n',
  },
  curl: { boundary: '------------------------d74496d66958873e', field: plainField, file: usual(), after: '\r\n' },
  Chrome: {
    boundary: '----WebKitFormBoundary7MA4YWxkTrZu0gW7',
    field: plainField,
    file: usual('é %22x%22.csv'),
    named: 'é "x".csv',
    after: '\r\n',
  },
  Firefox: {
    boundary: '----geckoformboundary9f0ae2f6e9b7bd5e7a2d2f3a8c7c4f51',
    field: plainField,
    file: usual('list.csv', 'application/vnd.ms-excel'),
    after: '\r\n',
  },
  Safari: { boundary: '----WebKitFormBoundaryzgq1NnLkCeBAqB4q', field: plainField, file: usual(), after: '\r\n' },
  'Java HttpClient of Apache': {
    boundary: 'eBnC7Ha3zrUq3pP5kwHD',
    field: (name) => [
      ...plainField(name),
      'Content-Type: text/plain; charset=US-ASCII',
      'Content-Transfer-Encoding: 8bit',
    ],
    file: [...usual(), 'Content-Transfer-Encoding: binary'],
    after: '\r\n',
  },
  'any that RFC 2046 allows': {
    boundary: "it's (a) b,c./:=?",
    quoted: true,
    field: (name) => ['content-DISPOSITION:form-data;', `\tname="${name}"`],
    file: ['Content-Disposition: FORM-DATA;', '  name=file;', '\tfilename="list.csv"', 'X-Other: a', ' b'],
    before: 'This is a message with multiple parts.\r\n\r\n',
    padding: ' \t ',
    after: '  \r\nepilogue\r\n--it',
  },
};

function bodyOf({ boundary, field, file, before = '', padding = '', after = '' }: Writer): string {
  const part = (head: readonly string[], body: string) =>
    `--${boundary}${padding}\r\n${head.join('\r\n')}\r\n\r\n${body}\r\n`;
  return `${before}${part(field(FIELD_FIRST[0]), FIELD_FIRST[1])}${part(file, FILE)}--${boundary}--${after}`;
}

it.each(Object.entries(CLIENTS))('%s', async (_name, writer) => {
  const { boundary, quoted = false, named = 'list.csv' } = writer;
  const type = `multipart/form-data; boundary=${quoted ? `"${boundary}"` : boundary}`;
  const { status, json } = await send(lab, owner, '/v1/lists', bodyOf(writer), { 'content-type': type });
  expect([status, json]).toMatchObject([201, { name: named, status: 'ready', rows: { total: 2, addresses: 2 } }]);
});
