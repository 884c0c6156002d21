/** Files of many formats, made here, with what is in them. */
import { gzipSync } from 'node:zlib';
import { utils, write } from '@e965/xlsx';
import { workbookOf, zipOf } from './zip.ts';

export interface FormatCase {
  readonly name: string;
  readonly kind: 'workbook' | 'archive' | 'json' | 'contacts' | 'refused';
  readonly bytes: Buffer;
  readonly sheet?: string;
  readonly entry?: string;
  /** The cells with an address, in their order; or what the refusal says. */
  readonly expect:
    | { readonly cells: readonly string[]; readonly format?: string; readonly sheet?: string; readonly entry?: string }
    | { readonly refused: RegExp };
}

const ADA = 'ada@example.com';
const BO = 'bo@example.org';
const CY = 'cy@example.net';
const PEOPLE = [ADA, BO, CY];
const ROWS: readonly (readonly unknown[])[] = [
  ['Name', 'E-Mail', 'Zip'],
  ...PEOPLE.map((mail, i) => [`P${i}`, mail, 1000 + i]),
];
const CSV = `name,email\n${PEOPLE.map((mail, i) => `P${i},${mail}`).join('\n')}\n`;

type BookType = NonNullable<NonNullable<Parameters<typeof write>[1]>['bookType']>;

function bookOf(
  type: BookType,
  sheets: readonly (readonly [name: string, rows: readonly (readonly unknown[])[], hidden?: boolean])[] = [
    ['People', ROWS],
  ],
): Buffer {
  const book = utils.book_new();
  for (const [name, rows] of sheets)
    utils.book_append_sheet(book, utils.aoa_to_sheet(rows.map((row) => [...row])), name);
  book.Workbook = { Sheets: sheets.map(([name, , hidden]) => ({ name, Hidden: hidden === true ? 1 : 0 })) };
  return Buffer.from(write(book, { type: 'buffer', bookType: type }));
}

const NOTE: readonly (readonly string[])[] = [['How to use this file'], ['Questions: help@host.example']];
const OLD: readonly (readonly string[])[] = [['Mail'], ['old@example.com'], ['older@example.com']];
const cell = (ref: string, inner: string, attributes = 't="str"'): string => `<c r="${ref}" ${attributes}>${inner}</c>`;
const sheetOf = (rows: readonly string[], after = ''): Buffer =>
  workbookOf(
    `<worksheet><sheetData>${rows.map((row, i) => `<row r="${i + 1}">${row}</row>`).join('')}</sheetData>${after}</worksheet>`,
  );
const HEAD = cell('A1', '<v>E-Mail</v>');

const styled = (): Buffer =>
  zipOf({
    'xl/workbook.xml': '<workbook><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId3" Type="x/styles" Target="styles.xml"/></Relationships>',
    'xl/styles.xml':
      '<styleSheet><numFmts><numFmt numFmtId="165" formatCode="00000"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="165"/></cellXfs></styleSheet>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData><row r="1">${cell('A1', '<v>a@b.example</v>')}<c r="B1" s="1"><v>1234</v></c></row></sheetData></worksheet>`,
  });

const linked = (): Buffer =>
  zipOf({
    'xl/workbook.xml': '<workbook><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/worksheets/_rels/sheet1.xml.rels':
      '<Relationships><Relationship Id="rId1" Type="x/hyperlink" Target="mailto:ada@example.com?subject=Hi" TargetMode="External"/></Relationships>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData><row r="1">${HEAD}</row><row r="2">${cell('A2', '<v>write</v>')}</row></sheetData><hyperlinks><hyperlink ref="A2" r:id="rId1"/></hyperlinks></worksheet>`,
  });

