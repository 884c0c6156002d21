import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FilterFile, type FilterRow, openFilterFile } from './filter-file.ts';
import { FileError } from './problems.ts';
import type { ReadOptions } from './read-file.ts';
import { SpooledInput, spool } from './spool.ts';
import { writeEnd, writeHead, writeRows } from './xlsx/write.ts';

interface ReadFile extends Pick<FilterFile, 'reading'> {
  readonly rows: readonly FilterRow[];
  readonly warnings: readonly string[];
}
async function read(content: string | Uint8Array, options: ReadOptions = {}): Promise<ReadFile> {
  async function* bytes() {
    yield Buffer.from(content);
  }
  const spooled = await spool(bytes());
  try {
    const file = await openFilterFile(new SpooledInput(spooled), options);
    const rows: FilterRow[] = [];
    for await (const batch of file.batches) rows.push(...batch);
    return { reading: file.reading, rows, warnings: file.warnings() };
  } finally {
    await spooled.close();
  }
}
/** What a filter has, by row; a fault as its field and sentence. */
async function filtersOf(content: string | Uint8Array, options: ReadOptions = {}) {
  const { rows } = await read(content, options);
  return rows.map(({ row, read: found }) => {
    if ('fault' in found) return [row, found.field ?? 'row', found.fault];
    const { value, ...more } = found.fields;
    return Object.keys(more).length === 0 ? [row, value] : [row, value, more];
  });
}

describe('lines', () => {
  it.each<[text: string, value: string, more?: Record<string, string>]>([
    ['spam.org', 'spam.org'],
    ['  spam.org  ', 'spam.org'],
    ['spam.org, bought, twice', 'spam.org', { reason: 'bought, twice' }],
    ['spam.org\ta tab, then a comma', 'spam.org', { reason: 'a tab, then a comma' }],
    ['spam.org,', 'spam.org'],
    ['spam.org; why', 'spam.org', { reason: 'why' }],
    ['"a,b"@example.com,quoted', '"a,b"@example.com', { reason: 'quoted' }],
    ['"a\\",b"@example.com,quoted', '"a\\",b"@example.com', { reason: 'quoted' }],
    ['domain,spam.org,as downloaded, here', 'spam.org', { filter_type: 'domain', reason: 'as downloaded, here' }],
    ['IP_Address,192.0.2.0/24', '192.0.2.0/24', { filter_type: 'ip_address' }],
    ['2001:db8::/32', '2001:db8::/32'],
    ['Jane <jane@example.com>', 'jane@example.com'],
    ['mx_host,*.example.com', '*.example.com', { filter_type: 'mx_host' }],
  ])('%j', async (text, value, more) => {
    const line = more === undefined ? [value] : [value, more];
    expect(await filtersOf(text)).toEqual([[1, ...line]]);
    // Beside others, of another width.
    expect(await filtersOf(`first.org\n${text}\n192.0.2.1\nlast.org, why\n`)).toEqual([
      [1, 'first.org'],
      [2, ...line],
      [3, '192.0.2.1'],
      [4, 'last.org', { reason: 'why' }],
    ]);
  });

  it('are numbered including empty ones', async () => {
    expect(await filtersOf('a.org\r\n\n \nb.org\rc.org')).toEqual([
      [1, 'a.org'],
      [4, 'b.org'],
      [5, 'c.org'],
    ]);
  });

  it('never block a top-level domain that is not called so', async () => {
    await expect(filtersOf('email,jane')).rejects.toThrow(/a header, but no rows/);
    expect(await filtersOf('email,jane\nemail,b@c.org\n')).toEqual([
      [1, 'jane', { filter_type: 'email' }],
      [2, 'b@c.org', { filter_type: 'email' }],
    ]);
    expect(await filtersOf('a.org\nTotal\ndomain,zip')).toEqual([
      [1, 'a.org'],
      [2, 'filter_type', expect.stringMatching(/^"Total" would be a whole top-level domain: .* write domain/)],
      [3, 'zip', { filter_type: 'domain' }],
    ]);
  });
});