const OFFICE = 'urn:oasis:names:tc:opendocument:xmlns:office:1.0';
const TABLE = 'urn:oasis:names:tc:opendocument:xmlns:table:1.0';
const ODS_BODY = `<office:body><office:spreadsheet>
<table:table table:name="Secret" table:style-name="ta2"><table:table-row><table:table-cell><text:p>old@example.com</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>older@example.com</text:p></table:table-cell></table:table-row></table:table>
<table:table table:name="List" table:style-name="ta1"><table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="3"/></table:table-row>
<table:table-row><table:table-cell office:value-type="string"><text:p>E-Mail</text:p></table:table-cell><table:table-cell><text:p>Zip</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell office:value-type="string"><text:p>ada<text:s/><text:a xlink:href="mailto:x">@example.com</text:a></text:p></table:table-cell><table:table-cell office:value-type="float" office:value="1234"><text:p>01234</text:p></table:table-cell></table:table-row>
<table:table-row><table:covered-table-cell/><table:table-cell><office:annotation><text:p>note@x.example</text:p></office:annotation><text:p>bo@example.org</text:p></table:table-cell></table:table-row>
<table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table></office:spreadsheet></office:body>`;
const ODS_STYLES = `<office:automatic-styles><style:style style:name="ta1" style:family="table"><style:table-properties table:display="true"/></style:style><style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles>`;
const flatOds = (root: string): string =>
  `<?xml version="1.0"?><office:${root} xmlns:office="${OFFICE}" xmlns:table="${TABLE}" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">${ODS_STYLES}${ODS_BODY}</office:${root}>`;

const htmlTable = (rows: readonly (readonly string[])[]): string =>
  `<table border=1>${rows.map((row) => `<tr>${row.map((text) => `<td>${text}`).join('')}`).join('')}</table>`;
const HTML_ROWS = [
  ['Name', 'E-Mail'],
  ['A &amp; B', ADA],
  ['B<br>o', `<a href="mailto:${BO}">${BO}</a>`],
];

const SPREADSHEETML = `<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="Old"><Table><Row><Cell><Data ss:Type="String">old@example.com</Data></Cell></Row><Row><Cell><Data ss:Type="String">older@example.com</Data></Cell></Row></Table><WorksheetOptions><Visible>SheetHidden</Visible></WorksheetOptions></Worksheet><Worksheet ss:Name="New"><Table><Row ss:Index="3"><Cell ss:Index="2"><Data ss:Type="String">E-Mail</Data></Cell></Row><Row><Cell ss:Index="2"><ss:Data ss:Type="String"><B>ada</B>@example.com</ss:Data><Comment><Data>c@c.example</Data></Comment></Cell></Row></Table></Worksheet></Workbook>`;

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const lines = (values: readonly unknown[]): Buffer =>
  Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
const records = PEOPLE.map((email, id) => ({ id, email }));

const VCARD_21 = `BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=\r\n=C3=B6rg;;;\r\nEMAIL;PREF;INTERNET:${ADA}\r\nPHOTO;ENCODING=BASE64;JPEG:AAAA\r\n BBBB\r\n\r\nEND:VCARD\r\nBEGIN:VCARD\r\nVERSION:2.1\r\nFN:B\r\nEMAIL;ENCODING=QUOTED-PRINTABLE:bo=40example.org\r\nEND:VCARD\r\n`;
const VCARD_4 = `BEGIN:VCARD\nVERSION:4.0\nFN:Ada\nitem1.EMAIL;TYPE="work,home";PREF=1:ada@exam\n ple.com\nitem2.EMAIL:mailto:${CY}\nEND:VCARD\nBEGIN:VCARD\nVERSION:4.0\nFN:Nobody\nEND:VCARD\n`;
const LDIF = `version: 1\n# people\ndn: cn=Ada,mail=${ADA}\nobjectClass: top\nmail: ${ADA}\nmail: ada@home.\n example\n\ndn:: Y249Qm8=\nmail:: ${Buffer.from(BO).toString('base64')}\n\n\ndn: cn=No\ncn: No\n`;

export const CASES: readonly FormatCase[] = [
  // Workbooks.
  {
    name: 'Excel 97-2003',
    kind: 'workbook',
    bytes: bookOf('biff8'),
    expect: { cells: PEOPLE, format: 'xls', sheet: 'People' },
  },
  { name: 'Excel 5', kind: 'workbook', bytes: bookOf('biff5'), expect: { cells: PEOPLE, format: 'xls' } },
  { name: 'Excel 2', kind: 'workbook', bytes: bookOf('biff2'), expect: { cells: PEOPLE, format: 'xls' } },
  {
    name: 'old Excel, note first',
    kind: 'workbook',
    bytes: bookOf('biff8', [
      ['Note', NOTE],
      ['People', ROWS],
    ]),
    expect: { cells: PEOPLE, sheet: 'People' },
  },
  {
    name: 'old Excel, hidden sheet first',
    kind: 'workbook',
    bytes: bookOf('biff8', [
      ['Old', OLD, true],
      ['People', ROWS],
    ]),
    expect: { cells: PEOPLE, sheet: 'People' },
  },
  {
    name: 'binary workbook',
    kind: 'workbook',
    bytes: bookOf('xlsb'),
    expect: { cells: PEOPLE, format: 'xlsb', sheet: 'People' },
  },
  {
    name: 'binary workbook, empty first',
    kind: 'workbook',
    bytes: bookOf('xlsb', [
      ['Empty', []],
      ['People', ROWS],
    ]),
    expect: { cells: PEOPLE, sheet: 'People' },
  },
  {
    name: 'OpenDocument by a library',
    kind: 'workbook',
    bytes: bookOf('ods'),
    expect: { cells: PEOPLE, format: 'ods', sheet: 'People' },
  },
  {
    name: 'OpenDocument with repeats, a hidden sheet and a note',
    kind: 'workbook',
    bytes: zipOf({
      mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
      'content.xml': flatOds('document-content'),
    }),
    expect: { cells: ['ada @example.com', BO], format: 'ods', sheet: 'List' },
  },
  {
    name: 'flat OpenDocument',
    kind: 'workbook',
    bytes: Buffer.from(flatOds('document')),
    expect: { cells: ['ada @example.com', BO], format: 'ods', sheet: 'List' },
  },
  {
    name: 'OpenDocument, hidden sheet by name',
    kind: 'workbook',
    sheet: 'secret',
    bytes: Buffer.from(flatOds('document')),
    expect: { cells: ['old@example.com', 'older@example.com'] },
  },
  {
    name: 'XML of Excel 2003',
    kind: 'workbook',
    bytes: Buffer.from(SPREADSHEETML),
    expect: { cells: [ADA], format: 'spreadsheetml', sheet: 'New' },
  },
  {
    name: 'XML of Excel 2003 by a library',
    kind: 'workbook',
    bytes: bookOf('xlml'),
    expect: { cells: PEOPLE, format: 'spreadsheetml', sheet: 'People' },
  },
  {
    name: 'XML of Excel 2003 in UTF-16',
    kind: 'workbook',
    bytes: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(SPREADSHEETML, 'utf16le')]),
    expect: { cells: [ADA] },
  },
  {
    name: 'HTML table',
    kind: 'workbook',
    bytes: Buffer.from(
      `<html><head><style>td{x:y}</style><meta charset="utf-8"></head><body>${htmlTable(HTML_ROWS)}</body></html>`,
    ),
    expect: { cells: [ADA, BO], format: 'html' },
  },
  {
    name: 'HTML table by a library',
    kind: 'workbook',
    bytes: bookOf('html'),
    expect: { cells: PEOPLE, format: 'html' },
  },
  {
    name: 'HTML table alone, after a blank line',
    kind: 'workbook',
    bytes: Buffer.from(`\n  ${htmlTable(HTML_ROWS)}`),
    expect: { cells: [ADA, BO] },
  },
  {
    name: 'HTML of Excel with comments',
    kind: 'workbook',
    bytes: Buffer.from(
      `<html xmlns:o="urn:schemas-microsoft-com:office:office"><!--[if gte mso 9]><xml><x:Name>S</x:Name></xml><![endif]--><body>${htmlTable([['<p>menu'], ['<p>x']])}${htmlTable(HTML_ROWS)}</body></html>`,
    ),
    expect: { cells: [ADA, BO] },
  },
  {
    name: 'XLSX, note first',
    kind: 'workbook',
    bytes: bookOf('xlsx', [
      ['Note', NOTE],
      ['People', ROWS],
    ]),
    expect: { cells: PEOPLE, format: 'xlsx', sheet: 'People' },
  },
  {
    name: 'XLSX, a note with one address alone in its column',
    kind: 'workbook',
    bytes: bookOf('xlsx', [
      [
        'Note',
        [
          ['Contact', 'help@host.example'],
          ['Version', 3],
        ],
      ],
      ['People', ROWS],
    ]),
    expect: { cells: PEOPLE, sheet: 'People' },
  },
  {
    name: 'XLSX, sheet by number',
    kind: 'workbook',
    sheet: '1',
    bytes: bookOf('xlsx', [
      ['Old', OLD],
      ['People', ROWS],
    ]),
    expect: { cells: ['old@example.com', 'older@example.com'], sheet: 'Old' },
  },
  {
    name: 'XLSX, sheet by name in other case',
    kind: 'workbook',
    sheet: 'people',
    bytes: bookOf('xlsx', [
      ['Old', OLD],
      ['People', ROWS],
    ]),
    expect: { cells: PEOPLE, sheet: 'People' },
  },
  {
    name: 'XLSX, no such sheet',
    kind: 'workbook',
    sheet: 'Folk',
    bytes: bookOf('xlsx', [
      ['Old', OLD],
      ['People', ROWS],
    ]),
    expect: { refused: /no sheet "Folk".*"Old", "People"/ },
  },
  {
    name: 'XLSX, formula without value',
    kind: 'workbook',
    bytes: sheetOf([HEAD, cell('A2', '<f>LOWER("ADA") &amp; "@" &amp; "example.com"</f><v></v>', '')]),
    expect: { cells: [ADA] },
  },
  {
    name: 'XLSX, formula of the cells beside it',
    kind: 'workbook',
    bytes: sheetOf([HEAD, cell('A2', '<v>bo</v>') + cell('B2', '<f>CONCAT(A2,"@example.org")</f>', '')]),
    expect: { cells: [BO] },
  },
  {
    name: 'XLSX, link by formula',
    kind: 'workbook',
    bytes: sheetOf([HEAD, cell('A2', `<f>HYPERLINK("mailto:${ADA}","Ada")</f><v>Ada</v>`)]),
    expect: { cells: [`Ada <${ADA}>`] },
  },
  { name: 'XLSX, link of the sheet', kind: 'workbook', bytes: linked(), expect: { cells: [`write <${ADA}>`] } },
  { name: 'XLSX, zip code', kind: 'workbook', bytes: styled(), expect: { cells: ['a@b.example'] } },
  {
    name: 'XLSX, rows out of order',
    kind: 'workbook',
    bytes: workbookOf(
      `<worksheet><sheetData><row r="2">${cell('A2', `<v>${BO}</v>`)}</row><row r="1">${cell('A1', `<v>${ADA}</v>`)}</row></sheetData></worksheet>`,
    ),
    expect: { cells: [BO, ADA] },
  },
  // Archives.
  {
    name: 'ZIP of one CSV and folders of macOS',
    kind: 'archive',
    bytes: zipOf({ 'export/': '', 'export/people.csv': CSV, '__MACOSX/export/._people.csv': 'x', '.DS_Store': 'y' }),
    expect: { cells: PEOPLE, entry: 'export/people.csv' },
  },
  {
    name: 'ZIP of two CSVs',
    kind: 'archive',
    bytes: zipOf({ 'a.csv': CSV, 'b.txt': ADA }),
    expect: { refused: /"a\.csv", "b\.txt".*entry/ },
  },
  {
    name: 'ZIP of two CSVs, one chosen',
    kind: 'archive',
    entry: 'b.txt',
    bytes: zipOf({ 'a.csv': CSV, 'b.txt': ADA }),
    expect: { cells: [ADA], entry: 'b.txt' },
  },
  {
    name: 'ZIP of a workbook',
    kind: 'archive',
    bytes: zipOf({ 'people.xlsx': bookOf('xlsx') }),
    expect: { cells: PEOPLE, format: 'xlsx', entry: 'people.xlsx' },
  },
  {
    name: 'ZIP of a CSV and a read-me',
    kind: 'archive',
    bytes: zipOf({ 'people.csv': CSV, 'README.pdf': '%PDF-1.4' }),
    expect: { cells: PEOPLE, entry: 'people.csv' },
  },
  {
    name: 'ZIP in a ZIP',
    kind: 'archive',
    bytes: zipOf({ 'a.zip': zipOf({ 'a.csv': CSV }) }),
    expect: { refused: /archive in an archive/ },
  },
  { name: 'gzip of a CSV', kind: 'archive', bytes: gzipSync(CSV), expect: { cells: PEOPLE } },
  {
    name: 'gzip of JSON lines',
    kind: 'archive',
    bytes: gzipSync(lines(records)),
    expect: { cells: PEOPLE, format: 'ndjson' },
  },
  {
    name: 'gzip of gzip',
    kind: 'archive',
    bytes: gzipSync(gzipSync(CSV)),
    expect: { refused: /archive in an archive/ },
  },
  {
    name: 'gzip that is cut off',
    kind: 'archive',
    bytes: gzipSync(CSV).subarray(0, 50),
    expect: { refused: /gzip.*(damaged|not complete)/ },
  },
  // JSON.
  {
    name: 'records under hits.hits',
    kind: 'json',
    bytes: json({ took: 3, hits: { total: 3, hits: PEOPLE.map((email, i) => ({ _id: i, _source: { email } })) } }),
    expect: { cells: PEOPLE, format: 'json', entry: 'hits.hits' },
  },
  {
    name: 'SCIM',
    kind: 'json',
    bytes: json({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
      Resources: PEOPLE.map((value, i) => ({ id: `${i}`, emails: [{ value, type: 'work', primary: true }] })),
    }),
    expect: { cells: PEOPLE, entry: 'Resources' },
  },
  {
    name: 'array of pages',
    kind: 'json',
    bytes: json([{ users: records.slice(0, 2) }, { users: [...records.slice(2), ...records, ...records] }]),
    expect: { cells: [...PEOPLE, ...PEOPLE, ...PEOPLE] },
  },
  {
    name: 'records over several lines',
    kind: 'json',
    bytes: Buffer.from(records.map((record) => JSON.stringify(record, null, 2)).join('\n')),
    expect: { cells: PEOPLE, format: 'ndjson' },
  },
  {
    name: 'names and values',
    kind: 'json',
    bytes: json({
      Users: PEOPLE.map((mail, i) => ({
        Username: i,
        Attributes:
          i === 1
            ? [{ Name: 'email', Value: mail }]
            : [
                { Name: 'sub', Value: 's' },
                { Name: 'email', Value: mail },
              ],
      })),
    }),
    expect: { cells: PEOPLE },
  },
  {
    name: 'strings and objects',
    kind: 'json',
    bytes: json([ADA, { email: BO }, { email: CY, name: 'Cy' }]),
    expect: { cells: PEOPLE },
  },
  {
    name: 'keys are addresses',
    kind: 'json',
    bytes: json(Object.fromEntries(PEOPLE.map((mail) => [mail, { opted: true }]))),
    expect: { cells: PEOPLE },
  },
  {
    name: 'map under a key',
    kind: 'json',
    bytes: json({ users: Object.fromEntries(PEOPLE.map((email, i) => [`-K${i}`, { email, name: 'x' }])) }),
    expect: { cells: PEOPLE, entry: 'users' },
  },
  {
    name: 'rows of Google Sheets',
    kind: 'json',
    bytes: json({
      range: 'A1:B4',
      majorDimension: 'ROWS',
      values: [['Name', 'Email'], ...PEOPLE.map((mail) => ['x', mail])],
    }),
    expect: { cells: PEOPLE, entry: 'values' },
  },
  {
    name: 'DynamoDB items',
    kind: 'json',
    bytes: json({
      Count: 3,
      Items: PEOPLE.map((mail, i) => ({ id: { N: `${i}` }, contact: { M: { email: { S: mail } } } })),
    }),
    expect: { cells: PEOPLE, entry: 'Items' },
  },
  {
    name: 'Mongo with types',
    kind: 'json',
    bytes: lines(PEOPLE.map((mail) => ({ _id: { $oid: '60' }, at: { $date: { $numberLong: '1' } }, user: { mail } }))),
    expect: { cells: PEOPLE, format: 'ndjson' },
  },
  {
    name: 'JSON:API with included records',
    kind: 'json',
    bytes: json({
      included: [{ type: 'org', name: 'x' }],
      data: PEOPLE.map((email) => ({ type: 'users', attributes: { email } })),
    }),
    expect: { cells: PEOPLE, entry: 'data' },
  },
  {
    name: 'a line that is cut off',
    kind: 'json',
    bytes: Buffer.from(`{"email":"${ADA}"}\n{"email":"bo@exa\n{"email":"${CY}"}\n`),
    expect: { cells: [ADA, '{"email":"bo@exa', CY], format: 'ndjson' },
  },
  {
    name: 'UTF-16',
    kind: 'json',
    bytes: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(JSON.stringify(records), 'utf16le')]),
    expect: { cells: PEOPLE },
  },
  {
    name: 'GeoJSON',
    kind: 'json',
    bytes: json({
      type: 'FeatureCollection',
      features: PEOPLE.map((mail) => ({
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [1, 2] },
        properties: { mail },
      })),
    }),
    expect: { cells: PEOPLE, entry: 'features' },
  },
  {
    name: 'GraphQL edges',
    kind: 'json',
    bytes: json({ data: { customers: { edges: PEOPLE.map((email) => ({ node: { email } })) } } }),
    expect: { cells: PEOPLE, entry: 'data.customers.edges' },
  },
  { name: 'one record', kind: 'json', bytes: json({ id: 1, name: 'Ada', email: ADA }), expect: { cells: [ADA] } },
  {
    name: 'settings without any address',
    kind: 'json',
    bytes: json({ theme: 'dark', tabs: [1, 2] }),
    expect: { cells: [] },
  },
  {
    name: 'JSON that is cut off',
    kind: 'json',
    bytes: Buffer.from(JSON.stringify(records).slice(0, -20)),
    expect: { refused: /JSON.*not closed/ },
  },
  // Contacts.
  { name: 'vCard 2.1', kind: 'contacts', bytes: Buffer.from(VCARD_21), expect: { cells: [ADA, BO], format: 'vcard' } },
  {
    name: 'vCard 4.0 with groups, folds and two addresses',
    kind: 'contacts',
    bytes: Buffer.from(VCARD_4),
    expect: { cells: [`${ADA}; ${CY}`], format: 'vcard' },
  },
  {
    name: 'LDIF with folds, base64 and two addresses',
    kind: 'contacts',
    bytes: Buffer.from(LDIF),
    expect: { cells: [`cn=Ada,mail=${ADA}`, `${ADA}; ada@home.example`, BO], format: 'ldif' },
  },
  // Refused.
  { name: 'PDF', kind: 'refused', bytes: Buffer.from('%PDF-1.7\n'), expect: { refused: /PDF.*CSV/ } },
  { name: 'RTF', kind: 'refused', bytes: Buffer.from(`{\\rtf1\\ansi ${ADA}\\par}`), expect: { refused: /RTF/ } },
  {
    name: 'web page',
    kind: 'refused',
    bytes: Buffer.from(`<!doctype html><p>Ada: ${ADA}<p>Bo: ${BO}`),
    expect: { refused: /HTML/ },
  },
  {
    name: 'SQL dump of PostgreSQL',
    kind: 'refused',
    bytes: Buffer.from(
      `--\n-- PostgreSQL database dump\n--\n\nSET statement_timeout = 0;\nCREATE TABLE public.users (\n id int,\n email text\n);\nINSERT INTO public.users VALUES (1, '${ADA}');\n`,
    ),
    expect: { refused: /SQL/ },
  },
  {
    name: 'calendar',
    kind: 'refused',
    bytes: Buffer.from(`BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nATTENDEE:mailto:${ADA}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`),
    expect: { refused: /calendar/ },
  },
  {
    name: 'mbox',
    kind: 'refused',
    bytes: Buffer.from(
      `From ${ADA} Mon Mar 10 10:00:00 2025\nReceived: from x\nFrom: Ada <${ADA}>\nTo: ${BO}\nSubject: Hi\nDate: Mon, 10 Mar 2025 10:00:00 +0000\nMessage-ID: <1@x>\n\nHello\n`,
    ),
    expect: { refused: /mail/ },
  },
  {
    name: 'one mail',
    kind: 'refused',
    bytes: Buffer.from(
      `Return-Path: <${ADA}>\r\nDate: Mon, 10 Mar 2025 10:00:00 +0000\r\nFrom: Ada <${ADA}>\r\nTo: ${BO}\r\nSubject: Hi\r\n\r\nHello\r\n`,
    ),
    expect: { refused: /mail/ },
  },
  {
    name: 'other XML',
    kind: 'refused',
    bytes: Buffer.from(`<?xml version="1.0"?><contacts><contact><email>${ADA}</email></contact></contacts>`),
    expect: { refused: /XML/ },
  },
  {
    name: 'YAML',
    kind: 'refused',
    bytes: Buffer.from(`---\nusers:\n- email: ${ADA}\n  name: Ada\n- email: ${BO}\n  name: Bo\n`),
    expect: { refused: /YAML/ },
  },
  {
    name: 'Word document',
    kind: 'refused',
    bytes: zipOf({
      '[Content_Types].xml': '<Types/>',
      '_rels/.rels':
        '<Relationships><Relationship Id="a" Type="x/officeDocument" Target="word/document.xml"/></Relationships>',
      'word/document.xml': '<w/>',
    }),
    expect: { refused: /Word/ },
  },
  {
    name: 'OpenDocument text',
    kind: 'refused',
    bytes: zipOf({ mimetype: 'application/vnd.oasis.opendocument.text', 'content.xml': '<x/>' }),
    expect: { refused: /text document/ },
  },
  {
    name: 'Numbers',
    kind: 'refused',
    bytes: zipOf({ 'Index/Document.iwa': 'x', 'Index/Tables/DataList.iwa': 'y', 'Metadata/Properties.plist': 'z' }),
    expect: { refused: /Numbers/ },
  },
  {
    name: 'picture',
    kind: 'refused',
    bytes: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
    expect: { refused: /picture/ },
  },
  {
    name: 'SQLite',
    kind: 'refused',
    bytes: Buffer.from(`SQLite format 3\0${'\0'.repeat(100)}`),
    expect: { refused: /SQLite/ },
  },
  {
    name: 'RAR',
    kind: 'refused',
    bytes: Buffer.from([0x52, 0x61, 0x72, 0x21, 0x1a, 0x07, 1, 0]),
    expect: { refused: /RAR/ },
  },
  {
    name: 'other binary',
    kind: 'refused',
    bytes: Buffer.from([1, 2, 3, 0, 5, 0, 0, 9, 200, 201]),
    expect: { refused: /binary/ },
  },
];