describe('columns', () => {
  const of = async (content: string | Uint8Array, options: ReadOptions = {}) => {
    const { columns, headerRow } = (await read(content, options)).reading;
    return [headerRow, ...columns.map(({ field }) => field)];
  };
  it.each<[title: string, text: string, columns: (string | number | null)[]]>([
    [
      'of an export',
      'filter_type,value,reason,created_at,action\ndomain,a.org,x,2026-01-01T00:00:00Z,block\n',
      [1, 'filter_type', 'value', 'reason', null, 'action'],
    ],
    ['with other names', 'Nr;Domäne;Bemerkung\n1;a.org;x, y\n2;b.org;\n', [1, null, 'value', 'reason']],
    ['with names that say nothing', 'x,Website to block\n1,a.org\n2,b.org\nreason,c.org\n', [0, 'reason', 'value']],
    ['by content, not by name', 'domain,email\nyes,a@b.org\nno,c@d.org\n', [1, null, 'value']],
    ['by name where the content is alike', 'sponsor,domain\nx.org,a.org\ny.org,b.org\n', [1, null, 'value']],
    [
      'without names',
      '1,a.org,block,2030-01-01,a note\n2,b.org,allow,,\n',
      [0, null, 'value', 'action', 'expires_at', 'reason'],
    ],
    ['below a title', 'Blocked by sales\n\nDomain,Note\na.org,x\nb.org,y\n', [3, 'value', 'reason']],
    ['of one kind', 'Email\na@b.org\nc@d.org\n', [1, 'value']],
    ['where only some rows have a reason', 'value,reason\na.org,x\nb.org\nc.org\nd.org\n', [1, 'value', 'reason']],
    ['with tabs', 'filter_type\tvalue\ndomain\ta.org\n', [1, 'filter_type', 'value']],
  ])('%s', async (_title, text, columns) => {
    expect(await of(text)).toEqual(columns);
  });

  it('can be given, with the row of the header', async () => {
    const text = 'a.org,b.org\nc.org,d.org\n';
    expect(await filtersOf(text, { headerRow: 1, columns: ['b.org'] })).toEqual([[2, 'd.org', { 'a.org': 'c.org' }]]);
    expect((await filtersOf(text, { headerRow: 0, columns: ['2'] })).map(([, value]) => value)).toEqual([
      'b.org',
      'd.org',
    ]);
    expect((await filtersOf(text, { headerRow: 0, columns: 'all' })).map(([, value]) => value)).toEqual([
      'a.org',
      'b.org',
      'c.org',
      'd.org',
    ]);
    await expect(filtersOf(text, { headerRow: 1, columns: ['x'] })).rejects.toThrow(/no column "x"/);
    await expect(filtersOf('a,b\n1,2\n3,4\n')).rejects.toThrow(/no column holds .* The columns are: "a", "b"/);
  });
});

describe('forms', () => {
  const TABLE = 'filter_type,value,reason,action,expires_at\n,a@b.org,Grüße,allow,2030-01-31 08:30\n';
  const ROW = { reason: 'Grüße', action: 'allow', expires_at: '2030-01-31T08:30:00Z' };
  const head = writeHead(['value', 'reason', 'action', 'expires_at']);
  const body = writeRows(head.state, [['a@b.org', 'Grüße', 'allow', '2030-01-31T08:30:00Z']]);
  const book = Buffer.concat([head.piece, body.piece, writeEnd(body.state)]);
  it.each<[title: string, bytes: Uint8Array]>([
    ['UTF-8 with a mark', Buffer.from(`\u{FEFF}${TABLE}`)],
    ['UTF-16', Buffer.from(`\u{FEFF}${TABLE}`, 'utf16le')],
    ['Windows-1252', Buffer.from(TABLE.replaceAll(',', ';'), 'latin1')],
    ['a workbook', book],
    ['JSON', Buffer.from(JSON.stringify([{ value: 'a@b.org', ...ROW, filter_type: null }]))],
    [
      'a page of the API',
      Buffer.from(JSON.stringify({ filters: [{ id: 1, value: 'a@b.org', ...ROW, hits: 3 }], pagination: {} })),
    ],
    ['one in JSON', Buffer.from(JSON.stringify({ filters: [{ value: 'a@b.org', ...ROW }], next: 'https://c.org' }))],
    ['NDJSON', Buffer.from(`${JSON.stringify({ value: 'a@b.org', ...ROW })}\n`)],
  ])('%s', async (_title, bytes) => {
    expect((await filtersOf(bytes)).map(([, ...filter]) => filter)).toEqual([['a@b.org', ROW]]);
  });

  it('JSON without addresses', async () => {
    const filters = [
      { action: 'allow', value: 'a.org' },
      { value: '192.0.2.0/24', reason: null },
    ];
    for (const wrapped of [
      filters,
      { filters },
      { data: { items: filters }, total: 2 },
      { filters: filters.slice(0, 1) },
    ])
      expect((await filtersOf(JSON.stringify(wrapped)))[0]?.slice(1)).toEqual(['a.org', { action: 'allow' }]);
  });

  it('undo what an export did to formulas', async () => {
    expect(await filtersOf("value,reason\r\n'=1+1@example.com,'=x\r\n'＝y@example.com,\r\n")).toEqual([
      [2, '=1+1@example.com', { reason: '=x' }],
      [3, '＝y@example.com'],
    ]);
  });
});

describe('what cannot be read', () => {
  it('is a fault of its row, which names the remedy', async () => {
    const text = 'value,reason\n,why\n"a.org\nb.org,x,y\nvalue,reason\nc.org,"says ""no"""\n';
    const { rows, warnings } = await read(text);
    expect(rows.map(({ row, read: found }) => [row, found])).toEqual([
      [2, { field: 'value', fault: expect.stringMatching(/no value: give an address/) }],
      [3, { field: null, fault: expect.stringMatching(/text follows a closing quote/) }],
      [4, { field: null, fault: expect.stringMatching(/more cells than the header: put .* in quotes/) }],
      [6, { fields: { value: 'c.org', reason: 'says "no"' } }],
    ]);
    expect(rows[0]?.text).toBe(',why');
    expect(warnings).toEqual([expect.stringMatching(/header is repeated in 1 row,/)]);
  });

  it('is told of columns that are not used; their cells go on to the reader of requests', async () => {
    const { rows, warnings } = await read('Domain,Enabled,Hits,Owner\na.org,FALSE,3,Bob\n');
    expect(rows.map(({ read: found }) => found)).toEqual([
      { fields: { value: 'a.org', enabled: false, owner: 'bob' } },
    ]);
    expect(warnings).toEqual(['Columns that are not used: "Enabled", "Hits", "Owner".']);
  });

  it('is no more than a file may have', async () => {
    await expect(read('a.org\n'.repeat(100_001))).rejects.toThrow(/more than 100,000 rows/);
    await expect(read('')).rejects.toThrow(FileError);
    await expect(read(' \n \n')).rejects.toThrow(FileError);
  });

  it('is never anything but a FileError or a row, and no row with text is left out', async () => {
    const cell = fc.oneof(
      fc.constantFrom('a.org', 'a@b.org', '192.0.2.1', 'domain', 'block', 'why', 'value', 'Total', ' ', '', '"'),
      fc.string({ maxLength: 8 }),
    );
    const text = fc
      .array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 })
      .chain((rows) => fc.constantFrom(',', ';', '\t').map((mark) => rows.map((cells) => cells.join(mark)).join('\n')));
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const found = await read(content).catch((error: unknown) => {
          expect(error).toBeInstanceOf(FileError);
          return null;
        });
        if (found === null || !found.reading.columns.some(({ field }) => field === 'value')) return;
        const lines = content.split('\n').flatMap((line, i) => (/a\.org/.test(line) ? [i + 1] : []));
        const rows = found.rows.map(({ row, text: sent }) => [row, row + sent.split('\n').length - 1] as const);
        for (const line of lines) {
          const isHeader = line <= found.reading.headerRow;
          const isThere = rows.some(([from, to]) => from <= line && line <= to);
          expect([line, isHeader || isThere || content.includes('"')], content).toEqual([line, true]);
        }
      }),
      { numRuns: 300 },
    );
  });
});
